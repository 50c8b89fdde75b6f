//! OpenCode, by `opencode run`.

use crate::client::{CommandLine, Order, prompt_in_words, schema_in_words};
use crate::hearing::{Heard, answer_as_data};
use abide_core::model::Usage;
use serde_json::Value as Json;

pub(crate) fn command_line(order: &Order<'_>) -> CommandLine {
    let mut line = CommandLine::default();
    line.before.extend(["run", "--format", "json"].map(str::to_owned));
    if let Some(model) = order.profile.model.as_deref().filter(|name| name.contains('/')) {
        line.before.extend(["--model".to_owned(), model.to_owned()]);
    }
    if let Some(session) = order.session {
        line.before.extend(["--session".to_owned(), session.to_owned()]);
    }
    let schema = order.schema.map(schema_in_words).unwrap_or_default();
    let preface = [prompt_in_words(order.profile), schema];
    line.preface = preface.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    line
}

pub(crate) fn hear(event: &Json, heard: &mut Heard) {
    if let Some(session) = event["sessionID"].as_str() {
        heard.session = Some(session.to_owned());
    }
    let part = &event["part"];
    match event["type"].as_str() {
        Some("text") => {
            if let Some(text) = part["text"].as_str() {
                heard.says(text);
                heard.structured = answer_as_data(text);
            }
        }
        Some("tool_use") => {
            let tool = part["tool"].as_str().unwrap_or_default();
            heard.calls(tool);
            // A tool that there is not is answered by OpenCode itself, and one that failed was not carried out.
            if part["state"]["status"] == "completed"
                && tool != "invalid"
                && let Some(id) = part["callID"].as_str()
            {
                heard.used.push(id.to_owned());
            }
        }
        Some("step_finish") => {
            let tokens = |name: &str| part["tokens"][name].as_u64().unwrap_or(0);
            let cached = |name: &str| part["tokens"]["cache"][name].as_u64().unwrap_or(0);
            let (read, written) = (cached("read"), cached("write"));
            heard.uses(Usage {
                input_tokens: tokens("input").saturating_add(read).saturating_add(written),
                output_tokens: tokens("output").saturating_add(tokens("reasoning")),
                cache_read_tokens: read,
                cache_write_tokens: written,
            });
            heard.turns = heard.turns.saturating_add(1);
            heard.done = part["reason"] == "stop";
        }
        Some("error") => {
            let error = &event["error"];
            let message = error["data"]["message"].as_str().or(error["message"].as_str());
            heard.fails(message.or(error["name"].as_str()).unwrap_or("it ended with an error"));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_whole_run_is_heard() {
        let mut heard = Heard::default();
        for event in [
            json!({"type":"step_start","sessionID":"s1","part":{}}),
            json!({"type":"tool_use","sessionID":"s1","part":{"tool":"write","callID":"c1","state":{"status":"completed"}}}),
            json!({"type":"tool_use","sessionID":"s1","part":{"tool":"bash","callID":"c2","state":{"status":"error"}}}),
            json!({"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":5,"output":1,"cache":{"read":2,"write":1}}}}),
            json!({"type":"text","part":{"text":"done"}}),
            json!({"type":"step_finish","part":{"reason":"stop","tokens":{"input":6,"output":1,"reasoning":3,"cache":{}}}}),
        ] {
            hear(&event, &mut heard);
        }
        assert_eq!((heard.session.as_deref(), heard.text.as_str(), heard.done), (Some("s1"), "done", true));
        assert_eq!(heard.used, ["c1"]);
        let usage = Usage { input_tokens: 14, output_tokens: 5, cache_read_tokens: 2, cache_write_tokens: 1 };
        assert_eq!(heard.usage, Some(usage));
        hear(&json!({"type":"error","error":{"name":"APIError","data":{"message":"no key"}}}), &mut heard);
        assert_eq!(heard.failure.as_deref(), Some("no key"));
    }
}
