//! Agent profiles: Markdown whose frontmatter says who the agent is, and whose body is its system prompt.
//!
//! The same files are read by Claude Code and OpenCode, so keys that are not ours are left to them.

use crate::read::{Reader, data};
use crate::yaml::{Content, Node};
use crate::{frontmatter, shape};
use abide_core::definition::{
    AbilityName, AgentCapability, AgentName, AgentProfile, AgentTools, Budget, Permission, PermissionAction,
    ToolGrant,
};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::model::Cost;
use abide_core::source::{Span, Spanned};

/// What came of reading one agent profile.
#[derive(Debug)]
pub struct Reading {
    /// The profile, as far as it could be read.
    pub agent: Option<AgentProfile>,
    /// Everything that is wrong with it.
    pub problems: Vec<Diagnostic>,
}

/// Reads an agent profile; `default_name` is the file's name without its ending.
pub fn read(source: &str, default_name: &str) -> Reading {
    let Some(split) = frontmatter::split(source) else {
        return Reading { agent: None, problems: vec![frontmatter::missing()] };
    };
    let mut buffer = String::new();
    let document = frontmatter::parse(split.head, &mut buffer);
    let mut reader = Reader::new(source, document.problems);
    let agent = match &document.root {
        Some(root) if !root.is_null() => agent(&mut reader, root, default_name),
        Some(_) => agent_without_keys(&mut reader, default_name),
        None => None,
    };
    let agent = agent.map(|mut agent| {
        split.body.trim().clone_into(&mut agent.prompt);
        agent
    });
    Reading { agent, problems: reader.problems.sorted() }
}

/// Returns the name that a `SKILL.md` gives itself.
pub fn skill_name(source: &str) -> Option<String> {
    let split = frontmatter::split(source)?;
    let mut buffer = String::new();
    let document = frontmatter::parse(split.head, &mut buffer);
    let name = document.root?.get("name")?.text()?.trim().to_owned();
    (!name.is_empty()).then_some(name)
}

fn agent_without_keys(reader: &mut Reader<'_>, default_name: &str) -> Option<AgentProfile> {
    let name = default(reader, default_name, Span::default())?;
    Some(AgentProfile::named(name))
}

fn default(reader: &mut Reader<'_>, default_name: &str, at: Span) -> Option<Spanned<AgentName>> {
    match AgentName::parse(default_name) {
        Ok(name) => Some(Spanned::new(name, at)),
        Err(bad) => {
            reader.report(
                Diagnostic::new(Code::BadName, at, format!("the file's name gives the agent no name: {bad}"))
                    .help("rename the file, or give it a `name:`"),
            );
            None
        }
    }
}

fn agent(reader: &mut Reader<'_>, root: &Node<'_>, default_name: &str) -> Option<AgentProfile> {
    let mut fields = reader.fields(root, &shape::AGENT, |_| None)?;
    let head = fields.head;
    let name = match fields.take(reader, "name") {
        Some(node) => reader.name(node, AgentName::parse),
        None => default(reader, default_name, head),
    };
    let description = fields.take(reader, "description").and_then(|node| reader.text(node));
    let model = fields.take(reader, "model").and_then(|node| reader.text(node));
    // `tools:` with nothing behind it says nothing; a list without items says none.
    let tools = fields.take(reader, "tools").filter(|node| !node.is_null()).map(|node| tools(reader, node));
    let permission =
        fields.take(reader, "permission").map(|node| permission(reader, node)).unwrap_or_default();
    let capabilities =
        fields.take(reader, "capabilities").map(|node| capabilities(reader, node)).unwrap_or_default();
    let abilities = fields
        .take(reader, "abilities")
        .map(|node| reader.one_or_many(node, |reader, node| reader.name(node, AbilityName::parse)));
    let skills = fields.take(reader, "skills").map(|node| reader.one_or_many(node, Reader::full_text));
    let budget = fields.take(reader, "budget").map(|node| budget(reader, node)).unwrap_or_default();
    fields.finish();
    Some(AgentProfile {
        name: name?,
        description,
        model,
        tools,
        permission,
        capabilities,
        abilities,
        skills,
        prompt: String::new(),
        budget,
    })
}

