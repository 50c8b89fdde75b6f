//! Humans who are asked before a call is made.

use super::{Later, SessionId};
use abide_core::value::Value;

/// A call that a human must agree to.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfirmQuestion {
    /// Whose call it is.
    pub session: SessionId,
    /// The agent that wants to make it.
    pub agent: String,
    /// The tool.
    pub tool: String,
    /// What it would be given.
    pub arguments: Value,
    /// Why somebody is asked.
    pub why: String,
}

/// What a human says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confirmation {
    /// It may be made.
    Yes {
        /// Who says so.
        by: String,
    },
    /// It may not.
    No {
        /// Who says so.
        by: String,
        /// Why, if they say.
        why: Option<String>,
    },
    /// There is nobody to ask.
    Nobody,
}

/// Asks a human about a call.
///
/// Contract:
/// - Only a human answers: nothing that the model says can be taken for a yes.
/// - A session asks one question at a time. Dropping the future takes the question back: an answer that comes
///   later counts for nothing.
/// - How long is waited is not its business: whoever asks takes silence for a no.
pub trait Confirm: Send + Sync + 'static {
    /// Asks, and waits for the answer.
    fn confirm(&self, question: ConfirmQuestion) -> Later<Confirmation>;
}

/// Where no human can be asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyToAsk;

impl Confirm for NobodyToAsk {
    fn confirm(&self, _: ConfirmQuestion) -> Later<Confirmation> {
        Box::pin(std::future::ready(Confirmation::Nobody))
    }
}
