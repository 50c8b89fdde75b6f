//! A question in the words of Anthropic Messages.

use crate::gathered::{ANSWER_TOOL, sent_back};
use abide_core::model::{Image, Message, Part, Piece, Thought, ToolResult};
use abide_engine::port::{Caching, ModelRequest, ToolChoice};
use abide_formats::json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Writes a question.
pub(crate) fn body(request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": request.model,
        "max_tokens": request.limits.tokens,
        "stream": true,
        "messages": messages(request),
    });
    if !request.system.trim().is_empty() {
        let mut system = json!({"type": "text", "text": &*request.system});
        if request.caching == Caching::On {
            system["cache_control"] = json!({"type": "ephemeral"});
        }
        body["system"] = json!([system]);
    }
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "input_schema": json::to_json(&tool.schema),
            })
        })
        .collect();
    let offered = !tools.is_empty();
    if let Some(schema) = &request.schema {
        tools.push(json!({
            "name": ANSWER_TOOL,
            "description": "Gives the final answer. Call it once, alone, when everything else is done.",
            "input_schema": json::to_json(schema),
        }));
    }
    if !tools.is_empty() {
        // Without a system prompt the tools are the longest beginning that stays the same.
        if request.caching == Caching::On
            && request.system.trim().is_empty()
            && let Some(last) = tools.last_mut()
        {
            last["cache_control"] = json!({"type": "ephemeral"});
        }
        body["tools"] = json!(tools);
        body["tool_choice"] = match (&request.schema, &request.choice) {
            (Some(_), ToolChoice::None) => json!({"type": "tool", "name": ANSWER_TOOL}),
            (Some(_), _) if !offered => json!({"type": "tool", "name": ANSWER_TOOL}),
            (None, ToolChoice::None) => json!({"type": "none"}),
            (_, ToolChoice::Some) => json!({"type": "any"}),
            (_, ToolChoice::Free) => json!({"type": "auto"}),
        };
    }
    body
}

/// Writes the conversation: neighbours of one role become one message, because roles have to take turns.
fn messages(request: &ModelRequest) -> Vec<Value> {
    let mut written: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in request.messages.iter() {
        let (role, content) = match message {
            Message::User(parts) => ("user", parts.iter().filter_map(part).collect()),
            Message::Model(pieces) => ("assistant", pieces.iter().filter_map(piece).collect()),
            Message::Results(results) => ("user", results.iter().map(result).collect()),
        };
        match written.last_mut() {
            Some((known, earlier)) if *known == role => earlier.extend::<Vec<Value>>(content),
            _ => written.push((role, content)),
        }
    }
    written.retain(|(_, content)| !content.is_empty());
    if request.caching == Caching::On {
        // The last two things that the model is told: the next question finds one of them in the cache.
        let told = written.iter_mut().rev().filter(|(role, _)| *role == "user").take(2);
        for block in told.filter_map(|(_, content)| content.last_mut()) {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
    }
    written.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

/// Writes a part; a text of nothing but spaces is refused by the provider, and says nothing.
fn part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Image(image) => Some(picture(image)),
    }
}

fn picture(image: &Image) -> Value {
    let source = json!({
        "type": "base64",
        "media_type": image.media.word(),
        "data": STANDARD.encode(&image.bytes),
    });
    json!({"type": "image", "source": source})
}

fn piece(piece: &Piece) -> Option<Value> {
    match piece {
        Piece::Text(text) if text.trim().is_empty() => None,
        Piece::Text(text) => Some(json!({"type": "text", "text": text.trim_end()})),
        Piece::Call(call) => Some(json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": json::to_json(&sent_back(&call.arguments)),
        })),
        Piece::Thought(Thought::Open { seal, .. }) if seal.is_empty() => None,
        Piece::Thought(Thought::Open { text, seal }) => {
            Some(json!({"type": "thinking", "thinking": text, "signature": seal}))
        }
        Piece::Thought(Thought::Sealed(data)) => Some(json!({"type": "redacted_thinking", "data": data})),
    }
}

fn result(result: &ToolResult) -> Value {
    let content: Vec<Value> = result.parts.iter().filter_map(part).collect();
    let mut block = json!({"type": "tool_result", "tool_use_id": result.call, "content": content});
    if result.is_error {
        block["is_error"] = json!(true);
    }
    block
}
