//! How far a step and each of its instances are.

use super::shared::Shared;
use crate::event::{Question, Skip, StepResult, Timestamp};
use crate::turn::Spent;
use crate::value::Value;
use smol_str::SmolStr;
use std::collections::HashMap;
use std::sync::Arc;

/// How far a step is.
#[derive(Debug, Clone, Default)]
pub struct StepState {
    /// In one word.
    pub status: StepStatus,
    /// Its instances: one, or one per item.
    pub instances: Shared<Instance>,
    /// The step's results as later steps see them.
    pub result: StepResult,
    /// Why it failed or was skipped.
    pub note: Option<String>,
    /// What all its attempts have used of models.
    pub spent: Spent,
    /// For how many steps it still waits.
    pub(super) unmet: u32,
    /// How many of its instances are not done.
    pub(super) undone: usize,
    /// Which instance has which label.
    pub(super) labels: Arc<HashMap<SmolStr, usize>>,
}

impl StepState {
    /// Returns whether nothing has happened to the step.
    pub fn is_untouched(&self) -> bool {
        self.status == StepStatus::Waiting
            && self.instances.is_empty()
            && self.note.is_none()
            && self.result == StepResult::default()
    }

    /// Gives the step its instances, all at once.
    pub(super) fn expand(&mut self, instances: Shared<Instance>) {
        self.undone = instances.iter().filter(|instance| !instance.state.is_done()).count();
        let mut labels = HashMap::new();
        for (place, instance) in instances.iter().enumerate() {
            if let Some(label) = &instance.label {
                // A log that somebody wrote by hand may say one twice: the first one counts.
                labels.entry(label.clone()).or_insert(place);
            }
        }
        self.labels = Arc::new(labels);
        self.instances = instances;
    }
}

/// How far a step is, in one word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StepStatus {
    /// It has not been looked at.
    #[default]
    Waiting,
    /// It has begun.
    Open,
    /// It is done, with evidence.
    Completed,
    /// It failed.
    Failed,
    /// It was not done.
    Skipped(Skip),
    /// It is an approval that was answered with a no.
    Rejected,
    /// The run ended before it was done.
    Cancelled,
}

impl StepStatus {
    /// Returns the word for it; expressions see the first three of the finished ones.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Open => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped(_) => "skipped",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether nothing more will happen to the step.
    pub fn is_closed(&self) -> bool {
        !matches!(self, Self::Waiting | Self::Open)
    }
}

/// One instance of a step.
#[derive(Debug, Clone)]
pub struct Instance {
    /// The label of its item.
    pub label: Option<SmolStr>,
    /// The item.
    pub item: Option<Value>,
    /// How many attempts there have been.
    pub attempt: u32,
    /// How many of them were retries after a failure.
    pub retries: u32,
    /// How many of them count for `repeat`.
    pub rounds: u32,
    /// Where it is.
    pub state: InstanceState,
    /// What the last attempt left.
    pub result: StepResult,
    /// What went wrong last.
    pub error: Option<String>,
    /// The evidence that the last attempt did not show: the next one is told.
    pub missing: Vec<String>,
}

impl Instance {
    pub(super) fn new(label: Option<SmolStr>, item: Option<Value>) -> Self {
        Self {
            label,
            item,
            attempt: 0,
            retries: 0,
            rounds: 0,
            state: InstanceState::Ready,
            result: StepResult::default(),
            error: None,
            missing: Vec::new(),
        }
    }
}

/// Where an instance is.
#[derive(Debug, Clone, PartialEq)]
pub enum InstanceState {
    /// An attempt can begin.
    Ready,
    /// An attempt is under way.
    Running {
        /// When it is ended.
        deadline: Option<Timestamp>,
    },
    /// The next attempt begins at this moment.
    Paused(Timestamp),
    /// A human is asked.
    Asking(Question),
    /// The driver of the last attempt is gone.
    Lost,
    /// It is done.
    Completed,
    /// It failed.
    Failed,
    /// It was answered with a no.
    Rejected,
    /// A human skipped it.
    Skipped,
    /// The run ended before it was done.
    Cancelled,
}

impl InstanceState {
    /// Returns whether nothing more will happen to the instance by itself.
    pub(super) fn is_done(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Rejected | Self::Skipped | Self::Cancelled)
    }
}
