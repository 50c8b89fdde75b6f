//! A question in the words of OpenAI Chat Completions.

use crate::gathered::sent_back;
use abide_core::model::{Image, Message, Part, Piece, ToolCall, ToolResult};
use abide_engine::port::{ModelRequest, ToolChoice};
use abide_formats::json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Writes a question; `official` is whether it goes to OpenAI itself, which has given up the word for the limit that
/// everybody else still knows.
pub(crate) fn body(request: &ModelRequest, official: bool) -> Value {
    let mut body = json!({
        "model": request.model,
        "stream": true,
        "stream_options": {"include_usage": true},
        "messages": messages(request),
    });
    let limit = if official { "max_completion_tokens" } else { "max_tokens" };
    body[limit] = json!(request.limits.tokens);
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({
                "name": tool.name,
                "description": tool.description,
                "parameters": json::to_json(&tool.schema),
            });
            json!({"type": "function", "function": function})
        });
        body["tools"] = tools.collect();
        match request.choice {
            // Said by saying nothing: some servers know no word for it.
            ToolChoice::Free => {}
            ToolChoice::Some => body["tool_choice"] = json!("required"),
            ToolChoice::None => body["tool_choice"] = json!("none"),
        }
    }
    if let Some(schema) = &request.schema {
        body["response_format"] = json!({
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": json::to_json(schema)},
        });
    }
    body
}

fn messages(request: &ModelRequest) -> Vec<Value> {
    let mut written = Vec::new();
    if !request.system.trim().is_empty() {
        written.push(json!({"role": "system", "content": request.system}));
    }
    for message in &request.messages {
        match message {
            Message::User(parts) => written.extend(told(parts)),
            Message::Model(pieces) => written.extend(said(pieces)),
            Message::Results(results) => {
                written.extend(results.iter().map(result));
                // A tool's message holds text alone, so its pictures follow as the user's.
                let pictures: Vec<Part> = results
                    .iter()
                    .flat_map(|result| &result.parts)
                    .filter(|part| matches!(part, Part::Image(_)))
                    .cloned()
                    .collect();
                written.extend(told(&pictures));
            }
        }
    }
    written
}

/// Writes what the model is told; text alone is written as such, because small servers know nothing else.
fn told(parts: &[Part]) -> Option<Value> {
    if parts.is_empty() {
        return None;
    }
    let content = if parts.iter().any(|part| matches!(part, Part::Image(_))) {
        parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => json!({"type": "text", "text": text}),
                Part::Image(image) => json!({"type": "image_url", "image_url": {"url": data_url(image)}}),
            })
            .collect()
    } else {
        json!(texts(parts))
    };
    Some(json!({"role": "user", "content": content}))
}

fn texts(parts: &[Part]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image(_) => None,
        })
        .collect();
    texts.join("\n")
}

fn data_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.media.word(), STANDARD.encode(&image.bytes))
}

fn said(pieces: &[Piece]) -> Option<Value> {
    let mut text = String::new();
    let mut calls = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(more) => text.push_str(more),
            Piece::Call(call) => calls.push(called(call)),
            Piece::Thought(_) => {}
        }
    }
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    Some(message)
}

fn called(call: &ToolCall) -> Value {
    let function = json!({"name": call.name, "arguments": sent_back(&call.arguments).to_string()});
    json!({"id": call.id, "type": "function", "function": function})
}

fn result(result: &ToolResult) -> Value {
    let mut text = texts(&result.parts);
    if result.is_error && !text.to_lowercase().starts_with("error") {
        // This format has no other way to say that something failed.
        text.insert_str(0, "error: ");
    }
    json!({"role": "tool", "tool_call_id": result.call, "content": text})
}