/// Reads what an agent may use at most.
pub(crate) fn budget(reader: &mut Reader<'_>, node: &Node<'_>) -> Budget {
    let Some(mut fields) = reader.fields(node, &shape::BUDGET, |_| None) else { return Budget::default() };
    let tokens = fields.take(reader, "tokens");
    let tokens = tokens.and_then(|node| reader.integer(node, 1, Budget::MOST_TOKENS));
    let cost = fields.take(reader, "cost").and_then(|node| reader.amount(node, Budget::MOST_COST));
    let budget = Budget {
        turns: fields
            .take(reader, "turns")
            .and_then(|node| reader.count(node, 1, Budget::MOST_TURNS))
            .map(|turns| turns.value),
        tokens: tokens.and_then(|tokens| u64::try_from(tokens.value).ok()),
        cost: cost.and_then(|cost| Cost::dollars(cost.value)),
        time: fields.take(reader, "time").and_then(|node| reader.duration(node)).map(|time| time.value),
        depth: fields
            .take(reader, "depth")
            .and_then(|node| reader.count(node, 0, Budget::MOST_DEPTH))
            .map(|depth| depth.value),
    };
    fields.finish();
    budget
}

/// Reads what the agents of a step or of a run may use at most.
pub(crate) fn allowance(reader: &mut Reader<'_>, node: &Node<'_>) -> Budget {
    let Some(mut fields) = reader.fields(node, &shape::ALLOWANCE, |_| None) else { return Budget::default() };
    let turns = fields.take(reader, "turns");
    let turns = turns.and_then(|node| reader.count(node, 1, Budget::MOST_TURNS));
    let tokens = fields.take(reader, "tokens");
    let tokens = tokens.and_then(|node| reader.integer(node, 1, Budget::MOST_TOKENS));
    let cost = fields.take(reader, "cost").and_then(|node| reader.amount(node, Budget::MOST_COST));
    fields.finish();
    Budget {
        turns: turns.map(|turns| turns.value),
        tokens: tokens.and_then(|tokens| u64::try_from(tokens.value).ok()),
        cost: cost.and_then(|cost| Cost::dollars(cost.value)),
        ..Budget::default()
    }
}

/// How many tools one line may name.
const MOST_TOOLS: usize = 10_000;

/// Reads the tools of an agent: a line or a list has these and no others, a mapping switches some on and off.
pub(crate) fn tools(reader: &mut Reader<'_>, node: &Node<'_>) -> AgentTools {
    match &node.content {
        Content::Scalar(scalar) => AgentTools::Only(
            separated(&scalar.text)
                .into_iter()
                .enumerate()
                .map_while(|(index, tool)| {
                    if index == MOST_TOOLS {
                        reader.report(Diagnostic::new(
                            Code::TooComplex,
                            node.span,
                            format!("`tools` names more than {MOST_TOOLS} tools"),
                        ));
                    }
                    (index < MOST_TOOLS).then(|| Spanned::new(tool.to_owned(), node.span))
                })
                .collect(),
        ),
        Content::Sequence(items) => {
            AgentTools::Only(items.iter().filter_map(|item| reader.full_text(item)).collect())
        }
        Content::Mapping(entries) => AgentTools::Switched(
            entries
                .iter()
                .filter_map(|(key, value)| {
                    let granted = reader.boolean(value)?.value;
                    Some(Spanned::new(ToolGrant { tool: key.text()?.to_owned(), granted }, key.span))
                })
                .collect(),
        ),
    }
}

