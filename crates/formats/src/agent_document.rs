//! An agent of a server as a Markdown file: what it is in front, its system prompt below.
//!
//! The same form as the profiles on the disk, with the keys that a server keeps. Whatever else a file says is refused rather than
//! dropped: an agent without the `tools` or the `permission` that its file names could do more than its author meant.

use crate::read::{Reader, data};
use crate::yaml::{Content, Node, emit};
use crate::{agent, frontmatter};
use abide_core::diagnostic::{Code, Diagnostic, nearest};
use abide_core::value::Value;

/// What the file of an agent says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentDocument {
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The model that it talks with.
    pub model: Option<String>,
    /// Its capabilities, in order.
    pub capabilities: Vec<NamedCapability>,
    /// What it is told in front of everything.
    pub system_prompt: String,
}

/// A capability that the file of an agent names.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCapability {
    /// Its id, with `@version` behind it where one is required.
    pub id: String,
    /// What is configured for this agent.
    pub configuration: Option<Value>,
}

const KEYS: [&str; 4] = ["name", "description", "model", "capabilities"];

/// Writes an agent as a file that [`read`] takes for the same one.
pub fn print(agent: &AgentDocument) -> String {
    let text = |text: &String| Value::Text(text.clone());
    let mut head = vec![("name".to_owned(), text(&agent.name))];
    head.extend(agent.description.iter().map(|about| ("description".to_owned(), text(about))));
    head.extend(agent.model.iter().map(|model| ("model".to_owned(), text(model))));
    if !agent.capabilities.is_empty() {
        // As in a profile: an id, or the key of what is configured.
        let named = agent.capabilities.iter().map(|capability| match &capability.configuration {
            Some(configuration) => Value::Map(vec![(capability.id.clone(), configuration.clone())]),
            None => text(&capability.id),
        });
        head.push(("capabilities".to_owned(), Value::List(named.collect())));
    }
    format!("---\n{}---\n\n{}\n", emit(&Value::Map(head)), agent.system_prompt)
}

/// Reads the file of an agent; the error is everything that is wrong with it.
pub fn read(source: &str) -> Result<AgentDocument, Vec<Diagnostic>> {
    let Some(split) = frontmatter::split(source) else { return Err(vec![frontmatter::missing()]) };
    let mut buffer = String::new();
    let document = frontmatter::parse(split.head, &mut buffer);
    let mut reader = Reader::new(source, document.problems);
    let mut agent = AgentDocument::default();
    match document.root.as_ref().map(|root| (root, &root.content)) {
        Some((_, Content::Mapping(entries))) => {
            for (key, value) in entries {
                take(&mut reader, &mut agent, key, value);
            }
        }
        Some((root, _)) if !root.is_null() => {
            reader.wrong_type(root, "a mapping of what the agent is");
        }
        _ => {}
    }
    if agent.name.trim().is_empty() {
        reader.report(Diagnostic::whole_file(Code::BadName, "the file gives the agent no `name`"));
    }
    // The blank line in front and the line end behind are the file's, and everything between is the agent's.
    let end = if split.head.starts_with("---\r\n") { "\r\n" } else { "\n" };
    let body = split.body.strip_prefix(end).unwrap_or(split.body);
    let body = body.strip_suffix(end).unwrap_or(body);
    body.clone_into(&mut agent.system_prompt);
    let problems = reader.problems.sorted();
    if problems.iter().any(Diagnostic::is_error) { Err(problems) } else { Ok(agent) }
}

