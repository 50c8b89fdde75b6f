//! Claude Code, by `claude -p`.

use crate::client::{CommandLine, Order, prompt_in_words};
use crate::hearing::Heard;
use abide_core::model::Usage;
use abide_formats::json;
use serde_json::Value as Json;

/// The longest text that is given as an argument: the system takes no longer ones.
const LONGEST_ARGUMENT: usize = 100_000;
/// The tool by which Claude Code hands in an answer that must fit a schema. It does nothing else.
pub(crate) const ANSWER_TOOL: &str = "StructuredOutput";

pub(crate) fn command_line(order: &Order<'_>) -> CommandLine {
    let mut line = CommandLine::default();
    // Nobody is there to be asked: what neither the user's settings nor the step allow is denied.
    let fixed = ["-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "dontAsk"];
    line.before.extend(fixed.map(str::to_owned));
    let mut option = |name: &str, value: String| line.before.extend([name.to_owned(), value]);
    if let Some(model) = order.profile.model.as_deref().and_then(model) {
        option("--model", model.to_owned());
    }
    if let Some(schema) = order.schema {
        option("--json-schema", schema.to_string());
    }
    if let Some(turns) = order.turns {
        option("--max-turns", turns.to_string());
    }
    if let Some(session) = order.session {
        option("--resume", session.to_owned());
    }
    match order.profile.prompt.trim() {
        "" => {}
        prompt if prompt.len() <= LONGEST_ARGUMENT => option("--append-system-prompt", prompt.to_owned()),
        _ => line.preface = prompt_in_words(order.profile),
    }
    line
}

/// Returns the name that Claude Code knows a model by; one that somebody else serves is none of its own.
fn model(name: &str) -> Option<&str> {
    match name.split_once('/') {
        Some(("anthropic", model)) => Some(model),
        Some(_) => None,
        None => Some(name).filter(|name| !name.is_empty() && *name != "inherit"),
    }
}

pub(crate) fn hear(event: &Json, heard: &mut Heard) {
    if let Some(session) = event["session_id"].as_str() {
        heard.session = Some(session.to_owned());
    }
    // What sub-agents say is not the answer.
    let is_main = event["parent_tool_use_id"].is_null();
    match event["type"].as_str() {
        Some("assistant") => {
            if let Some(id) = event["message"]["id"].as_str() {
                heard.answers(id, usage(&event["message"]["usage"]));
            }
            for block in event["message"]["content"].as_array().into_iter().flatten() {
                match (block["type"].as_str(), block["text"].as_str(), block["name"].as_str()) {
                    (Some("text"), Some(text), _) if is_main => heard.says(text),
                    (Some("tool_use"), _, Some(tool)) => heard.calls(tool),
                    _ => heard.answered = true,
                }
            }
        }
        Some("user") => {
            for block in event["message"]["content"].as_array().into_iter().flatten() {
                // One that failed may never have been carried out, so nobody need have been asked about it.
                if block["type"] == "tool_result"
                    && block["is_error"] != true
                    && let Some(id) = block["tool_use_id"].as_str()
                {
                    heard.used.push(id.to_owned());
                }
            }
        }
        Some("result") => result(event, heard),
        _ => {}
    }
}

fn result(event: &Json, heard: &mut Heard) {
    if let Some(text) = event["result"].as_str() {
        text.clone_into(&mut heard.text);
    }
    if !event["structured_output"].is_null() {
        heard.structured = json::parse(&event["structured_output"].to_string()).ok();
    }
    if event["usage"].is_object() {
        heard.uses(usage(&event["usage"]));
    }
    heard.done = true;
    if event["is_error"] == true {
        let errors = event["errors"].as_array().into_iter().flatten().filter_map(Json::as_str);
        let errors: Vec<&str> = errors.collect();
        let text = event["result"].as_str().filter(|text| !text.trim().is_empty());
        let subtype = event["subtype"].as_str().unwrap_or("it ended with an error");
        heard.fails(text.unwrap_or(if errors.is_empty() { subtype } else { errors[0] }));
    }
}

fn usage(said: &Json) -> Usage {
    let tokens = |name: &str| said[name].as_u64().unwrap_or(0);
    let (read, written) = (tokens("cache_read_input_tokens"), tokens("cache_creation_input_tokens"));
    Usage {
        input_tokens: tokens("input_tokens").saturating_add(read).saturating_add(written),
        output_tokens: tokens("output_tokens"),
        cache_read_tokens: read,
        cache_write_tokens: written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use abide_core::value::Value;
    use serde_json::json;

    #[test]
    fn a_whole_run_is_heard() {
        let mut heard = Heard::default();
        for event in [
            json!({"type":"system","subtype":"init","session_id":"s1"}),
            json!({"type":"assistant","session_id":"s1","parent_tool_use_id":null,"message":{"content":[
                {"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"Read","input":{}}]}}),
            json!({"type":"user","session_id":"s1","message":{"content":[
                {"type":"tool_result","tool_use_id":"t1","content":"x"},
                {"type":"tool_result","tool_use_id":"t2","content":"denied","is_error":true}]}}),
            json!({"type":"assistant","parent_tool_use_id":"t1","message":{"content":[{"type":"text","text":"aside"}]}}),
            json!({"type":"result","subtype":"success","is_error":false,"session_id":"s1","result":"done",
                "structured_output":{"ok":true},"usage":{"input_tokens":10,"output_tokens":3,"cache_read_input_tokens":5,"cache_creation_input_tokens":2}}),
        ] {
            hear(&event, &mut heard);
        }
        assert_eq!((heard.session.as_deref(), heard.text.as_str(), heard.done), (Some("s1"), "done", true));
        assert_eq!(heard.said, "I look.\n→ Read\n");
        assert_eq!(heard.used, ["t1"], "a call that failed proves nothing");
        assert_eq!(heard.structured, Some(Value::Map(vec![("ok".into(), Value::Bool(true))])));
        let usage = Usage { input_tokens: 17, output_tokens: 3, cache_read_tokens: 5, cache_write_tokens: 2 };
        assert_eq!((heard.usage, heard.failure), (Some(usage), None));
    }

    #[test]
    fn what_answers_use_is_known_before_the_whole_is_told() {
        let mut heard = Heard::default();
        let answer = |id: &str, input: u64, output: u64| json!({"type":"assistant","message":{"id":id,"content":[],"usage":{"input_tokens":input,"output_tokens":output}}});
        for event in [answer("m1", 10, 1), answer("m1", 10, 4), answer("m2", 20, 2)] {
            hear(&event, &mut heard);
        }
        assert_eq!((heard.used_so_far().tokens(), heard.turns, heard.usage), (36, 2, None));
        hear(&json!({"type":"result","usage":{"input_tokens":30,"output_tokens":9}}), &mut heard);
        assert_eq!((heard.used_so_far().tokens(), heard.turns), (39, 2), "the whole stands for its parts");
    }

    #[test]
    fn an_error_is_told_in_its_words() {
        let mut heard = Heard::default();
        hear(
            &json!({"type":"result","is_error":true,"subtype":"success","result":"Invalid API key · Please run /login"}),
            &mut heard,
        );
        assert_eq!(heard.failure.as_deref(), Some("Invalid API key · Please run /login"));
    }

    #[test]
    fn the_model_of_a_profile_is_passed_on_when_it_is_one_of_claudes() {
        for (name, expected) in [
            ("anthropic/claude-sonnet-4", Some("claude-sonnet-4")),
            ("opus", Some("opus")),
            ("inherit", None),
            ("openai/gpt-5", None),
        ] {
            let profile = Profile { model: Some(name.into()), ..Profile::default() };
            let order = Order {
                profile: &profile,
                session: Some("s"),
                schema: None,
                tools: None,
                turns: Some(7),
                has_sandbox: false,
            };
            let line = command_line(&order).before;
            let found = line.iter().position(|word| word == "--model").map(|at| line[at + 1].as_str());
            assert_eq!(found, expected, "{name}");
            assert!(line.windows(2).any(|words| words == ["--resume", "s"]));
            assert!(line.windows(2).any(|words| words == ["--max-turns", "7"]));
        }
    }
}