/// Takes a line apart at its commas, but for those inside parentheses: `Read, Bash(git log, git show)`.
fn separated(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let pieces = text.split(|character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    pieces.map(str::trim).filter(|tool| !tool.is_empty()).collect()
}

/// Reads capabilities: ids, each alone or as the key of its configuration, in a list or a mapping.
pub(crate) fn capabilities(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<AgentCapability> {
    let mut found = Vec::new();
    let mut take = |reader: &mut Reader<'_>, node: &Node<'_>| match &node.content {
        Content::Mapping(entries) => {
            for (key, value) in entries {
                let Some(id) = reader.full_text(key) else { continue };
                let configuration = match &value.content {
                    _ if value.is_null() => None,
                    Content::Mapping(_) => Some(data(value)),
                    _ => {
                        reader.wrong_type(value, "a mapping: what is configured for the capability");
                        continue;
                    }
                };
                found.push(AgentCapability { id, configuration });
            }
        }
        _ => found.extend(reader.full_text(node).map(|id| AgentCapability { id, configuration: None })),
    };
    match &node.content {
        Content::Sequence(items) => items.iter().for_each(|item| take(reader, item)),
        _ if node.is_null() => {}
        _ => take(reader, node),
    }
    found
}

/// Reads permission rules, in the order in which they are written.
pub(crate) fn permission(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<Spanned<Permission>> {
    let rule = |tool: &str, pattern: &str, action: Spanned<PermissionAction>, span| {
        Spanned::new(
            Permission { tool: tool.to_owned(), pattern: pattern.to_owned(), action: action.value },
            span,
        )
    };
    let Content::Mapping(entries) = &node.content else {
        let action = reader.choice(node, PermissionAction::WORDS, PermissionAction::parse);
        return action.map(|action| rule("*", "*", action, node.span)).into_iter().collect();
    };
    let mut rules = Vec::new();
    for (key, value) in entries {
        let tool = key.text().unwrap_or_default();
        match &value.content {
            Content::Mapping(patterns) => {
                for (pattern, action) in patterns {
                    if let Some(action) =
                        reader.choice(action, PermissionAction::WORDS, PermissionAction::parse)
                    {
                        rules.push(rule(tool, pattern.text().unwrap_or_default(), action, pattern.span));
                    }
                }
            }
            _ => {
                if let Some(action) = reader.choice(value, PermissionAction::WORDS, PermissionAction::parse) {
                    rules.push(rule(tool, "*", action, key.span));
                }
            }
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_of_all_clients_are_read() {
        let reading = read(
            "---\nname: deploy-agent\ndescription: Handles deployments\nmodel: anthropic/claude-sonnet-4\nabilities:\n  - deploy/production\n  - rollback\n---\n\nYou are a deployment specialist...\n",
            "file",
        );
        assert_eq!(reading.problems, []);
        let agent = reading.agent.unwrap();
        assert_eq!(agent.name.as_str(), "deploy-agent");
        assert_eq!(agent.abilities.unwrap().len(), 2);
        assert_eq!(agent.prompt, "You are a deployment specialist...");

        // Claude Code: tools as a comma list, foreign keys.
        let claude = read("---\ntools: Read, Bash(a, b)\ncolor: red\n---\nx", "reviewer").agent.unwrap();
        assert_eq!(claude.name.as_str(), "reviewer");
        let Some(AgentTools::Only(names)) = claude.tools else { panic!("{:?}", claude.tools) };
        assert_eq!(names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>(), ["Read", "Bash(a, b)"]);

        // OpenCode: tools and permissions as mappings.
        let opencode = read(
            "---\ntools:\n  write: false\npermission:\n  edit: deny\n  bash:\n    '*': ask\n    git status: allow\n---\n",
            "x",
        );
        assert_eq!(opencode.problems, []);
        let agent = opencode.agent.unwrap();
        let Some(AgentTools::Switched(switches)) = agent.tools else { panic!("{:?}", agent.tools) };
        assert!(!switches[0].granted);
        let rules: Vec<String> = agent
            .permission
            .iter()
            .map(|rule| format!("{} {} {}", rule.tool, rule.pattern, rule.action.word()))
            .collect();
        assert_eq!(rules, ["edit * deny", "bash * ask", "bash git status allow"]);
    }

    #[test]
    fn capabilities_are_named_alone_or_with_their_configuration() {
        let read = |text: &str| {
            let reading = read(&format!("---\ncapabilities: {text}\n---\n"), "x");
            let agent = reading.agent.unwrap();
            let told = agent.capabilities.iter().map(|one| {
                let configured =
                    one.configuration.as_ref().map(|value| format!("={}", crate::json::to_json(value)));
                format!("{}{}", one.id.value, configured.unwrap_or_default())
            });
            (told.collect::<Vec<_>>().join(" "), reading.problems.len())
        };
        for (text, told) in [
            ("noop", "noop"),
            ("[noop, web_fetch@1]", "noop web_fetch@1"),
            ("[noop, web_fetch: { allow_hosts: [a] }]", r#"noop web_fetch={"allow_hosts":["a"]}"#),
            ("{ noop: , web_fetch: { a: 1 } }", r#"noop web_fetch={"a":1}"#),
            ("", ""),
        ] {
            assert_eq!(read(text), (told.to_owned(), 0), "{text}");
        }
        assert_eq!(read("{ noop: 3 }"), (String::new(), 1));
        assert_eq!(read("[[noop]]"), (String::new(), 1));
    }

    #[test]
    fn a_description_with_colons_is_repaired_and_a_broken_file_is_reported() {
        let reading = read("---\nname: x\ndescription: Use when: the user says: hi\n---\n", "x");
        assert_eq!(reading.agent.unwrap().description.unwrap().value, "Use when: the user says: hi");
        assert_eq!(read("no frontmatter", "x").problems[0].code, Code::NoFrontmatter);
        assert_eq!(read("---\nname: [\n---\n", "x").problems[0].code, Code::BadYaml);
    }
}
