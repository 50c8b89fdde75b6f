//! A question in the words of OpenAI Chat Completions.
//!
//! It is written straight from the conversation: a long one is sent again with every answer, and a copy of all of it as
//! JSON values would cost more than everything else that the loop does.

use crate::gathered::sent_back;
use abide_core::model::{Image, Message, Part, Piece, ToolResult};
use abide_engine::port::{ModelRequest, ToolChoice, ToolOffer};
use abide_formats::json::Written;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use std::borrow::Cow;

/// A question; `official` is whether it goes to OpenAI itself, which has given up the word for the limit that everybody
/// else still knows.
pub(crate) struct Body<'a> {
    pub(crate) request: &'a ModelRequest,
    pub(crate) official: bool,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { request, official } = self;
        let mut body = to.serialize_map(None)?;
        body.serialize_entry("model", &request.model)?;
        body.serialize_entry("stream", &true)?;
        body.serialize_entry("stream_options", &Entries([("include_usage", true)]))?;
        body.serialize_entry("messages", &Messages(request))?;
        let limit = if *official { "max_completion_tokens" } else { "max_tokens" };
        body.serialize_entry(limit, &request.limits.tokens)?;
        if !request.tools.is_empty() {
            body.serialize_entry("tools", &Each(&request.tools, tool))?;
            match request.choice {
                // Said by saying nothing: some servers know no word for it.
                ToolChoice::Free => {}
                ToolChoice::Some => body.serialize_entry("tool_choice", "required")?,
                ToolChoice::None => body.serialize_entry("tool_choice", "none")?,
            }
        }
        if let Some(schema) = &request.schema {
            let wanted = Two(("name", "answer"), ("schema", Written(schema)));
            body.serialize_entry("response_format", &Two(("type", "json_schema"), ("json_schema", wanted)))?;
        }
        body.end()
    }
}

/// A mapping whose values are alike.
struct Entries<V, const N: usize>([(&'static str, V); N]);

impl<V: Serialize, const N: usize> Serialize for Entries<V, N> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A mapping of two.
struct Two<A, B>((&'static str, A), (&'static str, B));

impl<A: Serialize, B: Serialize> Serialize for Two<A, B> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(2))?;
        map.serialize_entry(self.0.0, &self.0.1)?;
        map.serialize_entry(self.1.0, &self.1.1)?;
        map.end()
    }
}

/// A list, each item as it is written.
struct Each<'a, T, W>(&'a [T], fn(&'a T) -> W);

impl<T, W: Serialize> Serialize for Each<'_, T, W> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(self.1))
    }
}

fn tool(tool: &ToolOffer) -> impl Serialize {
    let (name, description) = (("name", &tool.name), ("description", &tool.description));
    let function = Three(name, description, ("parameters", Written(&tool.schema)));
    Two(("type", "function"), ("function", function))
}

struct Messages<'a>(&'a ModelRequest);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut written = to.serialize_seq(None)?;
        if !self.0.system.trim().is_empty() {
            written.serialize_element(&Entries([("role", "system"), ("content", &*self.0.system)]))?;
        }
        for message in self.0.messages.iter() {
            match message {
                Message::User(parts) if parts.is_empty() => {}
                Message::User(parts) => written.serialize_element(&Told(parts))?,
                Message::Model(pieces) => {
                    let said = Said::of(pieces);
                    if !said.is_empty() {
                        written.serialize_element(&said)?;
                    }
                }
                Message::Results(results) => {
                    for result in results {
                        written.serialize_element(&Answered(result))?;
                    }
                    // A tool's message holds text alone, so its pictures follow as the user's.
                    let pictures: Vec<Part> = results
                        .iter()
                        .flat_map(|result| &result.parts)
                        .filter(|part| matches!(part, Part::Image(_)))
                        .cloned()
                        .collect();
                    if !pictures.is_empty() {
                        written.serialize_element(&Told(&pictures))?;
                    }
                }
            }
        }
        written.end()
    }
}

/// What the model is told; text alone is written as such, because small servers know nothing else.
struct Told<'a>(&'a [Part]);

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.iter().any(|part| matches!(part, Part::Image(_))) {
            Two(("role", "user"), ("content", Each(self.0, PartOf))).serialize(to)
        } else {
            Two(("role", "user"), ("content", texts(self.0))).serialize(to)
        }
    }
}

struct PartOf<'a>(&'a Part);

impl Serialize for PartOf<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Part::Text(text) => Entries([("type", "text"), ("text", text)]).serialize(to),
            Part::Image(image) => {
                let url = Entries([("url", data_url(image))]);
                Two(("type", "image_url"), ("image_url", url)).serialize(to)
            }
        }
    }
}

fn texts(parts: &[Part]) -> Cow<'_, str> {
    if let [Part::Text(text)] = parts {
        return Cow::Borrowed(text);
    }
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image(_) => None,
        })
        .collect();
    Cow::Owned(texts.join("\n"))
}

fn data_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.media.word(), STANDARD.encode(&image.bytes))
}

/// What the model has said: its text, and its calls.
struct Said<'a> {
    text: Cow<'a, str>,
    pieces: &'a [Piece],
    calls: bool,
}

impl<'a> Said<'a> {
    fn of(pieces: &'a [Piece]) -> Self {
        let mut text = Cow::Borrowed("");
        for piece in pieces {
            match piece {
                Piece::Text(more) if text.is_empty() => text = Cow::Borrowed(more),
                Piece::Text(more) => text.to_mut().push_str(more),
                Piece::Call(_) | Piece::Thought(_) => {}
            }
        }
        let calls = pieces.iter().any(|piece| matches!(piece, Piece::Call(_)));
        Self { text, pieces, calls }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && !self.calls
    }
}

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        map.serialize_entry("content", &self.text)?;
        if self.calls {
            map.serialize_entry("tool_calls", &Calls(self.pieces))?;
        }
        map.end()
    }
}

struct Calls<'a>(&'a [Piece]);

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut calls = to.serialize_seq(None)?;
        for piece in self.0 {
            if let Piece::Call(call) = piece {
                let arguments = sent_back(&call.arguments).to_json();
                let function = Entries([("name", call.name.as_str()), ("arguments", &arguments)]);
                calls.serialize_element(&Three(
                    ("id", &call.id),
                    ("type", "function"),
                    ("function", function),
                ))?;
            }
        }
        calls.end()
    }
}

/// A mapping of three.
struct Three<A, B, C>((&'static str, A), (&'static str, B), (&'static str, C));

impl<A: Serialize, B: Serialize, C: Serialize> Serialize for Three<A, B, C> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(3))?;
        map.serialize_entry(self.0.0, &self.0.1)?;
        map.serialize_entry(self.1.0, &self.1.1)?;
        map.serialize_entry(self.2.0, &self.2.1)?;
        map.end()
    }
}

struct Answered<'a>(&'a ToolResult);

impl Serialize for Answered<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut text = texts(&self.0.parts);
        if self.0.is_error && !text.to_lowercase().starts_with("error") {
            // This format has no other way to say that something failed.
            text.to_mut().insert_str(0, "error: ");
        }
        Entries([("role", "tool"), ("tool_call_id", self.0.call.as_str()), ("content", &text)]).serialize(to)
    }
}
