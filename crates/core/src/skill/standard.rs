//! What the Agent Skills standard asks of a skill. Breaking it is worth a warning; it never hides a skill.

use super::{MOST_TURNS, Skill};
use crate::diagnostic::{Code, Diagnostic, excerpt};
use crate::value::Value;

/// The commands of a conversation: a skill of such a name is never called by `/name`, because the command is meant.
pub const CHAT_COMMANDS: [&str; 8] =
    ["help", "skill", "skills", "status", "answer", "cancel", "exit", "quit"];

const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1_024;
const LONGEST_COMPATIBILITY: usize = 500;
const MOST_LINES: usize = 500;

/// Returns everything that the standard, or a key of abide's own, does not like about a skill.
pub fn check(skill: &Skill, folder: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut warn = |message: String, help: &str| {
        found.push(Diagnostic::whole_file(Code::SkillStandard, message).help(help));
    };
    let name = &skill.name;
    let shown = excerpt(name);
    if name.chars().count() > LONGEST_NAME {
        warn(format!("the name has more than {LONGEST_NAME} characters"), "shorten it");
    }
    let fits =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    if name.is_empty() || !name.chars().all(fits) {
        warn(
            format!("the name `{shown}` is not made of lower-case letters, digits and `-`"),
            "rename the skill and its folder",
        );
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        warn(
            format!("the name `{shown}` starts or ends with `-`, or has two of them together"),
            "rename the skill and its folder",
        );
    }
    if CHAT_COMMANDS.contains(&name.as_str()) {
        warn(
            format!("`/{shown}` is a command of `abide chat`, so the skill cannot be called by it"),
            "give the skill another name, or run it with `abide skill run`",
        );
    }
    if name != folder {
        warn(
            format!("the name `{shown}` is not the name of its folder, `{}`", excerpt(folder)),
            "give both the same name",
        );
    }
    match &skill.description {
        None => warn(
            "there is no description, so agents are not told about it".to_owned(),
            "say in `description` what it does and when to use it",
        ),
        Some(text) if text.trim().is_empty() => {
            warn(
                "the description is empty".to_owned(),
                "say in `description` what it does and when to use it",
            );
        }
        Some(text) => {
            let length = text.chars().count();
            if length > LONGEST_DESCRIPTION {
                warn(
                    format!("the description has {length} characters, more than {LONGEST_DESCRIPTION}"),
                    "move the detail into the body",
                );
            }
            if text.contains(['<', '>']) {
                warn(
                    "the description has angle brackets in it, which clients may take for tags".to_owned(),
                    "write it without them",
                );
            }
        }
    }
    match skill.field("compatibility") {
        Some(Value::Text(text)) if text.chars().count() <= LONGEST_COMPATIBILITY => {}
        None => {}
        Some(Value::Text(_)) => {
            warn(format!("`compatibility` has more than {LONGEST_COMPATIBILITY} characters"), "shorten it");
        }
        Some(other) => warn(format!("`compatibility` is {}, not a text", other.kind()), "write a sentence"),
    }
    match skill.field("metadata") {
        None => {}
        Some(Value::Map(entries)) => {
            for (key, value) in entries.iter().filter(|(_, value)| !matches!(value, Value::Text(_))) {
                warn(
                    format!("`metadata.{}` is {}, not a text", excerpt(key), value.kind()),
                    "put the value in quotes",
                );
            }
        }
        Some(other) => {
            warn(format!("`metadata` is {}, not a mapping", other.kind()), "write keys and values below it");
        }
    }
    if let Some(written) = skill.field("max_turns").or_else(|| skill.field("max-turns"))
        && !matches!(written, Value::Int(turns) if (1..=i64::from(MOST_TURNS)).contains(turns))
    {
        warn(
            format!("`max_turns` is {}, and {} is used", excerpt(&written.to_string()), skill.max_turns()),
            "write a whole number from 1 to 10",
        );
    }
    for unclear in skill.requires().unclear {
        warn(
            format!("under `requires`, {unclear}"),
            "name what is needed: `bin: git`, `env: TOKEN`, `mcp: notion`",
        );
    }
    if skill.body.trim().is_empty() {
        warn("there are no instructions below the frontmatter".to_owned(), "write what the agent should do");
    }
    let lines = skill.body.lines().count();
    if lines > MOST_LINES {
        warn(
            format!("the body has {lines} lines, more than {MOST_LINES}: all of it is loaded at once"),
            "move detail into files beside it, and name them",
        );
    }
    found
}
