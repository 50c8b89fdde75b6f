//! What a run that was called is to the step that called it.

use super::state::{Phase, Run};
use super::step::StepStatus;
use crate::event::{EndStatus, Observation, ProcessEnd, StepResult};

impl Run {
    /// Returns what the step that called this run sees of it, once it is over.
    ///
    /// Its output is that of the last step that was done.
    pub fn as_called(&self) -> Option<Observation> {
        let Phase::Finished(status, error) = &self.phase else { return None };
        let done = self.steps.iter().rev().find(|state| state.status == StepStatus::Completed);
        let output = done.map(|state| state.result.output.clone()).unwrap_or_default();
        let end = match status {
            EndStatus::Completed => ProcessEnd::Exited(0),
            EndStatus::Failed => ProcessEnd::Exited(1),
            EndStatus::Cancelled => ProcessEnd::Cancelled,
            EndStatus::TimedOut => ProcessEnd::TimedOut,
        };
        let why = error.as_ref().map_or_else(|| "failed".to_owned(), |error| format!("failed: {error}"));
        let missing = if *status == EndStatus::Failed { vec![why] } else { Vec::new() };
        let result = StepResult { output, run: Some(self.id.clone()), ..StepResult::default() };
        Some(Observation { end, result, missing })
    }
}
