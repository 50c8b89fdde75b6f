//! Codex, by `codex exec`.

use crate::client::{CommandLine, Order, prompt_in_words, schema_in_words};
use crate::hearing::{Heard, answer_as_data};
use abide_core::model::Usage;
use abide_core::policy::{self, ToolKind, kind};
use serde_json::Value as Json;
use std::io::Write as _;

pub(crate) fn command_line(order: &Order<'_>) -> Result<CommandLine, String> {
    let mut line = CommandLine::default();
    line.before.push("exec".to_owned());
    if let Some(sandbox) = sandbox(order) {
        line.before.extend(["--sandbox", sandbox].map(str::to_owned));
    }
    if order.session.is_some() {
        line.before.push("resume".to_owned());
    }
    line.before.extend(["--json", "--skip-git-repo-check"].map(str::to_owned));
    if let Some(model) = order.profile.model.as_deref().and_then(|name| name.strip_prefix("openai/")) {
        line.before.extend(["--model".to_owned(), model.to_owned()]);
    }
    let mut preface = vec![prompt_in_words(order.profile)];
    if let Some(schema) = order.schema {
        preface.push(schema_in_words(schema));
        let text = schema.to_string();
        // What a schema there must be, the service refuses to do without.
        if serde_json::from_str(&text).is_ok_and(|schema: Json| is_strict(&schema)) {
            let failed =
                |error: std::io::Error| format!("cannot write the schema of the answer for Codex: {error}");
            let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
            file.write_all(text.as_bytes()).map_err(failed)?;
            let path = file.path().to_path_buf();
            line.before.extend(["--output-schema".to_owned(), path.display().to_string()]);
            line.file = Some((path, file));
        }
    }
    line.preface = preface.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    line.after.extend(order.session.map(str::to_owned));
    // The task comes on standard input.
    line.after.push("-".to_owned());
    Ok(line)
}

/// Returns the sandbox that fits what a step grants, where the user has not said which one there is to be.
///
/// Without tools that the step names, Codex is as the user has set it up.
fn sandbox(order: &Order<'_>) -> Option<&'static str> {
    let tools = order.tools.filter(|_| !order.has_sandbox)?;
    let changes = |tool: &String| {
        let name = tool.split('(').next().unwrap_or(tool).trim();
        let kinds = policy::Client::ALL.iter().map(|client| kind(*client, name));
        kinds.into_iter().any(|kind| matches!(kind, ToolKind::Edit | ToolKind::Execute))
    };
    Some(if tools.iter().any(changes) { "workspace-write" } else { "read-only" })
}

/// Returns whether the service behind Codex takes a schema: every object closed, every member required.
fn is_strict(schema: &Json) -> bool {
    match schema {
        Json::Object(map) => {
            let is_object =
                map.get("type").is_some_and(|kind| kind == "object") || map.contains_key("properties");
            let closed = !is_object || {
                let names = map.get("properties").and_then(Json::as_object);
                let required = map.get("required").and_then(Json::as_array);
                let is_required = |name: &String| {
                    required.is_some_and(|all| all.iter().any(|known| known == name.as_str()))
                };
                map.get("additionalProperties") == Some(&Json::Bool(false))
                    && names.is_some_and(|names| names.keys().all(is_required))
            };
            closed && map.values().all(is_strict)
        }
        Json::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

pub(crate) fn hear(event: &Json, heard: &mut Heard) {
    match event["type"].as_str() {
        Some("thread.started") => {
            heard.session = event["thread_id"].as_str().map(str::to_owned);
        }
        Some("item.started") => {
            let kind = event["item"]["type"].as_str().unwrap_or_default();
            if ["command_execution", "file_change", "mcp_tool_call", "web_search"].contains(&kind) {
                heard.calls(kind);
            }
        }
        Some("item.completed") => {
            let item = &event["item"];
            match (item["type"].as_str(), item["text"].as_str()) {
                (Some("agent_message"), Some(text)) => {
                    heard.says(text);
                    heard.structured = answer_as_data(text);
                }
                (Some("command_execution" | "file_change" | "mcp_tool_call"), _) => heard.used_unnamed += 1,
                // What it tells its user in passing is no failure of the turn.
                _ => {}
            }
        }
        Some("turn.completed") => {
            let tokens = |name: &str| event["usage"][name].as_u64().unwrap_or(0);
            heard.uses(Usage {
                input_tokens: tokens("input_tokens"),
                output_tokens: tokens("output_tokens"),
                cache_read_tokens: tokens("cached_input_tokens"),
                cache_write_tokens: tokens("cache_write_input_tokens"),
            });
            heard.done = true;
        }
        Some("turn.failed") => heard.fails(event["error"]["message"].as_str().unwrap_or("its turn failed")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use serde_json::json;

    #[test]
    fn a_whole_run_is_heard() {
        let mut heard = Heard::default();
        for event in [
            json!({"type":"thread.started","thread_id":"t1"}),
            json!({"type":"item.completed","item":{"type":"error","message":"a note"}}),
            json!({"type":"item.started","item":{"type":"command_execution","command":"ls"}}),
            json!({"type":"item.completed","item":{"type":"command_execution","command":"ls"}}),
            json!({"type":"item.completed","item":{"type":"agent_message","text":"{\"ok\":true}"}}),
            json!({"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,"output_tokens":2}}),
        ] {
            hear(&event, &mut heard);
        }
        assert_eq!(
            (heard.session.as_deref(), heard.text.as_str(), heard.done),
            (Some("t1"), "{\"ok\":true}", true)
        );
        assert!(heard.structured.is_some() && heard.failure.is_none() && heard.used_unnamed == 1);
        let usage = Usage { input_tokens: 9, output_tokens: 2, cache_read_tokens: 4, cache_write_tokens: 0 };
        assert_eq!(heard.usage, Some(usage));
        hear(&json!({"type":"turn.failed","error":{"message":"401 Unauthorized"}}), &mut heard);
        assert_eq!(heard.failure.as_deref(), Some("401 Unauthorized"));
    }

    #[test]
    fn a_schema_is_an_option_only_where_the_service_takes_it() {
        let strict = json!({"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false});
        assert!(is_strict(&strict));
        for loose in [
            json!({"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}),
            json!({"type":"object","properties":{"ok":{}},"additionalProperties":false}),
            json!({"type":"array","items":{"type":"object"}}),
        ] {
            assert!(!is_strict(&loose), "{loose}");
        }
    }

    #[test]
    fn the_sandbox_follows_what_the_step_grants_unless_the_user_has_one() {
        let profile = Profile::default();
        let of = |tools: Option<&[String]>, has_sandbox| {
            sandbox(&Order {
                profile: &profile,
                session: None,
                schema: None,
                tools,
                turns: None,
                has_sandbox,
            })
        };
        let words = |tools: &[&str]| tools.iter().map(|tool| (*tool).to_owned()).collect::<Vec<_>>();
        assert_eq!(of(None, false), None);
        assert_eq!(of(Some(&words(&["Read", "grep"])), false), Some("read-only"));
        for tool in ["Bash(make *)", "write", "apply_patch"] {
            assert_eq!(of(Some(&words(&["Read", tool])), false), Some("workspace-write"), "{tool}");
        }
        assert_eq!(of(Some(&words(&["Bash"])), true), None);
    }
}
