//! Summarizers: who puts the output of a step in short for the agents that need it.

use super::Later;
use abide_core::event::RunId;
use abide_core::model::Usage;

/// An output that is to be put in short. No part of it holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongOutput {
    /// The run that it belongs to.
    pub run: RunId,
    /// The step that left it.
    pub step: String,
    /// The agent that did the step, if one did: its model is asked.
    pub agent: Option<String>,
    /// How it is to be condensed, where the step says it.
    pub instruction: Option<String>,
    /// The output, or its start and its end.
    pub text: String,
    /// Whether the middle was left out.
    pub cut: bool,
}

/// An output in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The summary.
    pub text: String,
    /// The model that wrote it.
    pub model: String,
    /// What was used of it.
    pub usage: Usage,
}

/// Puts outputs in short.
///
/// Contract:
/// - The summary is not empty, and bounded.
/// - Dropping the future ends the question: nothing is paid for that nobody wants.
pub trait Summarizer: Send + Sync + 'static {
    /// Puts an output in short. The error says why it could not be done.
    fn summarize(&self, output: LongOutput) -> Later<Result<Summary, String>>;

    /// Returns why nothing that this agent left (or that no agent left) can be summarized here, and what to do about that.
    fn unusable(&self, agent: Option<&str>) -> Option<String>;
}
