//! Anthropic Messages.

use super::{Answer, Content, event, inputs, list, pieces, role, said, text, texts};
use crate::{Tool, ToolCall, ToolResult};
use serde_json::{Value, json};

pub(super) fn read(body: &Value) -> Content {
    let mut content = Content { system: vec![texts(&body["system"])], ..Content::default() };
    for message in list(&body["messages"]) {
        let mut read = said(role(&message["role"]), String::new());
        let mut words = Vec::new();
        let parts = &message["content"];
        for part in parts.as_array().map_or(std::slice::from_ref(parts), Vec::as_slice) {
            match part["type"].as_str() {
                Some("tool_use") => {
                    read.calls.push(ToolCall::new(text(&part["name"]), part["input"].clone()));
                }
                Some("tool_result") => read
                    .results
                    .push(ToolResult { call: text(&part["tool_use_id"]), text: texts(&part["content"]) }),
                _ => words.push(texts(part)),
            }
        }
        read.text = words.join("\n");
        content.messages.push(read);
    }
    content.tools = list(&body["tools"])
        .iter()
        .map(|tool| Tool { name: text(&tool["name"]), namespace: None, freeform: false })
        .collect();
    content
}

pub(super) fn events(answer: &Answer<'_>) -> Vec<String> {
    let mut start = message(answer, &[], None);
    start["usage"]["output_tokens"] = json!(1);
    let mut events = vec![event(&json!({"type": "message_start", "message": start}))];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        events.push(event(&json!({"type": "content_block_start", "index": index, "content_block": start})));
        let deltas = deltas.into_iter();
        events.extend(
            deltas
                .map(|delta| event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))),
        );
        events.push(event(&json!({"type": "content_block_stop", "index": index})));
        index += 1;
    };
    if !answer.turn.text.is_empty() {
        let deltas = pieces(&answer.turn.text).map(|piece| json!({"type": "text_delta", "text": piece}));
        block(json!({"type": "text", "text": ""}), deltas.collect());
    }
    for (position, call) in answer.turn.calls.iter().enumerate() {
        let inputs = inputs(call);
        let deltas =
            pieces(&inputs).map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect();
        let id = answer.part("toolu", position);
        block(json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}), deltas);
    }
    events.push(event(&json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
        "usage": usage(answer),
    })));
    events.push(event(&json!({"type": "message_stop"})));
    events
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let mut content = Vec::new();
    if !answer.turn.text.is_empty() {
        content.push(json!({"type": "text", "text": answer.turn.text}));
    }
    content.extend(answer.turn.calls.iter().enumerate().map(|(position, call)| {
        let id = answer.part("toolu", position);
        json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments})
    }));
    message(answer, &content, Some(stop_reason(answer)))
}

fn message(answer: &Answer<'_>, content: &[Value], stop_reason: Option<&str>) -> Value {
    json!({
        "id": answer.id("msg"),
        "type": "message",
        "role": "assistant",
        "model": answer.model(),
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage(answer),
    })
}

fn usage(answer: &Answer<'_>) -> Value {
    let tokens = answer.tokens();
    let cached = tokens.cache_read + tokens.cache_write;
    json!({
        // What was in the cache is counted apart here.
        "input_tokens": tokens.input.saturating_sub(cached),
        "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_write,
        "output_tokens": tokens.output,
    })
}

fn stop_reason(answer: &Answer<'_>) -> &'static str {
    if answer.turn.calls.is_empty() { "end_turn" } else { "tool_use" }
}
