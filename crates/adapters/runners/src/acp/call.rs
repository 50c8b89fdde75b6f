//! A tool call as an agent reports it over the Agent Client Protocol, and as the gate judges it.
//!
//! The protocol names no tools, only kinds of them, and everything about a call comes from the agent. So a call is judged as all that
//! it could be: as its kind, and as a command when it carries one; what is not said is not taken for harmless.

use abide_core::value::Value;
use abide_formats::json::from_json;
use serde_json::Value as Json;

/// How many places of one call are kept.
const MOST_PLACES: usize = 1_000;

/// What was said about a call so far.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Call {
    pub(super) id: String,
    title: String,
    kind: String,
    status: String,
    input: Option<Json>,
    places: Vec<String>,
}

/// A call in the words of the gate: it may be made if it is allowed under one of these names.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    pub(super) names: &'static [&'static str],
    pub(super) arguments: Value,
}

impl Call {
    pub(super) fn new(id: String) -> Self {
        Self { id, ..Self::default() }
    }

    /// Makes the call by which a file is read or written through abide.
    pub(super) fn of_file(kind: &str, path: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            title: kind.to_owned(),
            places: vec![path.to_owned()],
            ..Self::default()
        }
    }

    /// Takes in more about it; what is said later counts.
    pub(super) fn take(&mut self, said: &Json) {
        let text = |name: &str| said[name].as_str().map(|text| text.chars().take(2_000).collect::<String>());
        if let Some(title) = text("title") {
            self.title = title;
        }
        if let Some(kind) = text("kind") {
            self.kind = kind;
        }
        if let Some(status) = text("status") {
            self.status = status;
        }
        if let Some(input) = said.get("rawInput").filter(|input| !is_empty(input)) {
            self.input = Some(input.clone());
        }
        let locations = said["locations"].as_array().into_iter().flatten();
        let contents =
            said["content"].as_array().into_iter().flatten().filter(|content| content["type"] == "diff");
        for path in locations.chain(contents).filter_map(|place| place["path"].as_str()) {
            if self.places.len() < MOST_PLACES && !self.places.iter().any(|known| known == path) {
                self.places.push(path.to_owned());
            }
        }
    }

    /// Returns what people are told that it is.
    pub(super) fn title(&self) -> String {
        let title = if self.title.is_empty() { &self.kind } else { &self.title };
        title.chars().filter(|letter| !letter.is_control()).take(120).collect()
    }

    pub(super) fn is_done(&self) -> bool {
        self.status == "completed"
    }

    /// Returns whether it is being made, as far as there is something to judge it by.
    pub(super) fn is_under_way(&self) -> bool {
        self.is_done() || (self.status == "in_progress" && self.input.is_some())
    }

    /// Returns what the gate has to allow, all of it.
    pub(super) fn judged(&self) -> Vec<Judged> {
        let names: &'static [&'static str] = match self.kind.as_str() {
            // Nothing happens outside of the agent.
            "think" => return Vec::new(),
            "read" => &["read"],
            "edit" | "move" => &["edit", "write"],
            "delete" => &["delete_file"],
            "search" => &["grep", "glob", "list"],
            "execute" => &["bash"],
            "fetch" => &["web_fetch"],
            _ => &["acp_other"],
        };
        let has_command = self.command().is_some();
        let needs_place = matches!(self.kind.as_str(), "read" | "edit" | "move" | "delete");
        let is_known = match self.kind.as_str() {
            "execute" => has_command,
            _ => !needs_place || !self.places.is_empty() || self.names_path(),
        };
        // Anything that is no mapping is unreadable to the gate.
        let unknown = || Value::Text(self.title());
        let arguments = if is_known { self.arguments() } else { unknown() };
        let mut judged = vec![Judged { names, arguments }];
        if has_command && self.kind != "execute" {
            judged.push(Judged { names: &["bash"], arguments: self.arguments() });
        }
        judged
    }

    fn command(&self) -> Option<&Json> {
        let input = self.input.as_ref()?;
        ["command", "cmd", "commands", "script"].iter().find_map(|name| input.get(name))
    }

    fn names_path(&self) -> bool {
        let Some(input) = &self.input else { return false };
        ["path", "file_path", "filePath", "filepath", "abs_path"].iter().any(|name| input[*name].is_string())
    }

    /// Returns its input, and the places that it names beside.
    fn arguments(&self) -> Value {
        let mut entries = match self.input.clone().map(from_json) {
            Some(Value::Map(entries)) => entries,
            Some(other) => vec![("input".to_owned(), other)],
            None => Vec::new(),
        };
        // Some agents send the program and its arguments apart: judged is what they make together.
        let words = entries.iter().position(|(name, value)| {
            matches!(name.as_str(), "args" | "arguments") && matches!(value, Value::List(_))
        });
        let program = entries.iter().position(|(name, value)| {
            matches!(name.as_str(), "command" | "cmd") && matches!(value, Value::Text(_))
        });
        if let (Some(words), Some(program)) = (words, program)
            && let Value::List(words) = entries[words].1.clone()
        {
            let first = std::mem::replace(&mut entries[program].1, Value::Null);
            entries[program].1 = Value::List(std::iter::once(first).chain(words).collect());
        }
        let places = self.places.iter().cloned().map(Value::Text).collect();
        if !self.places.is_empty() {
            entries.retain(|(name, _)| name != "paths");
            entries.push(("paths".to_owned(), Value::List(places)));
        }
        Value::Map(entries)
    }
}

