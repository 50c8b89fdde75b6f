//! A scripted agent that speaks the Agent Client Protocol: a small program that does what a test says, and notes what it is told.
#![expect(clippy::disallowed_methods, reason = "the agent is a file")]

use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What the agent does in its turn.
#[derive(Debug, Clone)]
pub enum Act {
    /// It says something.
    Say(String),
    /// It asks whether it may make a call (`toolCall` of the protocol), and runs a command if it may.
    Ask(Json, String),
    /// It runs a command without having asked, and reports this call before and after.
    Use(Json, String),
    /// It asks for something else of its client: a method and its parameters.
    Call(String, Json),
    /// It runs a command and reports nothing.
    Run(String),
    /// It sends this line as it stands.
    Line(String),
}

/// Writes an agent into a folder; what it is told lies in `acp.log` there, a message on each line.
///
/// # Panics
/// When it cannot be written: this is for tests.
pub fn agent(folder: &Path, name: &str, acts: &[Act]) -> PathBuf {
    let mut script = format!(
        "#!/bin/sh\nhear() {{ read -r heard || exit 3; printf '%s\\n' \"$heard\" >> '{}'; }}\n",
        folder.join("acp.log").display()
    );
    let say = |script: &mut String, message: &Json| {
        // Writing to a string cannot fail.
        let _ = writeln!(script, "printf '%s\\n' {}", quoted(&message.to_string()));
    };
    let update = |update: Json| json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": update } });
    for result in [json!({ "protocolVersion": 1, "agentCapabilities": {} }), json!({ "sessionId": "s" })] {
        let id = if result.get("sessionId").is_some() { 2 } else { 1 };
        script.push_str("hear\n");
        say(&mut script, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }
    script.push_str("hear\n");
    for (number, act) in acts.iter().enumerate() {
        let call = |call: &Json, status: &str| {
            let mut call = call.clone();
            call["toolCallId"] = json!(format!("call-{number}"));
            call["status"] = json!(status);
            call
        };
        match act {
            Act::Say(text) => {
                let chunk = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
                say(&mut script, &update(chunk));
            }
            Act::Ask(asked, command) => {
                let options = json!([
                    { "optionId": "always", "name": "Always", "kind": "allow_always" },
                    { "optionId": "yes", "name": "Once", "kind": "allow_once" },
                    { "optionId": "no", "name": "No", "kind": "reject_once" },
                ]);
                let params =
                    json!({ "sessionId": "s", "toolCall": call(asked, "pending"), "options": options });
                let id = format!("ask-{number}");
                let request = json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params });
                say(&mut script, &request);
                let _ =
                    writeln!(script, "hear\ncase \"$heard\" in *'\"optionId\":\"yes\"'*) {command};; esac");
            }
            Act::Use(used, command) => {
                let mut begun = call(used, "in_progress");
                begun["sessionUpdate"] = json!("tool_call");
                say(&mut script, &update(begun));
                let _ = writeln!(script, "{command}");
                let mut done = call(used, "completed");
                done["sessionUpdate"] = json!("tool_call_update");
                say(&mut script, &update(done));
            }
            Act::Call(method, params) => {
                let id = format!("call-{number}");
                say(&mut script, &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
                script.push_str("hear\n");
            }
            Act::Run(command) => {
                let _ = writeln!(script, "{command}");
            }
            Act::Line(line) => {
                let _ = writeln!(script, "printf '%s\\n' {}", quoted(line));
            }
        }
    }
    let usage = json!({ "inputTokens": 11, "outputTokens": 5, "totalTokens": 16 });
    let end = json!({ "jsonrpc": "2.0", "id": 3, "result": { "stopReason": "end_turn", "usage": usage } });
    say(&mut script, &end);
    script.push_str("while read -r heard; do :; done\n");
    let path = folder.join(name);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
    }
    std::fs::write(&path, script).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
