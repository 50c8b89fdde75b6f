//! The answer of a model while it comes: put together, bounded, and told on.

use abide_core::model::{Arguments, Piece, Thought, ToolCall, Usage};
use abide_core::value::Value;
use abide_engine::port::{AnswerEnd, ModelAnswer, ModelEvent};
use abide_formats::json;
use std::borrow::Cow;

/// The tool that a model gives its final answer with, where a provider has no other way to ask for one by a schema.
pub(crate) const ANSWER_TOOL: &str = "abide_answer";

/// Why an answer that comes cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Broken {
    /// It is not what it should be.
    Malformed(String),
    /// It is too long.
    TooLong,
    /// The provider says in the middle that something is wrong.
    Failed {
        /// The provider's word for it.
        kind: String,
        /// What it says.
        message: String,
    },
}

/// What has come so far.
#[derive(Debug)]
pub(crate) struct Gathered {
    pieces: Vec<Piece>,
    pub(crate) usage: Usage,
    pub(crate) end: Option<AnswerEnd>,
    /// The final answer, if it came as a call.
    answer: Option<String>,
    /// How many bytes may still come.
    room: usize,
}

impl Gathered {
    pub(crate) fn new(most: usize) -> Self {
        Self { pieces: Vec::new(), usage: Usage::default(), end: None, answer: None, room: most }
    }

    /// Counts bytes that are kept.
    pub(crate) fn keep(&mut self, bytes: usize) -> Result<(), Broken> {
        self.room = self.room.checked_sub(bytes).ok_or(Broken::TooLong)?;
        Ok(())
    }

    /// Takes more text.
    pub(crate) fn text(&mut self, text: &str) -> Result<Option<ModelEvent>, Broken> {
        if text.is_empty() {
            return Ok(None);
        }
        self.keep(text.len())?;
        match self.pieces.last_mut() {
            Some(Piece::Text(known)) => known.push_str(text),
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
        Ok(Some(ModelEvent::Text(text.to_owned())))
    }

    /// Takes a thought that the provider wants back.
    pub(crate) fn thought(&mut self, thought: Thought) {
        self.pieces.push(Piece::Thought(thought));
    }

    /// Takes a whole call.
    pub(crate) fn call(&mut self, id: String, name: String, arguments: &str) -> Option<ModelEvent> {
        if name == ANSWER_TOOL {
            self.answer = Some(arguments.to_owned());
            return None;
        }
        let call = ToolCall { id, name, arguments: read_arguments(arguments) };
        self.pieces.push(Piece::Call(call.clone()));
        Some(ModelEvent::Call(call))
    }

    /// Tells whether a tool is called.
    pub(crate) fn has_calls(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Call(_)))
    }

    /// Ends the answer: returns what is still to be heard, and the whole.
    ///
    /// A final answer beside calls is early: the model has not seen their results, and will be asked again.
    pub(crate) fn finish(mut self, by_schema: bool) -> Result<(Vec<ModelEvent>, ModelAnswer), Broken> {
        let mut heard = Vec::new();
        let mut end = self.end.unwrap_or(AnswerEnd::Done);
        let mut structured = None;
        if self.has_calls() {
            if end == AnswerEnd::Done {
                end = AnswerEnd::Calls;
            }
        } else {
            if let Some(answer) = self.answer.take() {
                structured = json::parse(&answer).ok();
                heard.extend(self.text(&answer)?);
            }
            if end == AnswerEnd::Calls {
                end = AnswerEnd::Done;
            }
        }
        if by_schema && structured.is_none() && end == AnswerEnd::Done {
            let texts = self.pieces.iter().filter_map(|piece| match piece {
                Piece::Text(text) => Some(text.as_str()),
                Piece::Call(_) | Piece::Thought(_) => None,
            });
            structured = json::parse(&texts.collect::<String>()).ok();
        }
        heard.push(ModelEvent::Usage(self.usage));
        heard.push(ModelEvent::End(end));
        Ok((heard, ModelAnswer { pieces: self.pieces, structured, usage: self.usage, end }))
    }
}

/// Reads what a model wrote for a tool; nothing at all is an empty mapping.
fn read_arguments(text: &str) -> Arguments {
    if text.trim().is_empty() {
        return Arguments::Data(Value::Map(Vec::new()));
    }
    json::parse(text).map_or_else(|_| Arguments::Unreadable(text.to_owned()), Arguments::Data)
}

/// Returns the arguments of an earlier call as a provider wants them back: an object, whatever the model wrote.
pub(crate) fn sent_back(arguments: &Arguments) -> Cow<'_, Value> {
    let only = |name: &str, value: Value| Cow::Owned(Value::Map(vec![(name.to_owned(), value)]));
    match arguments {
        Arguments::Data(value @ Value::Map(_)) => Cow::Borrowed(value),
        Arguments::Data(value) => only("value", value.clone()),
        Arguments::Unreadable(text) => only("unreadable", Value::Text(text.clone())),
    }
}
