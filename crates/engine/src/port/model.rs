//! Models: who is asked in the loop of an agent, whatever serves them.

use super::Later;
pub use abide_core::model::AnswerEnd;
use abide_core::model::{Message, Piece, Retry, ToolCall, Usage};
use abide_core::value::Value;
use std::sync::Arc;

/// One question to a model: the whole conversation, and what the model may do.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// Who asks: no two that ask at the same time have the same. It makes waits differ, and is never sent.
    pub asker: String,
    /// What the provider calls the model.
    pub model: String,
    /// What the model is told before everything else; empty when there is nothing.
    pub system: Arc<str>,
    /// The conversation so far. Every call in it has a result, and it does not end with the model.
    pub messages: Arc<Vec<Message>>,
    /// The tools that the model may call.
    pub tools: Arc<[ToolOffer]>,
    /// Whether it may, must or must not call one of them.
    pub choice: ToolChoice,
    /// The JSON Schema that the final text must fit. A provider is asked to see to it; whether it did is not known.
    pub schema: Option<Value>,
    /// How long the answer may be.
    pub limits: AnswerLimits,
    /// Whether the provider is to keep what is sent, because it will be sent again.
    pub caching: Caching,
}

impl ModelRequest {
    /// Makes a question of one message.
    pub fn new(asker: impl Into<String>, model: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            asker: asker.into(),
            model: model.into(),
            system: Arc::default(),
            messages: Arc::new(vec![Message::user(prompt)]),
            tools: Arc::default(),
            choice: ToolChoice::Free,
            schema: None,
            limits: AnswerLimits::default(),
            caching: Caching::Off,
        }
    }
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOffer {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// What a model may do with the tools that it is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    Free,
    /// It must call one.
    Some,
    /// It must not call any: they are named only because the conversation has calls of them.
    None,
}

/// How long an answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimits {
    /// Tokens, as the provider counts them.
    pub tokens: u32,
    /// Bytes of everything in it; an answer that is longer is an error, and was not kept.
    pub bytes: usize,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self { tokens: 8_192, bytes: 4 << 20 }
    }
}

/// Whether a provider keeps the beginning of a conversation, where it has to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    /// It need not.
    Off,
    /// Another question with the same beginning will follow soon.
    On,
}

/// Something that is heard while a model answers.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// More text.
    Text(String),
    /// More of what it thinks.
    Thought(String),
    /// A call of a tool, whole.
    Call(ToolCall),
    /// What has been used so far by this attempt; a later one replaces an earlier one.
    Usage(Usage),
    /// Why the answer ends; nothing follows it.
    End(AnswerEnd),
    /// The attempt failed, and what was heard of it does not count: another one begins.
    Again {
        /// Why.
        because: String,
        /// After how many milliseconds.
        wait: u64,
    },
}

/// An answer as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAnswer {
    /// What the model said and wants called, in its order.
    pub pieces: Vec<Piece>,
    /// The final answer as data, if [`ModelRequest::schema`] asked for it and it is data. Whether it fits is not known.
    pub structured: Option<Value>,
    /// What was used for it, failed attempts included as far as they told.
    pub usage: Usage,
    /// Why it ended.
    pub end: AnswerEnd,
}

impl ModelAnswer {
    /// Returns the text.
    pub fn text(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Call(_) | Piece::Thought(_) => None,
        });
        texts.collect()
    }

    /// Returns the calls, in their order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Call(call) => Some(call),
            Piece::Text(_) | Piece::Thought(_) => None,
        })
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{provider}: {problem}")]
pub struct ModelError {
    /// Who was asked.
    pub provider: Box<str>,
    /// What went wrong.
    pub problem: ModelProblem,
    /// What to do about it.
    pub help: Option<String>,
    /// Whether another attempt makes sense.
    pub retry: Retry,
    /// What was used all the same, as far as it is known.
    pub usage: Usage,
}

/// What went wrong between abide and a model. No text in it holds a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelProblem {
    /// Something is missing before anybody can be asked, such as a key.
    #[error("{0}")]
    NotReady(String),
    /// The provider does not accept the key (401, 403).
    #[error("the key was not accepted: {0}")]
    Unauthorized(String),
    /// There is no such model there (404).
    #[error("no such model, or no such address: {0}")]
    UnknownModel(String),
    /// The conversation is longer than the model can take.
    #[error("the conversation is too long for the model: {0}")]
    TooLong(String),
    /// The provider refused the question as it is.
    #[error("the question was refused: {0}")]
    Refused(String),
    /// There is no money left, or no quota.
    #[error("the quota is used up: {0}")]
    OutOfQuota(String),
    /// Too many questions at once (429).
    #[error("too many requests: {0}")]
    RateLimited(String),
    /// The provider has too much to do (503, 529).
    #[error("it is overloaded: {0}")]
    Overloaded(String),
    /// The provider failed.
    #[error("it failed with status {status}: {message}")]
    Failed {
        /// The status of HTTP.
        status: u16,
        /// What it said.
        message: String,
    },
    /// Nobody answered at the address.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// It took too long.
    #[error("{0}")]
    TimedOut(TimeOut),
    /// The answer broke off.
    #[error("the answer was cut off")]
    CutOff,
    /// The answer is not what an answer looks like.
    #[error("the answer cannot be understood: {0}")]
    Malformed(String),
    /// The answer is longer than it may be.
    #[error("the answer is longer than {0} bytes")]
    TooLarge(usize),
}

/// What took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimeOut {
    /// Making a connection.
    #[error("connecting took too long")]
    Connect,
    /// The beginning of the answer.
    #[error("the answer did not begin in time")]
    Beginning,
    /// The next piece of an answer that had begun.
    #[error("the answer stopped in the middle, and nothing more came in time")]
    Silence,
    /// All of it.
    #[error("the answer went on for too long")]
    Whole,
}

/// What hears a model; the next event is handed on when its future is done.
pub type Hear = Arc<dyn Fn(ModelEvent) -> Later<()> + Send + Sync>;

/// Asks a model, once. [`crate::model::ask`] asks again where that makes sense.
///
/// Contract:
/// - What the model says is handed to `hear` as it comes, in its order; the answer holds all of it. The texts that were
///   heard, joined, are the text of the answer. [`ModelEvent::End`] is heard last, and only if there is an answer;
///   [`ModelEvent::Again`] is never heard from here.
/// - A request is sent once for each call. Nothing is sent if the future is dropped before it is first polled, and
///   dropping it later closes the connection: no tokens are paid for that nobody wants.
/// - Time and memory are bounded whatever the other side does. Time that `hear` takes is not the other side's.
/// - An answer that is not whole is an error, never a shorter answer.
/// - A key is in no event, no error and no debug output.
pub trait Model: Send + Sync + 'static {
    /// Asks for one answer.
    fn ask(&self, request: Arc<ModelRequest>, hear: Hear) -> Later<Result<ModelAnswer, ModelError>>;
}