fn is_empty(input: &Json) -> bool {
    input.is_null() || input.as_object().is_some_and(serde_json::Map::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::policy::{Client, ToolCall};
    use serde_json::json;

    fn judged(said: &Json) -> Vec<(&'static str, ToolCall)> {
        let mut call = Call::new("c".to_owned());
        call.take(said);
        let read = |judged: Judged| {
            (judged.names[0], ToolCall::read(Client::Other, judged.names[0], &judged.arguments))
        };
        call.judged().into_iter().map(read).collect()
    }

    #[test]
    fn a_call_is_judged_as_its_kind_with_every_place_that_it_names() {
        let calls = judged(
            &json!({"kind": "edit", "rawInput": {"filePath": "a"}, "locations": [{"path": "/p/b"}], "content": [{"type": "diff", "path": "/p/c"}]}),
        );
        let [("edit", call)] = &calls[..] else { panic!("{calls:?}") };
        assert_eq!(call.arguments.paths, ["a", "/p/b", "/p/c"]);
        let calls = judged(&json!({"kind": "execute", "rawInput": {"command": ["git", "push"]}}));
        assert_eq!(calls[0].1.arguments.command.as_deref(), Some("'git' 'push'"));
        assert_eq!(judged(&json!({"kind": "think"})), []);
        assert_eq!(judged(&json!({"title": "a tool of somebody"}))[0].0, "acp_other");
    }

    #[test]
    fn what_is_not_said_is_not_taken_for_harmless() {
        for said in [
            json!({"kind": "execute"}),
            json!({"kind": "execute", "title": "`ls`"}),
            json!({"kind": "edit"}),
            json!({"kind": "read", "rawInput": "x"}),
        ] {
            assert!(judged(&said)[0].1.arguments.unreadable, "{said}");
        }
    }

    #[test]
    fn a_command_is_judged_as_one_whatever_it_is_called() {
        let calls = judged(&json!({"kind": "read", "rawInput": {"path": "a", "command": "rm -r b"}}));
        let names: Vec<&str> = calls.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["read", "bash"]);
        assert_eq!(calls[1].1.arguments.command.as_deref(), Some("rm -r b"));
        let calls =
            judged(&json!({"kind": "execute", "rawInput": {"command": "git", "args": ["push", "-f"]}}));
        assert_eq!(calls[0].1.arguments.command.as_deref(), Some("'git' 'push' '-f'"));
    }
}
