//! What happens to a run from outside, and why it may not.

use crate::definition::StepId;
use crate::event::{HookKey, LossDecision, NotedVerdict, Observation, RunId, StepKey, Timestamp};
use crate::model::Usage;
use smol_str::SmolStr;

/// Something that happens to a run from outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Time has passed.
    Tick {
        /// What time it is.
        now: Timestamp,
    },
    /// A human answers whether the plan may be carried out.
    AnswerPlan {
        /// Who.
        by: SmolStr,
        /// What.
        approved: bool,
        /// Why.
        comment: Option<String>,
    },
    /// A hook has ended.
    HookEnded {
        /// Which.
        hook: HookKey,
        /// What went wrong, if something did.
        error: Option<String>,
    },
    /// An attempt has ended.
    AttemptEnded {
        /// Which instance.
        key: StepKey,
        /// Which attempt.
        attempt: u32,
        /// What was seen of it.
        observation: Box<Observation>,
        /// What time it is.
        now: Timestamp,
    },
    /// A model put the output of a step in short.
    Summarized {
        /// Which.
        step: StepId,
        /// The summary.
        summary: String,
        /// The model.
        model: SmolStr,
        /// What was used of it.
        usage: Usage,
    },
    /// A human answers a question.
    Answer {
        /// Which.
        key: StepKey,
        /// The value of the chosen option.
        answer: SmolStr,
        /// Who.
        by: SmolStr,
        /// Why.
        comment: Option<String>,
        /// What time it is.
        now: Timestamp,
    },
    /// Somebody asks for the end.
    Cancel {
        /// Who.
        by: SmolStr,
        /// Why.
        reason: Option<String>,
    },
    /// A driver takes over a run whose last driver is gone.
    Recover {
        /// Attempts whose runner hands them out again: the worker remembers how far it came.
        again: Vec<StepKey>,
    },
    /// A human says what to do with a lost attempt.
    Resolve {
        /// Which.
        key: StepKey,
        /// Who.
        by: SmolStr,
        /// What.
        decision: LossDecision,
    },
    /// Somebody read what the gate noted about the run's session.
    TakeVerdicts {
        /// Each with how much of the notes ends with it, in their order.
        noted: Vec<(u64, NotedVerdict)>,
    },
}

/// Why a command may not happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The run is over.
    #[error("run {run} is over: it {status}")]
    Finished {
        /// The run.
        run: RunId,
        /// How it ended, as a verb.
        status: &'static str,
    },
    /// The run is already ending.
    #[error("run {0} is already ending")]
    Ending(RunId),
    /// Nobody asked for a plan approval, or it has been answered.
    #[error("run {0} does not wait for its plan to be approved")]
    NoPlan(RunId),
    /// Nobody asked this question, or it has been answered.
    #[error("`{key}` does not wait for an answer")]
    NoQuestion {
        /// Which.
        key: StepKey,
    },
    /// It was answered before.
    #[error("`{key}` was already answered with `{answer}`{}", .by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default())]
    Answered {
        /// Which.
        key: StepKey,
        /// How.
        answer: SmolStr,
        /// By whom.
        by: Option<SmolStr>,
    },
    /// The time for it was over.
    #[error("the time to answer `{key}` is over")]
    Late {
        /// Which.
        key: StepKey,
    },
    /// Not one of the options.
    #[error("`{answer}` is not an answer to `{key}`: the answers are {options}")]
    NoOption {
        /// Which.
        key: StepKey,
        /// What was answered.
        answer: SmolStr,
        /// What could be.
        options: String,
    },
    /// Somebody else must answer.
    #[error("{by} may not answer `{key}`: only {approvers} may")]
    NotAnApprover {
        /// Which.
        key: StepKey,
        /// Who.
        by: SmolStr,
        /// Who may.
        approvers: String,
    },
    /// Whoever started a run does not approve it where approvers are named.
    #[error("{by} started this run and may not answer `{key}`")]
    OwnRun {
        /// Which.
        key: StepKey,
        /// Who.
        by: SmolStr,
    },
    /// There is no such step or item.
    #[error("there is no step `{0}` in this run")]
    NoStep(StepKey),
    /// The attempt is not the one under way.
    #[error("attempt {attempt} of `{key}` is not under way")]
    NotUnderWay {
        /// Which.
        key: StepKey,
        /// Which attempt.
        attempt: u32,
    },
    /// The step was not lost.
    #[error("`{0}` was not interrupted")]
    NotLost(StepKey),
    /// The hook is not the one under way.
    #[error("{0} is not under way")]
    NoHook(HookKey),
}
