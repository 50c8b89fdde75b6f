//! The formats in which clients talk to models. Each reads a request and writes a turn, streamed or whole.

mod anthropic;
mod chat;
mod responses;

use super::request::kind;
use super::{Kind, Message, Request, Role, Tokens, Tool, ToolCall, Turn};
use serde_json::{Value, json};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// `POST /v1/messages`.
    AnthropicMessages,
    /// `POST /v1/chat/completions`.
    ChatCompletions,
    /// `POST /v1/responses`.
    Responses,
}

/// What a format takes out of a body.
#[derive(Debug, Default)]
struct Content {
    system: Vec<String>,
    messages: Vec<Message>,
    tools: Vec<Tool>,
}

/// What an answer is made of.
#[derive(Debug)]
struct Answer<'a> {
    request: &'a Request,
    turn: &'a Turn,
    /// How many answers came before: it makes every id unlike all others.
    number: usize,
}

impl Wire {
    /// Returns the format that a path is for.
    pub(super) fn of(path: &str) -> Option<Self> {
        let ends = |end: &str| path.ends_with(end);
        if ends("/messages") {
            Some(Self::AnthropicMessages)
        } else if ends("/chat/completions") {
            Some(Self::ChatCompletions)
        } else if ends("/responses") {
            Some(Self::Responses)
        } else {
            None
        }
    }

    /// Reads a request.
    pub(super) fn read(self, headers: Vec<(String, String)>, body: Value) -> Request {
        let content = match self {
            Self::AnthropicMessages => anthropic::read(&body),
            Self::ChatCompletions => chat::read(&body),
            Self::Responses => responses::read(&body),
        };
        let mut request = Request {
            wire: self,
            kind: Kind::Turn,
            system: content.system.join("\n"),
            messages: content.messages,
            tools: content.tools,
            stream: body["stream"] == true,
            headers: headers.into_iter().filter(|(name, _)| !CREDENTIALS.contains(&name.as_str())).collect(),
            body,
        };
        request.kind = kind(&request);
        request
    }

    /// Writes an answer as server-sent events.
    pub(super) fn events(self, request: &Request, turn: &Turn, number: usize) -> Vec<String> {
        let answer = Answer { request, turn, number };
        match self {
            Self::AnthropicMessages => anthropic::events(&answer),
            Self::ChatCompletions => chat::events(&answer),
            Self::Responses => responses::events(&answer),
        }
    }

    /// Writes an answer as one document.
    pub(super) fn whole(self, request: &Request, turn: &Turn, number: usize) -> Value {
        let answer = Answer { request, turn, number };
        match self {
            Self::AnthropicMessages => anthropic::whole(&answer),
            Self::ChatCompletions => chat::whole(&answer),
            Self::Responses => responses::whole(&answer),
        }
    }

    /// Writes an error in the shape that clients of this format know.
    pub(super) fn error(self, kind: &str, message: &str) -> Value {
        let error = json!({"type": kind, "message": message});
        match self {
            Self::AnthropicMessages => json!({"type": "error", "error": error}),
            Self::ChatCompletions | Self::Responses => json!({"error": error}),
        }
    }
}

impl Wire {
    /// Writes an error as an event in the middle of an answer.
    pub(super) fn failure(self, kind: &str, message: &str) -> String {
        match self {
            Self::AnthropicMessages => event(&self.error(kind, message)),
            Self::ChatCompletions => format!("data: {}\n\n", self.error(kind, message)),
            Self::Responses => {
                event(&json!({"type": "error", "code": kind, "message": message, "sequence_number": 0}))
            }
        }
    }
}

/// Headers that are not kept.
const CREDENTIALS: &[&str] = &["authorization", "x-api-key", "cookie"];

impl Answer<'_> {
    /// Makes the id of the answer itself.
    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_scripted_{}", self.number)
    }

    /// Makes the id of one of its parts.
    fn part(&self, prefix: &str, position: usize) -> String {
        format!("{prefix}_scripted_{}_{position}", self.number)
    }

    fn model(&self) -> &Value {
        &self.request.body["model"]
    }

    /// Returns the tokens that went in and out: as the script says, or a guess that grows with the text.
    fn tokens(&self) -> Tokens {
        self.turn.tokens.unwrap_or_else(|| {
            let calls: usize = self.turn.calls.iter().map(|call| call.name.len() + inputs(call).len()).sum();
            let told: usize = self.request.messages.iter().map(|message| message.text.len()).sum();
            let guess = |bytes: usize| u64::try_from(bytes / 4 + 1).unwrap_or(u64::MAX);
            Tokens {
                input: guess(self.request.system.len() + told),
                output: guess(self.turn.text.len() + calls),
                ..Tokens::default()
            }
        })
    }

    /// Finds how the client offers a tool that the model calls.
    fn offered(&self, call: &ToolCall) -> Option<&Tool> {
        self.request.tools.iter().find(|tool| tool.name == call.name)
    }
}

/// Writes a call's arguments.
fn inputs(call: &ToolCall) -> String {
    match &call.arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Cuts a text as a model streams it: in pieces that fit no word boundary, not too many of them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let length = (text.len() / 200).max(7);
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = (length.min(rest.len())..=rest.len()).find(|end| rest.is_char_boundary(*end))?;
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

/// Writes one server-sent event that names its type, as the formats other than Chat Completions do.
fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

/// Reads what is a text, or a list of parts with texts.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(texts).filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        Value::Object(part) => {
            part.get("text").or_else(|| part.get("content")).map(texts).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Reads arguments that are written as a text of JSON.
fn arguments(value: &Value) -> Value {
    value.as_str().map_or_else(
        || value.clone(),
        |text| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
    )
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn said(role: Role, text: String) -> Message {
    Message { role, text, calls: Vec::new(), results: Vec::new() }
}

fn role(name: &Value) -> Role {
    match name.as_str() {
        Some("assistant") => Role::Assistant,
        Some("system" | "developer") => Role::System,
        Some("tool") => Role::Tool,
        _ => Role::User,
    }
}
