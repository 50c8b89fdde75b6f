//! A tool call as the gate sees it: who makes it, which tool, and what in its arguments matters.

use super::kind::{Client, ToolKind, kind};
use super::patch;
use super::shell::Told;
use super::told::{PROSE_TOOLS, names_a_file, told};
use crate::value::Value;

/// A tool call that a client is about to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Whose names the tool's name is one of.
    pub client: Client,
    /// The tool, exactly as the client spells it.
    pub name: String,
    /// What matters in its arguments.
    pub arguments: Arguments,
}

/// What matters in the arguments of a call; everything else is for the tool alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Shell text that would be run.
    pub command: Option<String>,
    /// Where the shell text would be run, when the call says so.
    pub directory: Option<String>,
    /// Files and folders that it names.
    pub paths: Vec<String>,
    /// Addresses that it names.
    pub urls: Vec<String>,
    /// The ability that it names, for abide's own tools.
    pub ability: Option<String>,
    /// Every other text.
    pub texts: Vec<String>,
    /// What could be a command beside `command`, for tools that may run it.
    pub told: Vec<Told>,
    /// The calls inside a batch.
    pub nested: Vec<ToolCall>,
    /// Whether the arguments could not be understood; then nothing above can be relied on.
    pub unreadable: bool,
}

/// How deep batches may nest and arguments may go; nobody needs more.
const DEEPEST: usize = 8;
/// How many texts and calls are looked at; a call with more is unreadable.
const MOST: usize = 2_000;

impl ToolCall {
    /// Reads a call from the arguments that the client sent.
    pub fn read(client: Client, name: &str, arguments: &Value) -> Self {
        Self::nested(client, name, arguments, 0)
    }

    fn nested(client: Client, name: &str, value: &Value, depth: usize) -> Self {
        let mut arguments = Arguments::default();
        let call_kind = kind(client, name);
        match value {
            _ if depth > DEEPEST => arguments.unreadable = true,
            Value::Map(entries) => {
                for (key, value) in entries {
                    arguments.take(client, call_kind, key, value, depth);
                }
            }
            Value::Null => {}
            _ => arguments.unreadable = true,
        }
        if matches!(call_kind, ToolKind::Execute | ToolKind::Other) && !PROSE_TOOLS.contains(&name) {
            match told(value, call_kind == ToolKind::Execute) {
                Some(told) => arguments.told = told,
                None => arguments.unreadable = true,
            }
        }
        if call_kind == ToolKind::Edit && matches!(name, "apply_patch" | "patch") {
            // A patch names its files in its text.
            let mut named = Vec::new();
            for text in arguments.texts.iter().chain(&arguments.command) {
                arguments.unreadable |= !patch::paths(text, &mut named);
            }
            arguments.unreadable |= named.is_empty();
            arguments.paths.append(&mut named);
        }
        if call_kind == ToolKind::Batch && arguments.nested.is_empty() {
            arguments.unreadable = true;
        }
        Self { client, name: name.to_owned(), arguments }
    }
}

/// The keys of paths, in the spellings of all clients.
const PATHS: &[&str] = &[
    "file_path",
    "filepath",
    "filename",
    "file",
    "path",
    "paths",
    "files",
    "notebook_path",
    "notebookpath",
    "dir",
    "directory",
    "destination",
    "source",
    "target",
    "old_path",
    "new_path",
    "from",
    "to",
    "uri",
];

impl Arguments {
    fn take(&mut self, client: Client, call: ToolKind, key: &str, value: &Value, depth: usize) {
        if self.texts.len() + self.paths.len() + self.nested.len() > MOST || depth > DEEPEST {
            self.unreadable = true;
            return;
        }
        let folded = key.to_ascii_lowercase();
        match folded.as_str() {
            "command" | "cmd" | "commands" | "chars" | "code" | "script"
                if matches!(call, ToolKind::Execute | ToolKind::Edit | ToolKind::Other) =>
            {
                match (command(value), &self.command) {
                    // Two commands in one call: no telling which is run.
                    (Some(_), Some(_)) | (None, _) => self.unreadable = true,
                    (Some(text), None) => self.command = Some(text),
                }
            }
            key if call == ToolKind::Other && names_a_file(key) => self.texts_of(value, Place::Path, depth),
            "workdir" | "cwd" | "working_directory" | "workingdirectory" if call == ToolKind::Execute => {
                match value {
                    Value::Text(text) => self.directory = Some(text.clone()),
                    Value::Null => {}
                    _ => self.unreadable = true,
                }
            }
            "url" | "urls" | "href" => self.texts_of(value, Place::Url, depth),
            "ability" | "name" | "workflow" if matches!(call, ToolKind::Own(_)) => match value {
                Value::Text(text) => self.ability = Some(text.clone()),
                _ => self.unreadable = true,
            },
            "tool_calls" | "tool_uses" | "calls" if call == ToolKind::Batch => {
                self.batch(client, value, depth);
            }
            key if PATHS.contains(&key) => self.texts_of(value, Place::Path, depth),
            _ => self.texts_of(value, Place::Text, depth),
        }
    }

