//! Calls that wait for a human's yes, for every server that shares the store: any of them may be given the answer.

use super::{Confirmation, Later};

/// How many calls that wait are listed; each is answered within a minute, or never.
pub const MOST_QUESTIONS: usize = 1_000;
/// For how long a question is kept after its time, in milliseconds: whoever answers late is told so.
pub const QUESTIONS_KEPT: i64 = 60 * 60 * 1_000;

/// A question about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionRow {
    /// What it is answered by.
    pub id: String,
    /// What is asked, as whoever asks writes it.
    pub text: String,
    /// When it was asked, in milliseconds since 1970.
    pub asked_at: i64,
    /// Until when it can be answered.
    pub deadline: i64,
}

/// What a human says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallAnswer {
    /// Who says it.
    pub by: String,
    /// Whether the call may be made.
    pub approved: bool,
    /// Why not, if they say.
    pub why: Option<String>,
}

impl From<CallAnswer> for Confirmation {
    fn from(CallAnswer { by, approved, why }: CallAnswer) -> Self {
        if approved { Self::Yes { by } } else { Self::No { by, why } }
    }
}

/// How a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionState {
    /// Nobody has answered it.
    Open,
    /// It is answered, and whoever asked has not heard of it.
    Answered,
    /// Whoever asked has heard the answer: it counts.
    Taken,
}

/// What keeps the questions does not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what agents ask cannot be reached: {0}")]
pub struct QuestionsError(pub String);

/// Keeps questions about calls.
///
/// Contract:
/// - Of several answers to a question one is given, and it is taken once, by whoever asked.
/// - One that was taken back, or whose time is over, is answered by nobody and taken by nobody.
/// - `news` ends soon after something has happened to a question, wherever that was, and now and then without a reason; whatever happens
///   after it was called ends it.
pub trait Questions: Send + Sync + 'static {
    /// Asks; forgets questions whose time was over [`QUESTIONS_KEPT`] ago.
    fn ask(&self, question: QuestionRow) -> Later<Result<(), QuestionsError>>;

    /// Returns those that can be answered at a moment, in the order of their ids, at most [`MOST_QUESTIONS`].
    fn open(&self, now: i64) -> Later<Result<Vec<QuestionRow>, QuestionsError>>;

    /// Returns how a question stands; nothing if it was taken back or never asked.
    fn state(&self, id: &str) -> Later<Result<Option<QuestionState>, QuestionsError>>;

    /// Answers a question at a moment; returns whether that was the first answer, in time.
    fn answer(&self, id: &str, answer: CallAnswer, now: i64) -> Later<Result<bool, QuestionsError>>;

    /// Takes the answer, if there is one that was not taken; from then on it counts.
    fn take(&self, id: &str) -> Later<Result<Option<CallAnswer>, QuestionsError>>;

    /// Takes a question back, unless its answer was taken.
    fn withdraw(&self, id: &str) -> Later<Result<(), QuestionsError>>;

    /// Waits until something happens to a question.
    fn news(&self, id: &str) -> Later<()>;
}
