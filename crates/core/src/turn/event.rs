//! The vocabulary of a session's log: everything that can happen in a conversation.

use super::{Exhausted, Spent};
use crate::definition::words;
use crate::model::{AnswerEnd, Cost, Part, Piece, Usage};
use crate::value::Value;

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEvent {
    /// The session exists.
    Created(Box<SessionCreated>),
    /// The model is told something, and a turn begins.
    Told {
        /// What.
        parts: Vec<Part>,
        /// What the teller calls this turn, to know it again after a crash: an attempt of a step has its number here.
        label: Option<String>,
    },
    /// The model is asked; without an answer after it, nobody knows whether it was paid for.
    Asked,
    /// The model answered.
    Answered(Box<Answered>),
    /// What was decided about a call; calls are counted from 0 within the last answer.
    Decided {
        /// Which call.
        call: u32,
        /// What.
        decision: Decision,
    },
    /// A call that must not be made twice is about to be made; written before anything is done.
    Started {
        /// Which call.
        call: u32,
    },
    /// A call that was made has come to its end.
    Result {
        /// Which call.
        call: u32,
        /// What came of it.
        outcome: Outcome,
    },
    /// The model wanted to end its turn, and may not yet: it is told what is left, and goes on.
    Held {
        /// What it is told.
        why: String,
    },
    /// The turn is over.
    Ended(TurnEnd),
    /// The beginning of the conversation was replaced by a summary.
    Compacted(Compacted),
    /// Something was used that stands in no answer of this session.
    Charged(Charged),
}

words! {
    /// What kind of thing happened, as the log calls it.
    EventKind {
        /// [`TurnEvent::Created`]
        Created = "session.created",
        /// [`TurnEvent::Told`]
        Told = "message.told",
        /// [`TurnEvent::Asked`]
        Asked = "model.asked",
        /// [`TurnEvent::Answered`]
        Answered = "model.answered",
        /// [`TurnEvent::Decided`]
        Decided = "tool.decided",
        /// [`TurnEvent::Started`]
        Started = "tool.started",
        /// [`TurnEvent::Result`]
        Result = "tool.answered",
        /// [`TurnEvent::Held`]
        Held = "turn.held",
        /// [`TurnEvent::Ended`]
        Ended = "turn.ended",
        /// [`TurnEvent::Compacted`]
        Compacted = "session.compacted",
        /// [`TurnEvent::Charged`]
        Charged = "turn.charged",
    }
}

impl TurnEvent {
    /// Returns what kind of event it is.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::Created(_) => EventKind::Created,
            Self::Told { .. } => EventKind::Told,
            Self::Asked => EventKind::Asked,
            Self::Answered(_) => EventKind::Answered,
            Self::Decided { .. } => EventKind::Decided,
            Self::Started { .. } => EventKind::Started,
            Self::Result { .. } => EventKind::Result,
            Self::Held { .. } => EventKind::Held,
            Self::Ended(_) => EventKind::Ended,
            Self::Compacted(_) => EventKind::Compacted,
            Self::Charged(_) => EventKind::Charged,
        }
    }
}

/// What a session is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionCreated {
    /// The agent that talks.
    pub agent: String,
    /// The model that it began with, as `provider/model`.
    pub model: String,
    /// The session whose call made this one.
    pub parent: Option<String>,
    /// The run that it works for.
    pub run: Option<String>,
    /// The step of that run.
    pub step: Option<String>,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// What it said and wants called, in its order. No two calls have the same id.
    pub pieces: Vec<Piece>,
    /// The final answer as data, if it was asked for.
    pub structured: Option<Value>,
    /// What was used for it.
    pub usage: Usage,
    /// What that cost when it was asked.
    pub cost: Cost,
    /// Why it ended.
    pub end: AnswerEnd,
}

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may be made.
    Allowed {
        /// What the model is told beside the result.
        note: Option<String>,
    },
    /// A human is asked.
    Asked {
        /// What about.
        why: String,
    },
    /// A human said yes.
    Confirmed {
        /// Who.
        by: String,
    },
    /// It is not made, and the model is told why.
    Denied {
        /// What was against it.
        check: Check,
        /// Why, for the model.
        why: String,
    },
}

words! {
    /// What a call is held to, in the order in which it is looked at.
    Check {
        /// The same call came too often.
        Repeats = "repeats",
        /// There is such a tool.
        Exists = "exists",
        /// The policy and the gate.
        Policy = "policy",
        /// A human.
        Human = "human",
        /// The schema of the arguments.
        Arguments = "arguments",
    }
}

/// What was used by something that is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charged {
    /// The call of the last answer that asked others, whose sessions have the answers; without one, a question of this session
    /// that was paid for and has no answer.
    pub call: Option<u32>,
    /// What was used, and how many answers there were.
    pub spent: Spent,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What the model is told.
    pub parts: Vec<Part>,
    /// The word for what went wrong, if something did.
    pub error: Option<String>,
    /// What only the log is told, such as the reason of an internal error.
    pub detail: Option<String>,
}

impl Outcome {
    /// The word for a call of which nobody knows whether it was made.
    pub const UNKNOWN: &str = "unknown";

    /// Makes the outcome of a call that went well.
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())], error: None, detail: None }
    }

    /// Makes the outcome of a call that did not.
    pub fn error(code: impl Into<String>, text: impl Into<String>) -> Self {
        Self { error: Some(code.into()), ..Self::text(text) }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model gave its final answer.
    Finished,
    /// Something that it may use ran out.
    OutOfBudget(Exhausted),
    /// It was told to end.
    Cancelled,
    /// It could not go on.
    Failed {
        /// Why.
        why: String,
    },
}

impl std::fmt::Display for TurnEnd {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Finished => out.write_str("finished"),
            Self::OutOfBudget(what) => what.fmt(out),
            Self::Cancelled => out.write_str("cancelled"),
            Self::Failed { why } => out.write_str(why),
        }
    }
}

/// How a conversation was made shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// How many messages from the beginning are replaced; what the active turn was told stays.
    pub upto: u32,
    /// What stands there instead.
    pub summary: String,
    /// Whether the model wrote it, or it is only what was said first and last.
    pub by_model: bool,
    /// What was used for it.
    pub usage: Usage,
    /// What that cost.
    pub cost: Cost,
}