fn take(reader: &mut Reader<'_>, agent: &mut AgentDocument, key: &Node<'_>, value: &Node<'_>) {
    let text = |reader: &mut Reader<'_>| match data(value) {
        Value::Null => None,
        Value::Text(text) => Some(text),
        _ => {
            reader.wrong_type(value, "text");
            None
        }
    };
    match key.text().unwrap_or_default() {
        "name" => agent.name = text(reader).unwrap_or_default(),
        "description" => agent.description = text(reader),
        "model" => agent.model = text(reader),
        "capabilities" => {
            let named = agent::capabilities(reader, value).into_iter();
            let named =
                named.map(|one| NamedCapability { id: one.id.value, configuration: one.configuration });
            agent.capabilities = named.collect();
        }
        other => {
            let problem = Diagnostic::new(
                Code::UnknownKey,
                key.span,
                format!("`{other}` is nothing that a server keeps about an agent"),
            );
            reader.report(match nearest(other, KEYS) {
                Some(meant) => problem.help(format!("did you mean `{meant}`?")),
                None => problem.help(format!("these are: {}", KEYS.join(", "))),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_of_a_person_is_read() {
        let agent = read(
            "---\nname: Research Assistant\ndescription: Use when: asked\ncapabilities: [web_fetch, current_time]\n---\n\nYou help.\n",
        )
        .unwrap();
        assert_eq!(agent.name, "Research Assistant");
        assert_eq!(agent.description.as_deref(), Some("Use when: asked"));
        assert_eq!(agent.capabilities, [named("web_fetch", None), named("current_time", None)]);
        assert_eq!(agent.system_prompt, "You help.");
    }

    #[test]
    fn what_is_configured_is_written_as_in_a_profile() {
        let most = Value::Map(vec![("max_bytes".to_owned(), Value::Int(7))]);
        let capabilities = vec![named("current_time", None), named("web_fetch@1", Some(most))];
        let agent = AgentDocument { name: "a".to_owned(), capabilities, ..AgentDocument::default() };
        let text = print(&agent);
        assert_eq!(read(&text).as_ref(), Ok(&agent), "{text}");
        let profile = agent::read(&text, "a").agent.unwrap();
        let ids: Vec<_> =
            profile.capabilities.iter().map(|one| (&*one.id.value, &one.configuration)).collect();
        let expected: Vec<_> = agent.capabilities.iter().map(|one| (&*one.id, &one.configuration)).collect();
        assert_eq!(ids, expected, "{text}");
    }

    #[test]
    fn what_could_not_be_kept_is_refused_all_at_once() {
        let told = |source: &str| -> Vec<String> {
            read(source).unwrap_err().into_iter().map(|problem| problem.message).collect()
        };
        let problems = told("---\ntools: [Read]\npermission: { bash: deny }\ncapabilities: { a: 3 }\n---\n");
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems.iter().any(|problem| problem.contains("`tools`")), "{problems:?}");
        for source in
            ["", "You help.", "---\nname: [\n---\n", "---\n- a\n---\n", "---\nname: 3\n---\n", "---\n---\n"]
        {
            assert!(read(source).is_err(), "{source}");
        }
    }

    fn named(id: &str, configuration: Option<Value>) -> NamedCapability {
        NamedCapability { id: id.to_owned(), configuration }
    }

    fn capability() -> impl Strategy<Value = NamedCapability> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            (-1e300..1e300).prop_map(Value::Float),
            "(\\PC|[\n\t\"'#:]){0,12}".prop_map(Value::Text),
        ];
        let value = leaf.prop_recursive(3, 12, 3, |inner| {
            let map = proptest::collection::btree_map("(\\PC|[\"'#:]){0,8}", inner.clone(), 0..3);
            prop_oneof![
                proptest::collection::vec(inner, 0..3).prop_map(Value::List),
                map.prop_map(|entries| Value::Map(entries.into_iter().collect())),
            ]
        });
        let configuration = proptest::collection::btree_map("[a-z_]{1,8}", value, 0..3)
            .prop_map(|entries| Value::Map(entries.into_iter().collect()));
        ("[a-z_]{1,12}(@[0-9])?", proptest::option::of(configuration))
            .prop_map(|(id, configuration)| NamedCapability { id, configuration })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_as_it_was(
            name in "\\PC{0,20}x",
            description in proptest::option::of("(\\PC|[\n\t\"'#:]){0,40}"),
            model in proptest::option::of("[a-z/:.-]{1,20}"),
            capabilities in proptest::collection::vec(capability(), 0..12),
            system_prompt in "(\\PC|[\r\n\t]|---|\n---\n){0,80}",
        ) {
            let agent = AgentDocument { name, description, model, capabilities, system_prompt };
            let text = print(&agent);
            prop_assert_eq!(read(&text).map_err(|problems| format!("{problems:?}\n{text}")), Ok(agent));
        }
    }
}
