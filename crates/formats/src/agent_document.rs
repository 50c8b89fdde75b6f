//! An agent of a server as a Markdown file: what it is in front, its system prompt below.
//!
//! The same form as the profiles on the disk, with the keys that a server keeps. Whatever else a file says is refused rather than
//! dropped: an agent without the `tools` or the `permission` that its file names could do more than its author meant.

use crate::frontmatter;
use crate::read::{Reader, data};
use crate::yaml::{Content, Node, emit};
use abide_core::diagnostic::{Code, Diagnostic, nearest};
use abide_core::value::Value;

/// What the file of an agent says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentDocument {
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The model that it talks with.
    pub model: Option<String>,
    /// The ids of its capabilities, in order.
    pub capabilities: Vec<String>,
    /// What it is told in front of everything.
    pub system_prompt: String,
}

const KEYS: [&str; 4] = ["name", "description", "model", "capabilities"];

/// Writes an agent as a file that [`read`] takes for the same one.
pub fn print(agent: &AgentDocument) -> String {
    let text = |text: &String| Value::Text(text.clone());
    let mut head = vec![("name".to_owned(), text(&agent.name))];
    head.extend(agent.description.iter().map(|about| ("description".to_owned(), text(about))));
    head.extend(agent.model.iter().map(|model| ("model".to_owned(), text(model))));
    if !agent.capabilities.is_empty() {
        let ids = agent.capabilities.iter().map(text).collect();
        head.push(("capabilities".to_owned(), Value::List(ids)));
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
        "capabilities" => match data(value) {
            Value::Null => {}
            Value::Text(id) => agent.capabilities = vec![id],
            Value::List(ids) if ids.iter().all(|id| matches!(id, Value::Text(_))) => {
                let id = |id| if let Value::Text(id) = id { Some(id) } else { None };
                agent.capabilities = ids.into_iter().filter_map(id).collect();
            }
            _ => reader.wrong_type(value, "a list of the ids of capabilities"),
        },
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
        assert_eq!(agent.capabilities, ["web_fetch", "current_time"]);
        assert_eq!(agent.system_prompt, "You help.");
    }

    #[test]
    fn what_could_not_be_kept_is_refused_all_at_once() {
        let told = |source: &str| -> Vec<String> {
            read(source).unwrap_err().into_iter().map(|problem| problem.message).collect()
        };
        let problems =
            told("---\ntools: [Read]\npermission: { bash: deny }\ncapabilities: { a: { b: 1 } }\n---\n");
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems.iter().any(|problem| problem.contains("`tools`")), "{problems:?}");
        for source in
            ["", "You help.", "---\nname: [\n---\n", "---\n- a\n---\n", "---\nname: 3\n---\n", "---\n---\n"]
        {
            assert!(read(source).is_err(), "{source}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_as_it_was(
            name in "\\PC{0,20}x",
            description in proptest::option::of("(\\PC|[\n\t\"'#:]){0,40}"),
            model in proptest::option::of("[a-z/:.-]{1,20}"),
            capabilities in proptest::collection::vec("[a-z_]{1,12}(@[0-9])?", 0..12),
            system_prompt in "(\\PC|[\r\n\t]|---|\n---\n){0,80}",
        ) {
            let agent = AgentDocument { name, description, model, capabilities, system_prompt };
            let text = print(&agent);
            prop_assert_eq!(read(&text).map_err(|problems| format!("{problems:?}\n{text}")), Ok(agent));
        }
    }
}
