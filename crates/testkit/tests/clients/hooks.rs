//! A hook in the way that each client wants it: one script, asked before a tool and before the end.

use crate::project::Project;
use serde_json::{Value, json};

/// Where the hook writes what it was asked.
pub(crate) const ASKED: &str = "asked.jsonl";

/// Writes the hook: it keeps what it is asked, then does what the script says.
pub(crate) fn hook(project: &Project, script: &str) -> String {
    let asked = project.root().join(ASKED);
    let keep = format!("input=$(cat)\nprintf '%s\\n' \"$input\" >>'{}'", asked.display());
    project.script("hook.sh", &format!("cd \"$(dirname \"$0\")\"\n{keep}\n{script}"))
}

pub(crate) fn for_claude(project: &Project, event: &str, hook: &str) {
    let mut entry = json!({"type": "command", "command": hook, "args": [], "timeout": 10});
    if event == "PreToolUse" {
        entry["onFailure"] = json!("block");
    }
    project.write(".claude/settings.json", &settings(event, &entry).to_string());
}

pub(crate) fn for_codex(project: &Project, event: &str, hook: &str) {
    let entry = json!({"type": "command", "command": hook, "timeout": 10});
    project.write(".codex/hooks.json", &settings(event, &entry).to_string());
}

/// OpenCode has no hooks that are commands: a plugin asks the script.
pub(crate) fn for_opencode(project: &Project, event: &str, hook: &str) {
    let plugin = include_str!("bridge.js").replace("HOOK", &json!(hook).to_string());
    project.write(".opencode/plugin/bridge.js", &plugin.replace("EVENT", &json!(event).to_string()));
}

fn settings(event: &str, entry: &Value) -> Value {
    json!({"hooks": {event: [{"hooks": [entry]}]}})
}
