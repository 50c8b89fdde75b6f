//! The vocabulary of the log: everything that can happen to a run.
//!
//! Events are the only thing that is stored about a run. Each says what happened *and what follows from it*
//! (a failed attempt carries whether it is tried again, and when), so an old log means the same under newer
//! rules. Times are in the events that need them; nothing here reads a clock.

mod key;
mod result;
mod trace;
mod verdict;

pub use key::{HookKey, HookPhase, RunId, StepKey, Timestamp};
pub use result::{AttemptFailure, Observation, Output, ProcessEnd, StepResult};
pub use trace::TraceParent;
pub use verdict::{GivenVerdict, NotedVerdict, VerdictAnswer};

use crate::definition::StepId;
use crate::model::Usage;
use crate::value::Value;
use smol_str::SmolStr;

/// Something that happened to a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The run exists.
    Created(Box<Created>),
    /// A human answered whether the plan may be carried out.
    PlanAnswered {
        /// Who.
        by: SmolStr,
        /// What.
        approved: bool,
        /// Why.
        comment: Option<String>,
    },
    /// A hook was started.
    HookStarted {
        /// Which.
        hook: HookKey,
    },
    /// A hook ended.
    HookEnded {
        /// Which.
        hook: HookKey,
        /// What went wrong, if something did.
        error: Option<String>,
    },
    /// A step will not be done.
    StepSkipped {
        /// Which.
        step: StepId,
        /// Why.
        why: Skip,
    },
    /// A `for_each` step has its instances.
    StepExpanded {
        /// Which.
        step: StepId,
        /// The items, each with the label of its instance.
        items: Vec<(SmolStr, Value)>,
    },
    /// An attempt begins; written before anything is done.
    AttemptStarted {
        /// Which instance.
        key: StepKey,
        /// Counted from 1.
        attempt: u32,
        /// When it is ended if it is not done.
        deadline: Option<Timestamp>,
    },
    /// An attempt ended well.
    AttemptSucceeded {
        /// Which instance.
        key: StepKey,
        /// Which attempt.
        attempt: u32,
        /// What came of it.
        result: StepResult,
        /// When it is run again, because `repeat.until` does not hold yet.
        again: Option<Timestamp>,
    },
    /// An attempt ended badly.
    AttemptFailed {
        /// Which instance.
        key: StepKey,
        /// Which attempt.
        attempt: u32,
        /// Why.
        failure: AttemptFailure,
        /// What came of it all the same.
        result: StepResult,
        /// What follows.
        then: Then,
    },
    /// An attempt was ended because the run is.
    AttemptCancelled {
        /// Which instance.
        key: StepKey,
        /// Which attempt.
        attempt: u32,
    },
    /// The driver of an attempt is gone, and nobody knows how far the attempt came.
    AttemptLost {
        /// Which instance.
        key: StepKey,
        /// Which attempt.
        attempt: u32,
        /// Whether it may simply be run again.
        rerun: bool,
    },
    /// A human said what to do with a lost attempt.
    LossResolved {
        /// Which instance.
        key: StepKey,
        /// Who.
        by: SmolStr,
        /// What.
        decision: LossDecision,
    },
    /// A model put the output of a step in short, for agents that need the step.
    StepSummarized {
        /// Which.
        step: StepId,
        /// The summary.
        summary: String,
        /// The model.
        model: SmolStr,
        /// What was used of it.
        usage: Usage,
    },
    /// A human is asked.
    QuestionAsked {
        /// Which instance.
        key: StepKey,
        /// What.
        question: Question,
    },
    /// A human answered.
    QuestionAnswered {
        /// Which instance.
        key: StepKey,
        /// The value of the chosen option.
        answer: SmolStr,
        /// Who.
        by: SmolStr,
        /// Why.
        comment: Option<String>,
    },
    /// Nobody answered in time; that is a no.
    QuestionExpired {
        /// Which instance.
        key: StepKey,
    },
    /// Somebody asked for the run to end.
    CancelRequested {
        /// Who.
        by: SmolStr,
        /// Why.
        reason: Option<String>,
    },
    /// The run's time is over.
    DeadlinePassed,
    /// The gate answered the agent of the run's session; the only event that may come after the end.
    VerdictNoted {
        /// How much of the notes is in the log with this one: none is taken in twice.
        until: u64,
        /// The verdict, or why there is none.
        verdict: NotedVerdict,
    },
    /// The run is over.
    Finished {
        /// How.
        status: EndStatus,
        /// Why, when it did not complete.
        error: Option<String>,
    },
}

