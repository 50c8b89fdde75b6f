//! OpenAI Chat Completions, as nearly every server of models speaks it.

use super::{Answer, Content, arguments, inputs, list, pieces, role, said, text, texts};
use crate::{Role, Tool, ToolCall, ToolResult};
use serde_json::{Value, json};

pub(super) fn read(body: &Value) -> Content {
    let mut content = Content::default();
    for message in list(&body["messages"]) {
        let mut read = said(role(&message["role"]), texts(&message["content"]));
        // What stands in front of the conversation is the system prompt; what comes later is said in its middle.
        if read.role == Role::System && content.messages.is_empty() {
            content.system.push(read.text);
            continue;
        }
        if read.role == Role::Tool {
            read.results.push(ToolResult {
                call: text(&message["tool_call_id"]),
                text: std::mem::take(&mut read.text),
            });
        }
        let calls = list(&message["tool_calls"]).iter().map(|call| &call["function"]);
        read.calls =
            calls.map(|call| ToolCall::new(text(&call["name"]), arguments(&call["arguments"]))).collect();
        content.messages.push(read);
    }
    content.tools = list(&body["tools"])
        .iter()
        .map(|tool| Tool { name: text(&tool["function"]["name"]), namespace: None, freeform: false })
        .collect();
    content
}

pub(super) fn events(answer: &Answer<'_>) -> Vec<String> {
    let chunk = |choices: Value| {
        json!({
            "id": answer.id("chatcmpl"),
            "object": "chat.completion.chunk",
            "created": 1,
            "model": answer.model(),
            "choices": choices,
        })
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut chunks = vec![delta(json!({"role": "assistant", "content": ""}))];
    chunks.extend(pieces(&answer.turn.text).map(|piece| delta(json!({"content": piece}))));
    for (index, call) in answer.turn.calls.iter().enumerate() {
        let start = json!({
            "index": index,
            "id": answer.part("call", index),
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        });
        chunks.push(delta(json!({"tool_calls": [start]})));
        let inputs = inputs(call);
        chunks.extend(
            pieces(&inputs).map(|piece| {
                delta(json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
            }),
        );
    }
    chunks.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(answer)}])));
    if answer.request.body["stream_options"]["include_usage"] == true {
        let mut last = chunk(json!([]));
        last["usage"] = usage(answer);
        chunks.push(last);
    }
    let mut events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    events.push("data: [DONE]\n\n".to_owned());
    events
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.turn.text});
    if !answer.turn.calls.is_empty() {
        let calls = answer.turn.calls.iter().enumerate().map(|(index, call)| {
            let function = json!({"name": call.name, "arguments": inputs(call)});
            json!({"id": answer.part("call", index), "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
    }
    json!({
        "id": answer.id("chatcmpl"),
        "object": "chat.completion",
        "created": 1,
        "model": answer.model(),
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(answer)}],
        "usage": usage(answer),
    })
}

fn usage(answer: &Answer<'_>) -> Value {
    let tokens = answer.tokens();
    json!({
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
    })
}

fn finish_reason(answer: &Answer<'_>) -> &'static str {
    if answer.turn.calls.is_empty() { "stop" } else { "tool_calls" }
}
