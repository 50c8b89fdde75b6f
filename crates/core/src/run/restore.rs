//! A run from how far it had come, without the events that brought it there.
//!
//! Everything that can be told from the steps is told from them again, so that a snapshot holds nothing twice.

use super::places::Places;
use super::shared::Shared;
use super::state::{Phase, Run, Verdicts, unmet};
use super::step::{Instance, InstanceState, StepState, StepStatus};
use crate::definition::Ability;
use crate::event::{Created, EndStatus, HookKey, RunId, StepResult};
use crate::turn::Spent;
use std::sync::Arc;

/// How far a run had come.
#[derive(Debug, Clone)]
pub struct Progress {
    /// How far the run as a whole was.
    pub phase: Phase,
    /// How it will end, once it is known.
    pub ending: Option<(EndStatus, Option<String>)>,
    /// Whether somebody asked for the end.
    pub cancelling: bool,
    /// What the gate had answered.
    pub verdicts: Verdicts,
    /// What had been used of models.
    pub spent: Spent,
    /// The hook that was running.
    pub hook: Option<HookKey>,
    /// The steps to which something had happened, by their positions.
    pub steps: Vec<(usize, StepProgress)>,
}

/// How far a step had come.
#[derive(Debug, Clone)]
pub struct StepProgress {
    /// In one word.
    pub status: StepStatus,
    /// Its instances.
    pub instances: Vec<Instance>,
    /// The step's results as later steps see them.
    pub result: StepResult,
    /// Why it failed or was skipped.
    pub note: Option<String>,
    /// What its attempts had used of models.
    pub spent: Spent,
}

impl Run {
    /// Returns the run that had come so far; nothing if that does not fit the ability.
    pub fn restore(id: RunId, created: Created, ability: Arc<Ability>, progress: Progress) -> Option<Self> {
        let mut run = Self::create(id, created, ability);
        for (position, step) in progress.steps {
            run.steps.get(position)?;
            let state = &mut run.steps[position];
            state.expand(step.instances.into_iter().collect());
            state.status = step.status;
            state.result = step.result;
            state.note = step.note;
            state.spent = step.spent;
        }
        run.phase = progress.phase;
        run.ending = progress.ending;
        run.cancelling = progress.cancelling;
        run.verdicts = progress.verdicts;
        run.spent = progress.spent;
        run.index.hook = progress.hook;
        run.count_again();
        Some(run)
    }

    /// Makes the index from the steps.
    fn count_again(&mut self) {
        let Self { ability, steps, index, phase, .. } = self;
        let is_closed = |steps: &Shared<StepState>, step: usize| steps[step].status.is_closed();
        index.closed = steps.iter().filter(|state| state.status.is_closed()).count();
        (index.ready, index.open) = (Places::default(), Places::default());
        index.startable.clear();
        for set in [&mut index.running, &mut index.asking, &mut index.lost] {
            set.clear();
        }
        index.paused.clear();
        for step in 0..steps.len() {
            let open = index.waits[step].iter().filter(|on| !is_closed(steps, **on)).count();
            let unmet = unmet(open, &ability.steps[step], &index.positions);
            if steps[step].unmet != unmet {
                steps[step].unmet = unmet;
            }
            match steps[step].status {
                StepStatus::Waiting if unmet == 0 => index.ready.insert(step),
                StepStatus::Open => index.open.insert(step),
                _ => {}
            }
            for (instance, entry) in steps[step].instances.iter().enumerate() {
                let at = (step, instance);
                match &entry.state {
                    InstanceState::Ready => index.startable.entry(step).or_default().insert(instance),
                    InstanceState::Running { .. } => drop(index.running.insert(at)),
                    // What a run that is over waited for is not waited for any more.
                    _ if matches!(phase, Phase::Finished(..)) => {}
                    InstanceState::Paused(moment) => drop(index.paused.insert((*moment, step, instance))),
                    InstanceState::Asking(_) => drop(index.asking.insert(at)),
                    InstanceState::Lost => drop(index.lost.insert(at)),
                    _ => {}
                }
            }
        }
    }
}