impl Event {
    /// Returns the word that stands for it in the log.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Created(_) => "run.created",
            Self::PlanAnswered { .. } => "plan.answered",
            Self::HookStarted { .. } => "hook.started",
            Self::HookEnded { .. } => "hook.ended",
            Self::StepSkipped { .. } => "step.skipped",
            Self::StepExpanded { .. } => "step.expanded",
            Self::AttemptStarted { .. } => "step.started",
            Self::AttemptSucceeded { .. } => "step.succeeded",
            Self::AttemptFailed { .. } => "step.failed",
            Self::AttemptCancelled { .. } => "step.cancelled",
            Self::AttemptLost { .. } => "step.lost",
            Self::LossResolved { .. } => "step.resolved",
            Self::StepSummarized { .. } => "step.summarized",
            Self::QuestionAsked { .. } => "question.asked",
            Self::QuestionAnswered { .. } => "question.answered",
            Self::QuestionExpired { .. } => "question.expired",
            Self::CancelRequested { .. } => "run.cancel_requested",
            Self::DeadlinePassed => "run.deadline_passed",
            Self::VerdictNoted { verdict: NotedVerdict::Given(_), .. } => "verdict.given",
            Self::VerdictNoted { verdict: NotedVerdict::Lost(_), .. } => "verdict.lost",
            Self::Finished { .. } => "run.finished",
        }
    }
}

/// What a run is made of; it never changes afterwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Created {
    /// When.
    pub at: Timestamp,
    /// The ability's name.
    pub name: SmolStr,
    /// The ability's file, as it was: editing it later changes nothing.
    pub source: String,
    /// The digest of the source and of the files beside it that it runs.
    pub digest: SmolStr,
    /// The folder of the ability, where its scripts and hooks lie.
    pub folder: Option<String>,
    /// The project's root, where scripts run.
    pub root: String,
    /// Files beside the ability that it runs, with their digests.
    pub files: Vec<(String, SmolStr)>,
    /// The inputs, with defaults filled in; secret ones are masked.
    pub inputs: Vec<(SmolStr, Value)>,
    /// The text that triggered the run.
    pub input: String,
    /// Who started it.
    pub by: SmolStr,
    /// The session that it belongs to.
    pub session: Option<SmolStr>,
    /// The run and step that called it.
    pub parent: Option<(RunId, StepKey)>,
    /// How many runs have called each other above it.
    pub depth: u32,
    /// The run that it repeats, and the step from which on.
    pub rerun_of: Option<(RunId, StepId)>,
    /// Results that are taken over from that run.
    pub taken_over: Vec<TakenOver>,
    /// Scripts that run before the first step and after the last.
    pub hooks: Vec<HookKey>,
    /// When the run's time is over.
    pub deadline: Option<Timestamp>,
    /// Whether a human must agree to the plan first.
    pub plan_approval: bool,
    /// Whose trace it is part of.
    pub trace: Option<TraceParent>,
}

/// A step that a run takes over from the one that it repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct TakenOver {
    /// Which.
    pub step: StepId,
    /// What came of it.
    pub result: StepResult,
    /// Who skipped it, if somebody did.
    pub skipped_by: Option<SmolStr>,
    /// Why it failed, if it did and the run went on without it.
    pub failed: Option<String>,
    /// The items that failed, by their labels, and why.
    pub failed_items: Vec<(SmolStr, String)>,
    /// What came of each item of a `for_each`, with its label.
    pub items: Vec<(SmolStr, Value, StepResult)>,
}

/// Why a step is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// Its condition is false; what needs it goes on.
    When {
        /// The values that made it false.
        because: String,
    },
    /// A step that it needs was rejected, or skipped for such a reason.
    Rejected {
        /// Which.
        need: StepId,
    },
    /// A human chose to skip it after it had failed.
    Chosen {
        /// Who.
        by: SmolStr,
    },
}

/// What follows from a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It is tried again at this time.
    Retry(Timestamp),
    /// A human is asked.
    Ask,
    /// The run goes on without it.
    Continue,
    /// The run ends.
    Stop,
}

/// A question to a human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What it is about.
    pub about: QuestionKind,
    /// The question, rendered.
    pub prompt: String,
    /// The possible answers: what the human sees, and what the run sees.
    pub options: Vec<(String, SmolStr)>,
    /// Who may answer; empty when anyone may.
    pub approvers: Vec<String>,
    /// When it is answered with a no.
    pub deadline: Option<Timestamp>,
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// An approval step.
    Approval,
    /// A step that failed, with `on_failure: ask`.
    Failure,
}

/// What to do with an attempt whose driver is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossDecision {
    /// Run it again.
    Rerun,
    /// Count it as failed.
    Fail,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndStatus {
    /// Every step is done or skipped.
    Completed,
    /// A step failed or was rejected.
    Failed,
    /// Somebody ended it.
    Cancelled,
    /// Its time was over.
    TimedOut,
}

impl EndStatus {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
        }
    }
}
