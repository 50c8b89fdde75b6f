//! A skill: instructions in a `SKILL.md` that an agent loads when it needs them.
//!
//! [`Skill`] is what a file says; [`requires`] what it needs before it can be used; [`standard`] what the Agent Skills
//! standard asks of it; [`listing`] how agents are told about it; [`text`] what its body asks to be filled in.

pub mod available;
pub mod listing;
pub mod requires;
pub mod standard;
pub mod text;
pub mod tool;
pub mod view;

pub use requires::{Missing, Requirement, Requires};

use crate::value::Value;

/// What a `SKILL.md` says. Files are shared with other clients, so a name is whatever they take for one.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// What it is called.
    pub name: String,
    /// What it is for and when to use it; without one it can be called by name and is not listed.
    pub description: Option<String>,
    /// Every other key, as it was written.
    pub fields: Vec<(String, Value)>,
    /// The instructions, as they stand after the frontmatter.
    pub body: String,
}

/// How many turns a skill may have at most when it is run as an agent.
pub const MOST_TURNS: u32 = 10;

impl Skill {
    /// Returns what stands under a key.
    pub fn field(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn text(&self, key: &str) -> Option<&str> {
        match self.field(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn flag(&self, key: &str) -> Option<bool> {
        match self.field(key)? {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns how many turns it has when it is run as an agent: 1 unless it says otherwise, 10 at most.
    pub fn max_turns(&self) -> u32 {
        self.own_turns().unwrap_or(1)
    }

    /// Returns how many turns it says it has.
    pub fn own_turns(&self) -> Option<u32> {
        match self.field("max_turns").or_else(|| self.field("max-turns")) {
            Some(Value::Int(turns)) => Some(u32::try_from(*turns).unwrap_or(1).clamp(1, MOST_TURNS)),
            _ => None,
        }
    }

    /// Returns whether agents are offered it as a tool that runs it: those that say how many turns they have are made
    /// to be run, and `tool` says it outright.
    pub fn is_tool(&self) -> bool {
        self.flag("tool").unwrap_or(self.own_turns().is_some())
    }

    /// Returns what it needs before it can be used: what stands under `requires`, and under the `requires` of any client in
    /// its `metadata` (`metadata.openclaw.requires`).
    pub fn requires(&self) -> Requires {
        let own = self.field("requires").map(Requires::read).unwrap_or_default();
        let Some(Value::Map(metadata)) = self.field("metadata") else { return own };
        let of_clients = metadata.iter().filter_map(|(_, about)| match about {
            Value::Map(entries) => entries.iter().find(|(key, _)| key == "requires").map(|(_, value)| value),
            _ => None,
        });
        of_clients.fold(own, Requires::and)
    }

    /// Returns the model that it asks for.
    pub fn model(&self) -> Option<&str> {
        self.text("model").filter(|model| *model != "inherit")
    }

    /// Returns the tools that it says it uses, as Claude Code and the standard write them.
    pub fn allowed_tools(&self) -> Option<Vec<String>> {
        match self.field("allowed-tools").or_else(|| self.field("allowed_tools"))? {
            Value::Text(text) => Some(tool_words(text)),
            Value::List(items) => Some(
                items
                    .iter()
                    .filter_map(|item| match item {
                        Value::Text(text) => Some(text.clone()),
                        _ => None,
                    })
                    .collect(),
            ),
            _ => None,
        }
    }

    /// Returns what arguments it expects, for people.
    pub fn argument_hint(&self) -> Option<String> {
        match self.field("argument-hint")? {
            Value::Text(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// Returns whether an agent may load it by itself (`disable-model-invocation: true` leaves that to people).
    pub fn for_agents(&self) -> bool {
        !self.flag("disable-model-invocation").unwrap_or(false)
    }

    /// Returns whether a person may call it by its name (`user-invocable: false` leaves that to agents).
    pub fn for_people(&self) -> bool {
        self.flag("user-invocable").unwrap_or(true)
    }
}

/// Splits `Read, Bash(git add:*) Grep` at commas and blanks outside parentheses.
fn tool_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (character == ',' || character.is_whitespace()) {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        } else {
            word.push(character);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(fields: &[(&str, Value)]) -> Skill {
        Skill {
            name: "x".into(),
            description: None,
            fields: fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
            body: String::new(),
        }
    }

    #[test]
    fn turns_are_one_to_ten() {
        assert_eq!(skill(&[]).max_turns(), 1);
        for (written, turns) in
            [(Value::Int(4), 4), (Value::Int(0), 1), (Value::Int(99), 10), (Value::Int(-3), 1)]
        {
            assert_eq!(skill(&[("max_turns", written)]).max_turns(), turns);
        }
        assert_eq!(skill(&[("max_turns", Value::Text("4".into()))]).max_turns(), 1);
    }

    #[test]
    fn what_the_metadata_of_a_client_requires_counts() {
        let text = |text: &str| Value::Text(text.into());
        let requires = Value::Map(vec![
            ("bins".into(), Value::List(vec![text("gh")])),
            ("env".into(), Value::List(vec![text("TOKEN")])),
        ]);
        let openclaw = Value::Map(vec![("emoji".into(), text("x")), ("requires".into(), requires)]);
        let metadata = Value::Map(vec![("version".into(), text("1")), ("openclaw".into(), openclaw)]);
        let skill = skill(&[("requires", text("bin:gh")), ("metadata", metadata)]);
        let needs: Vec<String> = skill.requires().needs.iter().map(ToString::to_string).collect();
        assert_eq!(needs, ["the program `gh`", "the environment variable `TOKEN`"]);
    }

    #[test]
    fn tools_are_split_outside_parentheses() {
        let skill = skill(&[("allowed-tools", Value::Text("Read, Bash(git add:*, git rm:*) Grep".into()))]);
        assert_eq!(skill.allowed_tools().unwrap(), ["Read", "Bash(git add:*, git rm:*)", "Grep"]);
    }
}
