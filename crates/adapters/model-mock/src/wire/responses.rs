//! OpenAI Responses.

use super::{Answer, Content, arguments, event, inputs, list, pieces, role, said, text, texts};
use crate::{Role, Tool, ToolCall, ToolResult};
use serde_json::{Value, json};

pub(super) fn read(body: &Value) -> Content {
    let mut content = Content { system: vec![texts(&body["instructions"])], ..Content::default() };
    if let Some(prompt) = body["input"].as_str() {
        content.messages.push(said(Role::User, prompt.to_owned()));
    }
    for item in list(&body["input"]) {
        // Newer models are offered tools in the conversation.
        if item["type"] == "additional_tools" {
            content.tools.extend(list(&item["tools"]).iter().flat_map(|tool| offered(tool, None)));
            continue;
        }
        let read = match item["type"].as_str() {
            Some("function_call" | "custom_tool_call") => {
                let given = if item["arguments"].is_null() { &item["input"] } else { &item["arguments"] };
                let mut message = said(Role::Assistant, String::new());
                message.calls.push(ToolCall::new(text(&item["name"]), arguments(given)));
                message
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let mut message = said(Role::Tool, String::new());
                let result = ToolResult { call: text(&item["call_id"]), text: texts(&item["output"]) };
                message.results.push(result);
                message
            }
            // Reasoning and the like are the model's own.
            Some("message") | None => said(role(&item["role"]), texts(&item["content"])),
            Some(_) => continue,
        };
        // What stands in front of the conversation is the system prompt; what comes later is said in its middle.
        if read.role == Role::System && content.messages.is_empty() {
            content.system.push(read.text);
        } else {
            content.messages.push(read);
        }
    }
    content.tools.extend(list(&body["tools"]).iter().flat_map(|tool| offered(tool, None)));
    content
}

fn offered(tool: &Value, namespace: Option<&str>) -> Vec<Tool> {
    let kind = tool["type"].as_str().unwrap_or_default();
    if kind == "namespace" {
        let inner = list(&tool["tools"]).iter();
        return inner.flat_map(|inner| offered(inner, tool["name"].as_str())).collect();
    }
    let name = tool["name"].as_str().unwrap_or(kind).to_owned();
    vec![Tool { name, namespace: namespace.map(str::to_owned), freeform: kind == "custom" }]
}

pub(super) fn events(answer: &Answer<'_>) -> Vec<String> {
    let started = response(answer, "in_progress", &[]);
    let mut events = vec![
        json!({"type": "response.created", "response": started}),
        json!({"type": "response.in_progress", "response": started}),
    ];
    let items = items(answer);
    for (index, item) in items.iter().enumerate() {
        let id = &item["id"];
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        // The part of an item that is streamed, and what its deltas are called.
        let (field, name) = match item["type"].as_str() {
            Some("message") => ("content", "response.output_text"),
            Some("custom_tool_call") => ("input", "response.custom_tool_call_input"),
            _ => ("arguments", "response.function_call_arguments"),
        };
        begun[field] = if field == "content" { json!([]) } else { json!("") };
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
        let streamed = if field == "content" { &item["content"][0]["text"] } else { &item[field] };
        let part = |kind: &str, part: &Value| json!({"type": kind, "item_id": id, "output_index": index, "content_index": 0, "part": part});
        if field == "content" {
            let empty = json!({"type": "output_text", "text": "", "annotations": []});
            events.push(part("response.content_part.added", &empty));
        }
        events.extend(pieces(streamed.as_str().unwrap_or_default()).map(|piece| {
            json!({
                "type": format!("{name}.delta"),
                "item_id": id,
                "output_index": index,
                "content_index": 0,
                "delta": piece,
            })
        }));
        let ended = if field == "content" { "text" } else { field };
        events.push(json!({
            "type": format!("{name}.done"),
            "item_id": id,
            "output_index": index,
            "content_index": 0,
            ended: streamed,
        }));
        if field == "content" {
            events.push(part("response.content_part.done", &item["content"][0]));
        }
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    let completed = response(answer, "completed", &items);
    events.push(json!({"type": "response.completed", "response": completed}));
    for (number, each) in events.iter_mut().enumerate() {
        each["sequence_number"] = json!(number);
    }
    events.iter().map(event).collect()
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    response(answer, "completed", &items(answer))
}

fn items(answer: &Answer<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if !answer.turn.text.is_empty() {
        items.push(json!({
            "type": "message",
            "id": answer.id("msg"),
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": answer.turn.text, "annotations": []}],
        }));
    }
    items.extend(answer.turn.calls.iter().enumerate().map(|(position, call)| {
        let offered = answer.offered(call);
        let freeform = offered.is_some_and(|tool| tool.freeform);
        let mut item = json!({
            "type": if freeform { "custom_tool_call" } else { "function_call" },
            "id": answer.part("item", position),
            "call_id": answer.part("call", position),
            "status": "completed",
            "name": call.name,
        });
        item[if freeform { "input" } else { "arguments" }] = Value::from(inputs(call));
        let namespace = offered.and_then(|tool| tool.namespace.as_ref()).or(call.namespace.as_ref());
        if let Some(namespace) = namespace {
            item["namespace"] = json!(namespace);
        }
        item
    }));
    items
}

fn response(answer: &Answer<'_>, status: &str, output: &[Value]) -> Value {
    let tokens = answer.tokens();
    json!({
        "id": answer.id("resp"),
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": answer.model(),
        "output": output,
        "usage": {
            "input_tokens": tokens.input,
            "input_tokens_details": {"cached_tokens": tokens.cache_read},
            "output_tokens": tokens.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens.input + tokens.output,
        },
    })
}
