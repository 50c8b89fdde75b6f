//! What a client asks: the JSON on a hook's standard input, read once and believed from then on.

use abide_core::value::Value;

/// The largest question that is read; a client that sends more is answered as one that cannot be understood.
pub const LARGEST: usize = 16 * 1024 * 1024;

/// What a client asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The session of the client; a sub-agent has that of its parent.
    pub session: String,
    /// The sub-agent that asks, unless it is the session itself.
    pub sub_agent: Option<String>,
    /// Which agent asks, as the client calls it.
    pub agent: Option<String>,
    /// Where the session works.
    pub folder: Option<String>,
    /// The version of the plugin that asks, if one does.
    pub plugin: Option<String>,
    /// What is about to happen or has happened.
    pub moment: Moment,
}

/// What is about to happen in a client, or has happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Moment {
    /// A tool is about to be used.
    BeforeTool(Use),
    /// A tool has been used.
    AfterTool(Use),
    /// The client is about to ask its user whether a tool may be used.
    Permission(Use),
    /// The user has written something.
    Prompt {
        /// The text.
        text: String,
    },
    /// The agent is about to stop.
    Stop {
        /// Whether it goes on only because it was kept from stopping before.
        kept: bool,
    },
    /// A sub-agent is about to stop.
    SubAgentStop,
    /// A session begins or is taken up again.
    Start {
        /// The client's word for how: `startup`, `resume`, `compact`.
        source: String,
    },
    /// The conversation is about to be condensed.
    Compaction,
    /// Something that needs no answer.
    Other(String),
}

/// The use of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Use {
    /// The tool, exactly as the client spells it.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// The client's id of this use.
    pub id: Option<String>,
}

/// Why a question could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadQuestion {
    /// It is too long.
    #[error("the client's question is longer than {LARGEST} bytes")]
    TooLong,
    /// It is no JSON.
    #[error("the client's question is not JSON: {0}")]
    NotJson(String),
    /// The command line names an event that there is not: what it stands for would not be asked about.
    #[error("abide knows no event `{0}`")]
    UnknownEvent(String),
    /// Something is missing or is not text.
    #[error("the client's question has no `{0}`")]
    Missing(&'static str),
}

/// Reads what a client asks; `event` is its name when the command line says it, else the text must.
pub fn read(text: &str, event: Option<&str>) -> Result<Asked, BadQuestion> {
    if text.len() > LARGEST {
        return Err(BadQuestion::TooLong);
    }
    let json = abide_formats::json::parse(text).map_err(BadQuestion::NotJson)?;
    let given = text_of(&json, "hook_event_name");
    let is_ours = event.is_some();
    let event = event.map(str::to_owned).or(given).ok_or(BadQuestion::Missing("hook_event_name"))?;
    let moment = match event.as_str() {
        "PreToolUse" => Moment::BeforeTool(used(&json)?),
        "PostToolUse" => Moment::AfterTool(used(&json)?),
        "PermissionRequest" => Moment::Permission(used(&json)?),
        "UserPromptSubmit" => {
            Moment::Prompt { text: text_of(&json, "prompt").ok_or(BadQuestion::Missing("prompt"))? }
        }
        "Stop" => Moment::Stop { kept: json.get("stop_hook_active") == Some(&Value::Bool(true)) },
        "SubagentStop" => Moment::SubAgentStop,
        "SessionStart" => Moment::Start { source: text_of(&json, "source").unwrap_or_default() },
        "PreCompact" => Moment::Compaction,
        // Clients have events that need no answer; a command line that names one was mistyped.
        _ if is_ours => return Err(BadQuestion::UnknownEvent(event)),
        _ => Moment::Other(event),
    };
    Ok(Asked {
        session: text_of(&json, "session_id").ok_or(BadQuestion::Missing("session_id"))?,
        sub_agent: text_of(&json, "agent_id"),
        agent: text_of(&json, "agent_type"),
        folder: text_of(&json, "cwd"),
        plugin: text_of(&json, "plugin_version"),
        moment,
    })
}

fn used(json: &Value) -> Result<Use, BadQuestion> {
    Ok(Use {
        tool: text_of(json, "tool_name").ok_or(BadQuestion::Missing("tool_name"))?,
        // Arguments that are not there are not harmless ones: whoever judges them sees that there are none.
        arguments: json.get("tool_input").cloned().unwrap_or(Value::Null),
        id: text_of(json, "tool_use_id"),
    })
}

/// Returns a text that says something.
fn text_of(json: &Value, key: &str) -> Option<String> {
    match json.get(key) {
        Some(Value::Text(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_read_as_clients_write_it() {
        let claude = r#"{"session_id":"s1","transcript_path":"/t","cwd":"/p","permission_mode":"default",
            "hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u1"}"#;
        let asked = read(claude, None).unwrap();
        assert_eq!((asked.session.as_str(), asked.sub_agent.as_deref()), ("s1", None));
        assert_eq!(asked.folder.as_deref(), Some("/p"));
        let Moment::BeforeTool(used) = asked.moment else { panic!("{:?}", asked.moment) };
        assert_eq!((used.tool.as_str(), used.id.as_deref()), ("Bash", Some("u1")));
        assert_eq!(used.arguments.get("command"), Some(&Value::Text("ls".into())));

        let codex = r#"{"session_id":"s1","turn_id":"t","model":"m","agent_id":"a1","agent_type":"worker","cwd":"/p",
            "hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"done"}"#;
        let asked = read(codex, None).unwrap();
        assert_eq!((asked.sub_agent.as_deref(), asked.agent.as_deref()), (Some("a1"), Some("worker")));
        assert_eq!(asked.moment, Moment::Stop { kept: true });

        let named = read(r#"{"session_id":"s","prompt":"deploy it"}"#, Some("UserPromptSubmit")).unwrap();
        assert_eq!(named.moment, Moment::Prompt { text: "deploy it".into() });
        let other = read(r#"{"session_id":"s","hook_event_name":"Notification"}"#, None).unwrap();
        assert_eq!(other.moment, Moment::Other("Notification".into()));
    }

    #[test]
    fn what_cannot_be_read_says_what_is_missing() {
        for (text, event, why) in [
            ("", None, "not JSON"),
            ("{\"session_id\":\"s\"", None, "not JSON"),
            ("{}", None, "no `hook_event_name`"),
            ("{\"hook_event_name\":\"Stop\"}", None, "no `session_id`"),
            ("{\"session_id\":\"\"}", Some("Stop"), "no `session_id`"),
            ("{\"session_id\":\"s\"}", Some("PreToolUse"), "no `tool_name`"),
            ("{\"session_id\":\"s\",\"tool_name\":7}", Some("PreToolUse"), "no `tool_name`"),
            ("{\"session_id\":\"s\"}", Some("UserPromptSubmit"), "no `prompt`"),
            ("[]", Some("Stop"), "no `session_id`"),
            (
                "{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\"}",
                Some("pre-tool-use"),
                "no event `pre-tool-use`",
            ),
        ] {
            let found = read(text, event).unwrap_err().to_string();
            assert!(found.contains(why), "{text}: {found}");
        }
        let long = format!("{{\"session_id\":\"{}\"}}", "x".repeat(LARGEST));
        assert_eq!(read(&long, Some("Stop")), Err(BadQuestion::TooLong));
    }
}
