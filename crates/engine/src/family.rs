//! A run and the runs that its steps call, looked at as one.
//!
//! A person knows the run that they started; what it waits for may lie in one that it calls.

use crate::driver::child_id;
use crate::log::{LoadError, load};
use crate::port::Store;
use abide_core::definition::StepKind;
use abide_core::event::{Question, RunId, StepKey};
use abide_core::run::{Run, RunStatus};

/// A run of a family.
#[derive(Debug, Clone)]
pub struct Member {
    /// The run.
    pub run: Run,
    /// The run and step of the family that call it; nothing for the first.
    pub called_by: Option<(RunId, StepKey)>,
}

/// What a run waits for a human with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Open {
    /// Its plan.
    Plan,
    /// A question of one of its steps.
    Question(StepKey, Box<Question>),
}

impl Member {
    /// Returns what this run alone waits for a human with.
    pub fn open(&self) -> Vec<Open> {
        open(&self.run)
    }
}

/// Returns what a run waits for a human with.
pub fn open(run: &Run) -> Vec<Open> {
    if run.status() == RunStatus::AwaitingPlan {
        return vec![Open::Plan];
    }
    let asked = |(key, question): (StepKey, &Question)| Open::Question(key, Box::new(question.clone()));
    run.questions().into_iter().map(asked).collect()
}

/// Returns a run and those that it calls, each before its own, in the order of the steps.
///
/// Of a step that was tried several times, the last attempt's run is the one.
pub async fn family<S: Store>(store: &S, id: &RunId) -> Result<Vec<Member>, LoadError> {
    let mut family = Vec::new();
    let mut waiting = vec![(id.clone(), None)];
    while let Some((id, called_by)) = waiting.pop() {
        let run = load(store, &id).await?.run;
        for (key, attempt) in calls(&run).into_iter().rev() {
            let child = child_id(&run.id, &key, attempt);
            // It may not have begun, or not have been taken over by a run that repeats another.
            if store.head(child.as_str()).await?.is_some() {
                waiting.push((child, Some((run.id.clone(), key))));
            }
        }
        family.push(Member { run, called_by });
    }
    Ok(family)
}

/// Returns the instances that call another ability, each with its last attempt.
pub(crate) fn calls(run: &Run) -> Vec<(StepKey, u32)> {
    let mut calls = Vec::new();
    for (step, state) in run.steps.iter().enumerate() {
        if !matches!(run.step(step).kind, StepKind::Workflow(_)) {
            continue;
        }
        for (position, instance) in state.instances.iter().enumerate().filter(|(_, one)| one.attempt > 0) {
            calls.push((run.key(step, position), instance.attempt));
        }
    }
    calls
}
