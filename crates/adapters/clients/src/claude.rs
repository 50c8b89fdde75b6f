//! What Claude Code is given: hooks in its settings, and an MCP server.

use crate::entry::{Entry, in_json, texts};
use crate::hooks::Hooks;
use crate::piece::{Content, Member, Piece, Theirs};
use crate::{Client, Error, Target};
use abide_core::value::Value;
use abide_formats::edit::json::document;
use serde_json::Value as Json;

/// The events that help, and whether a hook that fails must block what it was asked about.
///
/// A tool is never used unasked. Prompts, stops and the rest stay open: nothing runs because of them that is not asked about
/// again, and a stop that a broken abide refuses would never end.
const EVENTS: [(&str, bool); 8] = [
    ("SessionStart", false),
    ("UserPromptSubmit", false),
    ("PreToolUse", true),
    ("PermissionRequest", true),
    ("PostToolUse", false),
    ("PreCompact", false),
    ("SubagentStop", false),
    ("Stop", false),
];

/// How long Claude Code waits for a hook, in seconds; `abide hook` ends itself long before.
const TIMEOUT: i64 = 10;

pub(crate) fn pieces(target: &Target<'_>) -> Result<Vec<Piece>, Error> {
    let binary = target.binary.to_str().ok_or_else(|| Error::Path(target.binary.to_path_buf()))?;
    let cap = Member {
        path: &["env", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"],
        value: text("0"),
        is_ours: |found| found == "0",
        theirs: Theirs::Kept,
    };
    let program = binary.rsplit('/').next().unwrap_or(binary).to_owned();
    let hooks = Hooks { client: Client::Claude, program, wanted: handlers(binary) };
    let server = Member {
        path: SERVER,
        value: server(binary, &Entry::wanted(target, entry(target)?)),
        is_ours: |found| started(found).is_some(),
        theirs: Theirs::Refused,
    };
    Ok(vec![
        Piece {
            path: target.places.claude(target.scope)?.join("settings.json"),
            content: Content::Json { members: vec![cap], hooks: Some(hooks) },
        },
        Piece {
            path: target.places.claude_servers(target.scope)?,
            content: Content::Json { members: vec![server], hooks: None },
        },
    ])
}

pub(crate) fn handlers(binary: &str) -> Vec<(&'static str, Value)> {
    let handler = |(event, closed): (&'static str, bool)| {
        let mut handler = vec![
            ("type".to_owned(), text("command")),
            ("command".to_owned(), text(binary)),
            ("args".to_owned(), Value::List(["hook", "claude", event].map(text).to_vec())),
            ("timeout".to_owned(), Value::Int(TIMEOUT)),
        ];
        if closed {
            handler.push(("onFailure".to_owned(), text("block")));
        }
        (event, Value::Map(handler))
    };
    EVENTS.map(handler).to_vec()
}

/// Where the file of servers has ours.
const SERVER: &[&str] = &["mcpServers", "abide"];

fn server(binary: &str, entry: &Entry) -> Value {
    let mut server = vec![
        ("type".to_owned(), text("stdio")),
        ("command".to_owned(), text(binary)),
        ("args".to_owned(), Value::List(entry.words().into_iter().map(Value::Text).collect())),
        // Without it, the tools may be hidden behind a search.
        ("alwaysLoad".to_owned(), Value::Bool(true)),
    ];
    if !entry.variables.is_empty() {
        server.push(("env".to_owned(), entry.environment()));
    }
    Value::Map(server)
}

/// Returns the entry of abide's that is in the file of servers now.
pub(crate) fn entry(target: &Target<'_>) -> Result<Option<Entry>, Error> {
    in_json(&target.places.claude_servers(target.scope)?, SERVER, started)
}

fn started(found: &Json) -> Option<Entry> {
    let words: Vec<&str> = found["args"].as_array()?.iter().map(Json::as_str).collect::<Option<_>>()?;
    Some(Entry::read(words)?.with(texts(&found["env"])))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Returns `hooks/hooks.json` of the plugin, which starts the `abide` of the PATH.
pub fn plugin_hooks() -> String {
    let events = handlers("abide").into_iter().map(|(event, handler)| {
        let group = Value::Map(vec![("hooks".to_owned(), Value::List(vec![handler]))]);
        (event.to_owned(), Value::List(vec![group]))
    });
    document(&Value::Map(vec![("hooks".to_owned(), Value::Map(events.collect()))]))
}

/// Returns `.claude-plugin/plugin.json` of the plugin.
pub fn plugin_manifest() -> String {
    document(&Value::Map(vec![
        ("name".to_owned(), text("abide")),
        ("version".to_owned(), text(env!("CARGO_PKG_VERSION"))),
        ("description".to_owned(), text("Makes the agent follow the workflow: hooks, tools and a skill")),
        ("license".to_owned(), text("MIT OR Apache-2.0")),
        ("mcpServers".to_owned(), Value::Map(vec![("abide".to_owned(), server("abide", &Entry::default()))])),
    ]))
}
