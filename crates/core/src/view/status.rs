//! How far a run is, step by step, for people.

use crate::event::StepKey;
use crate::run::{InstanceState, Run, RunStatus, StepStatus, Verdicts};

/// One line about one step or one instance of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepLine {
    /// Which.
    pub key: String,
    /// How it is.
    pub mark: Mark,
    /// What there is to say about it.
    pub note: Option<String>,
    /// How many attempts there have been.
    pub attempts: u32,
}

/// What there is to say about a run alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The ability that it is a run of.
    pub ability: String,
    /// How it is.
    pub status: RunStatus,
    /// Why it ends.
    pub error: Option<String>,
    /// What the gate answered in it.
    pub verdicts: Verdicts,
    /// Its steps.
    pub lines: Vec<StepLine>,
}

impl Page {
    /// Says it about a run.
    pub fn of(run: &Run) -> Self {
        Self {
            ability: run.created.name.to_string(),
            status: run.status(),
            error: run.ending.as_ref().and_then(|(_, error)| error.clone()),
            verdicts: run.verdicts,
            lines: step_lines(run),
        }
    }
}

/// How a step is, as a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Not begun.
    Waiting,
    /// Under way.
    Running,
    /// Waits for a human.
    Asking,
    /// Waits for a moment.
    Paused,
    /// Done.
    Completed,
    /// Failed or rejected.
    Failed,
    /// Not done, and that is fine.
    Skipped,
    /// Ended with the run.
    Cancelled,
    /// Its driver was lost.
    Lost,
}

impl Mark {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Waiting,
        Self::Running,
        Self::Asking,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Skipped,
        Self::Cancelled,
        Self::Lost,
    ];

    /// Returns the sign, which makes sense without colour.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Waiting => "·",
            Self::Running => "…",
            Self::Asking => "?",
            Self::Paused => "~",
            Self::Completed => "✓",
            Self::Failed => "✗",
            Self::Skipped => "–",
            Self::Cancelled => "○",
            Self::Lost => "!",
        }
    }
}

/// Returns a line for each step, and for each instance of a step with several.
pub fn step_lines(run: &Run) -> Vec<StepLine> {
    let mut lines = Vec::new();
    for (step, state) in run.steps.iter().enumerate() {
        let several = state.instances.iter().any(|instance| instance.label.is_some());
        if several {
            for (position, instance) in state.instances.iter().enumerate() {
                lines.push(StepLine {
                    key: run.key(step, position).to_string(),
                    mark: of_instance(&instance.state),
                    note: instance.error.clone().filter(|_| instance.state != InstanceState::Completed),
                    attempts: instance.attempt,
                });
            }
            continue;
        }
        let mark = match (&state.status, state.instances.first()) {
            (StepStatus::Open, Some(instance)) => of_instance(&instance.state),
            (StepStatus::Waiting | StepStatus::Open, _) => Mark::Waiting,
            (StepStatus::Completed, _) => Mark::Completed,
            (StepStatus::Failed | StepStatus::Rejected, _) => Mark::Failed,
            (StepStatus::Skipped(_), _) => Mark::Skipped,
            (StepStatus::Cancelled, _) => Mark::Cancelled,
        };
        let note = match &state.status {
            StepStatus::Open => state.instances.first().and_then(|instance| instance.error.clone()),
            _ => state.note.clone(),
        };
        lines.push(StepLine {
            key: StepKey::of(run.step(step).id.value.clone()).to_string(),
            mark,
            note,
            attempts: state.instances.first().map_or(0, |instance| instance.attempt),
        });
    }
    lines
}

fn of_instance(state: &InstanceState) -> Mark {
    match state {
        InstanceState::Ready => Mark::Waiting,
        InstanceState::Running { .. } => Mark::Running,
        InstanceState::Paused(_) => Mark::Paused,
        InstanceState::Asking(_) => Mark::Asking,
        InstanceState::Lost => Mark::Lost,
        InstanceState::Completed => Mark::Completed,
        InstanceState::Failed | InstanceState::Rejected => Mark::Failed,
        InstanceState::Skipped => Mark::Skipped,
        InstanceState::Cancelled => Mark::Cancelled,
    }
}
