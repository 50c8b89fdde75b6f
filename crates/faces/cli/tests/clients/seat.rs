//! What differs between the clients, as far as these tests must know it.

use crate::stage::Stage;
use abide_testkit::client::{ClaudeCode, Client, Codex, OpenCode};
use abide_testkit::model::ToolCall;
use serde_json::json;

/// A client as the gate meets it.
pub(crate) trait Seat: Client + Sized {
    /// The file of the project that makes it ask the gate.
    const HOOKS: &'static str;
    /// What its shell is called when somebody spells it otherwise.
    const OTHER_SPELLINGS: &'static [&'static str];
    /// What its model is told of a tool that does not exist, or of arguments that are none.
    const NO_TOOL: &'static [&'static str];
    /// Whether a tool is used although its hook takes too long.
    const SLOW_HOOK_IS_OPEN: bool;
    /// Whether a tool is used although its hook denies it, because that gives no reason.
    const SILENT_HOOK_IS_OPEN: bool;
    /// Whether a tool is used although its hook says nothing that can be understood.
    const GARBLED_HOOK_IS_OPEN: bool;

    /// Adds an MCP server of somebody else to the project's settings.
    fn add_server(stage: &Stage<Self>, name: &str, words: &[&str]);

    /// Keeps the client from asking the gate, without touching what abide has written; returns what its environment adds.
    fn stop_asking(stage: &Stage<Self>) -> Vec<(&'static str, &'static str)>;
}

impl Seat for ClaudeCode {
    const HOOKS: &'static str = ".claude/settings.json";
    const OTHER_SPELLINGS: &'static [&'static str] = &["bash", "BASH", "Bash "];
    const NO_TOOL: &'static [&'static str] = &["No such tool available", "InputValidationError"];
    const SLOW_HOOK_IS_OPEN: bool = false;
    const SILENT_HOOK_IS_OPEN: bool = false;
    const GARBLED_HOOK_IS_OPEN: bool = true;

    fn add_server(stage: &Stage<Self>, name: &str, words: &[&str]) {
        let server = json!({"type": "stdio", "command": words[0], "args": words[1..]});
        stage.write(".mcp.json", &json!({"mcpServers": {name: server}}).to_string());
    }

    fn stop_asking(stage: &Stage<Self>) -> Vec<(&'static str, &'static str)> {
        stage.write(".claude/settings.local.json", r#"{"disableAllHooks": true}"#);
        Vec::new()
    }
}

impl Seat for OpenCode {
    const HOOKS: &'static str = ".opencode/plugins/abide.js";
    const OTHER_SPELLINGS: &'static [&'static str] = &["Bash", "BASH", "bash "];
    const NO_TOOL: &'static [&'static str] = &["invalid", "unavailable tool"];
    const SLOW_HOOK_IS_OPEN: bool = false;
    const SILENT_HOOK_IS_OPEN: bool = false;
    const GARBLED_HOOK_IS_OPEN: bool = false;

    fn add_server(stage: &Stage<Self>, name: &str, words: &[&str]) {
        let server = json!({"type": "local", "command": words, "enabled": true});
        stage.write("opencode.json", &json!({"mcp": {name: server}}).to_string());
    }

    fn stop_asking(_: &Stage<Self>) -> Vec<(&'static str, &'static str)> {
        vec![("OPENCODE_DISABLE_PROJECT_CONFIG", "1")]
    }
}

impl Seat for Codex {
    const HOOKS: &'static str = ".codex/hooks.json";
    const OTHER_SPELLINGS: &'static [&'static str] = &["Exec_Command", "EXEC_COMMAND", "exec_command "];
    const NO_TOOL: &'static [&'static str] = &["unsupported call", "failed to parse"];
    const SLOW_HOOK_IS_OPEN: bool = false;
    const SILENT_HOOK_IS_OPEN: bool = false;
    const GARBLED_HOOK_IS_OPEN: bool = false;

    fn add_server(stage: &Stage<Self>, name: &str, words: &[&str]) {
        let text =
            format!("[mcp_servers.{name}]\ncommand = {}\nargs = {}\n", json!(words[0]), json!(words[1..]));
        stage.write(".codex/config.toml", &text);
    }

    fn stop_asking(stage: &Stage<Self>) -> Vec<(&'static str, &'static str)> {
        let path = stage.home().join(".codex/config.toml");
        let settings = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{settings}\n[features]\nhooks = false\n")).unwrap();
        Vec::new()
    }
}

/// Makes the call of a shell under another name.
pub(crate) fn renamed(call: &ToolCall, name: &str) -> ToolCall {
    ToolCall { name: name.to_owned(), ..call.clone() }
}
