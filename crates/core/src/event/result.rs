//! What came of an attempt.

use crate::model::{Cost, Usage};
use crate::turn::Spent;
use crate::value::Value;
use smol_str::SmolStr;

/// What later steps, views and humans see of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepResult {
    /// What it wrote or answered, decoded and masked; bounded, the whole is in the log store.
    pub output: Output,
    /// What it wrote to standard error.
    pub stderr: Output,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// Its output as data, where a schema asked for it.
    pub json: Option<Value>,
    /// The answer to a question.
    pub answer: Option<SmolStr>,
    /// Who answered.
    pub by: Option<SmolStr>,
    /// Why.
    pub comment: Option<String>,
    /// The child run.
    pub run: Option<super::RunId>,
    /// What a model was used for it, where its runner says so; a summary of it counts, too.
    pub usage: Option<Usage>,
    /// What the model's answers cost, where the prices are known.
    pub cost: Cost,
    /// How often a model answered, where its runner says so.
    pub turns: u32,
    /// Its output in short, once a model was asked for that.
    pub summary: Option<String>,
}

impl StepResult {
    /// Returns what was used of models.
    pub fn spent(&self) -> Spent {
        Spent { usage: self.usage.unwrap_or_default(), cost: self.cost, turns: self.turns }
    }
}

/// A text that may be the beginning and the end of a longer one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The text.
    pub text: String,
    /// How many bytes there were.
    pub bytes: u64,
    /// Whether the middle was left out.
    pub cut: bool,
}

impl Output {
    /// Wraps a text that is whole.
    pub fn whole(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { bytes: text.len() as u64, text, cut: false }
    }
}

/// What was seen of an attempt from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// How it ended.
    pub end: ProcessEnd,
    /// What came of it.
    pub result: StepResult,
    /// The evidence that is missing, each as a sentence.
    pub missing: Vec<String>,
}

/// How the process or the agent of an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEnd {
    /// By itself.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    /// Its time was over.
    TimedOut,
    /// It was told to.
    Cancelled,
    /// It could not be started.
    NotStarted(String),
    /// What executes it gave up, for this reason.
    Failed(String),
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttemptFailure {
    /// An exit code that does not count as success.
    #[error("it exited with code {0}")]
    ExitCode(i32),
    /// A signal.
    #[error("it was ended by signal {0}")]
    Signal(i32),
    /// The step's time was over.
    #[error("it ran out of time")]
    TimedOut,
    /// It could not be started.
    #[error("it could not be started: {0}")]
    NotStarted(String),
    /// Its runner gave up.
    #[error("its runner failed: {0}")]
    Runner(String),
    /// The evidence does not hold.
    #[error("evidence is missing: {}", .0.join("; "))]
    Evidence(Vec<String>),
    /// A template or a condition could not be evaluated.
    #[error("{0}")]
    Expression(String),
    /// `repeat.until` did not hold in the end.
    #[error("`until` did not hold after {0} runs")]
    Until(u32),
    /// The child run did not complete.
    #[error("the ability that it called {0}")]
    Child(String),
    /// A human counted a lost attempt as failed.
    #[error("its driver was lost, and {0} counted it as failed")]
    Lost(SmolStr),
}
