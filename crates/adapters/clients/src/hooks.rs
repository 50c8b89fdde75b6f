//! The `hooks` of a JSON file, as Claude Code and Codex both keep them: event → groups → handlers.
//!
//! A user has hooks too. Ours are appended as groups of their own, so that the places of theirs do not change, and are known by the
//! program that they start and by its arguments.

use crate::Client;
use abide_core::value::Value;
use abide_formats::edit::json::{self, Key};
use abide_formats::edit::jsonc::{Kind, Node, parse};
use abide_formats::edit::{Draft, Problem};
use abide_formats::json::to_json;
use serde_json::Value as Json;

/// The handlers that a client is to have.
#[derive(Debug)]
pub(crate) struct Hooks {
    pub(crate) client: Client,
    /// What the program may be called, besides `abide`.
    pub(crate) program: String,
    /// An event, and what handles it.
    pub(crate) wanted: Vec<(&'static str, Value)>,
}

/// A handler of ours in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Handler {
    pub(crate) event: String,
    pub(crate) group: usize,
    pub(crate) place: usize,
    /// Whether its group holds nothing else that is not ours.
    alone: bool,
    pub(crate) value: Json,
}

impl Hooks {
    /// Returns every handler of ours, whatever program path it starts.
    pub(crate) fn found(&self, text: &str) -> Result<Vec<Handler>, Problem> {
        let Some(root) = parse(text)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for event in root.at(&["hooks"]).map(Node::items).unwrap_or_default() {
            for (group, entry) in event.value.items().iter().enumerate() {
                let handlers = entry.value.at(&["hooks"]).map(Node::items).unwrap_or_default();
                let values: Vec<Json> = handlers.iter().map(|item| item.value.value(text)).collect();
                let alone = values.iter().all(|value| self.is_ours(value));
                for (place, value) in values.into_iter().enumerate().filter(|(_, value)| self.is_ours(value))
                {
                    found.push(Handler { event: event.key.clone(), group, place, alone, value });
                }
            }
        }
        Ok(found)
    }

    /// Returns whether a file has exactly what is wanted of ours.
    pub(crate) fn hold(&self, text: &str) -> Result<bool, Problem> {
        let found = self.found(text)?;
        let wanted = |(event, value): &(&str, Value)| {
            let value = to_json(value);
            found.iter().filter(|handler| handler.event == *event && handler.value == value).count() == 1
        };
        Ok(found.len() == self.wanted.len() && self.wanted.iter().all(wanted))
    }

    /// Takes out every handler of ours, and what held nothing else.
    pub(crate) fn strip(&self, text: &str) -> Result<String, Problem> {
        if self.found(text)?.is_empty() {
            return Ok(text.to_owned());
        }
        let mut text = text.to_owned();
        // Each turn takes one away, so this ends.
        while let Some(handler) = self.found(&text)?.first() {
            let event = [Key::Name("hooks".to_owned()), Key::Name(handler.event.clone())];
            let group = [&event[..], &[Key::Place(handler.group)]].concat();
            let one = [&group[..], &[Key::Name("hooks".to_owned()), Key::Place(handler.place)]].concat();
            let shorter = json::remove(&text, if handler.alone { &group } else { &one })?;
            debug_assert!(shorter.len() < text.len(), "a handler that was found can be removed");
            if shorter.len() >= text.len() {
                break;
            }
            text = remove_if_empty(&shorter, &["hooks", &handler.event])?;
        }
        remove_if_empty(&text, &["hooks"])
    }

    pub(crate) fn insert(&self, draft: &mut Draft) -> Result<(), Problem> {
        for (event, handler) in &self.wanted {
            let group = Value::Map(vec![("hooks".to_owned(), Value::List(vec![handler.clone()]))]);
            json::push(draft, &["hooks", event], &group)?;
        }
        Ok(())
    }

    fn is_ours(&self, handler: &Json) -> bool {
        let Some(command) = handler["command"].as_str() else { return false };
        let (program, arguments) = match self.client {
            Client::Codex => match crate::codex::program_of(command) {
                Some(program) => (program, true),
                None => return false,
            },
            Client::Claude | Client::OpenCode => {
                let arguments = handler["args"].as_array().map(Vec::as_slice).unwrap_or_default();
                let ours =
                    matches!(arguments, [hook, client, _] if hook == "hook" && client == self.client.word());
                (command.to_owned(), ours)
            }
        };
        arguments && is_called(&program, &self.program)
    }
}

/// Returns whether a program path has a name that abide goes by.
pub(crate) fn is_called(path: &str, program: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "abide" || name == program
}

/// Returns the text without a list or object that holds nothing.
pub(crate) fn remove_if_empty(text: &str, path: &[&str]) -> Result<String, Problem> {
    let root = parse(text)?;
    let empty = root.as_ref().and_then(|root| root.at(path)).is_some_and(|node| {
        matches!(node.kind, Kind::Array(_) | Kind::Object(_))
            && node.items().is_empty()
            // Somebody may have left a comment in it.
            && text[node.span.start + 1..node.span.end - 1].trim().is_empty()
    });
    let keys: Vec<Key> = path.iter().map(|key| Key::Name((*key).to_owned())).collect();
    if empty { json::remove(text, &keys) } else { Ok(text.to_owned()) }
}