    fn texts_of(&mut self, value: &Value, place: Place, depth: usize) {
        if depth > DEEPEST || self.texts.len() + self.paths.len() + self.urls.len() > MOST {
            self.unreadable = true;
            return;
        }
        match value {
            Value::Text(text) => match place {
                Place::Path => self.paths.push(text.clone()),
                Place::Url => self.urls.push(text.clone()),
                Place::Text => self.texts.push(text.clone()),
            },
            Value::List(items) => items.iter().for_each(|item| self.texts_of(item, place, depth + 1)),
            Value::Map(entries) => {
                for (key, value) in entries {
                    let key = key.to_ascii_lowercase();
                    let place = if PATHS.contains(&key.as_str()) { Place::Path } else { place };
                    self.texts_of(value, place, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
        }
    }

    fn batch(&mut self, client: Client, value: &Value, depth: usize) {
        let Value::List(calls) = value else {
            self.unreadable = true;
            return;
        };
        if calls.len() > MOST {
            self.unreadable = true;
            return;
        }
        for call in calls {
            let name = ["tool", "recipient_name", "name", "tool_name"].iter().find_map(|key| call.get(key));
            let input = ["parameters", "arguments", "args", "input", "tool_input"]
                .iter()
                .find_map(|key| call.get(key));
            let Some(Value::Text(name)) = name else {
                self.unreadable = true;
                return;
            };
            // Codex writes `functions.shell` inside its parallel tool.
            let name = name.strip_prefix("functions.").unwrap_or(name);
            self.nested.push(ToolCall::nested(client, name, input.unwrap_or(&Value::Null), depth + 1));
        }
    }
}

#[derive(Clone, Copy)]
enum Place {
    Path,
    Url,
    Text,
}

/// Returns the shell text of a command, which some clients send as a list of words.
fn command(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::List(words) => {
            let words: Option<Vec<String>> = words
                .iter()
                .map(|word| match word {
                    Value::Text(word) => Some(format!("'{}'", word.replace('\'', r"'\''"))),
                    _ => None,
                })
                .collect();
            words.map(|words| words.join(" "))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn map(entries: &[(&str, Value)]) -> Value {
        Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    }

    #[test]
    fn what_matters_is_found_under_the_keys_of_each_client() {
        let call = ToolCall::read(Client::OpenCode, "edit", &map(&[("filePath", text("a.rs"))]));
        assert_eq!(call.arguments.paths, ["a.rs"]);
        let call = ToolCall::read(Client::ClaudeCode, "Bash", &map(&[("command", text("ls"))]));
        assert_eq!(call.arguments.command.as_deref(), Some("ls"));
        let words = Value::List(vec![text("bash"), text("-lc"), text("it's")]);
        let call =
            ToolCall::read(Client::Codex, "shell", &map(&[("command", words), ("workdir", text("/x"))]));
        assert_eq!(call.arguments.command.as_deref(), Some(r"'bash' '-lc' 'it'\''s'"));
        assert_eq!(call.arguments.directory.as_deref(), Some("/x"));
        let call =
            ToolCall::read(Client::ClaudeCode, "mcp__abide__ability_run", &map(&[("ability", text("x"))]));
        assert_eq!(call.arguments.ability.as_deref(), Some("x"));
    }

    #[test]
    fn a_patch_names_its_files() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n*** End Patch";
        let call = ToolCall::read(Client::Codex, "apply_patch", &map(&[("command", text(patch))]));
        assert_eq!(call.arguments.paths, ["src/a.rs", "src/b.rs"]);
        assert!(!call.arguments.unreadable);
    }

    #[test]
    fn a_batch_holds_calls_and_an_unreadable_one_says_so() {
        let inner = map(&[("tool", text("bash")), ("parameters", map(&[("command", text("ls"))]))]);
        let call =
            ToolCall::read(Client::OpenCode, "batch", &map(&[("tool_calls", Value::List(vec![inner]))]));
        assert_eq!(call.arguments.nested[0].name, "bash");
        assert_eq!(call.arguments.nested[0].arguments.command.as_deref(), Some("ls"));
        for bad in [Value::Null, map(&[]), map(&[("tool_calls", text("x"))]), Value::Int(1)] {
            assert!(ToolCall::read(Client::OpenCode, "batch", &bad).arguments.unreadable);
        }
        let twice = map(&[("command", text("ls")), ("cmd", text("rm -r x"))]);
        assert!(ToolCall::read(Client::ClaudeCode, "Bash", &twice).arguments.unreadable);
        let mut deep = text("x");
        for _ in 0..20 {
            deep = Value::List(vec![deep]);
        }
        assert!(ToolCall::read(Client::Codex, "other", &map(&[("x", deep)])).arguments.unreadable);
    }
}
