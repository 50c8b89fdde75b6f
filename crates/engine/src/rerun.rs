//! A run again, from one of its steps on: what is done before it is taken over.

use crate::driver::Driver;
use crate::log::load;
use crate::port::{Clock, Process, Store, Workspace};
use crate::service::{Prepared, ServiceError, begin, resolve_inputs};
use abide_core::definition::StepId;
use abide_core::diagnostic::nearest;
use abide_core::event::{Created, RunId, Skip, TakenOver};
use abide_core::run::{Run, StepStatus};
use abide_core::value::Value;
use smol_str::SmolStr;
use std::sync::Arc;

/// What to run again.
#[derive(Debug, Clone)]
pub struct Rerun {
    /// The run.
    pub run: RunId,
    /// The first step to run again.
    pub from: String,
    /// Who runs it again.
    pub by: SmolStr,
    /// Its secret inputs, which no log holds.
    pub inputs: Vec<(String, Value)>,
}

/// Starts a run that repeats another from a step on; returns it with the steps that it takes over.
///
/// The definition is the one that the old run has pinned, and so are the inputs. Taken over is every step that is
/// done, or was skipped by a human, and neither is the step nor depends on it.
pub async fn rerun<S: Store, P: Process, W: Workspace, C: Clock>(
    driver: &Driver<S, P, W, C>,
    rerun: Rerun,
) -> Result<(RunId, Vec<StepId>), ServiceError> {
    let old = load(&*driver.store, &rerun.run).await?.run;
    let Some(from) = old.position(&rerun.from) else {
        let steps = old.ability.steps.iter().map(|step| step.id.as_str());
        let hint = nearest(&rerun.from, steps).map(|near| format!("; did you mean `{near}`?"));
        let message = format!("run {} has no step `{}`{}", old.id, rerun.from, hint.unwrap_or_default());
        return Err(ServiceError::Rerun(message));
    };
    if !old.is_finished() {
        let message = format!("run {} is not over: it is {}", old.id, old.status().word().replace('_', " "));
        return Err(ServiceError::Rerun(message));
    }
    if let Some((parent, step)) = &old.created.parent {
        let message = format!("run {} belongs to `{step}` of {parent}, which can be run again", old.id);
        return Err(ServiceError::Rerun(message));
    }
    let secrets = secrets_again(&old, &rerun.inputs)?;
    let again = old.dependents_of(from);
    let taken_over: Vec<TakenOver> = (0..old.steps.len())
        .filter(|step| !again.contains(step))
        .filter_map(|step| taken_over(&old, step))
        .collect();
    let steps = taken_over.iter().map(|taken| taken.step.clone()).collect();
    let now = driver.clock.now();
    let created = Created {
        at: now,
        by: rerun.by,
        session: None,
        trace: None,
        rerun_of: Some((old.id.clone(), old.step(from).id.value.clone())),
        taken_over,
        deadline: old.ability.settings.timeout.as_ref().map(|timeout| now.after(timeout.time())),
        ..(*old.created).clone()
    };
    let run = Run::create(driver.clock.new_run(), created, Arc::clone(&old.ability));
    let id = begin(driver, Prepared { run, secrets }).await?;
    Ok((id, steps))
}

/// Returns what is taken over of a step, if it is done.
fn taken_over(run: &Run, step: usize) -> Option<TakenOver> {
    let state = &run.steps[step];
    let skipped_by = match &state.status {
        StepStatus::Completed => None,
        StepStatus::Skipped(Skip::Chosen { by }) => Some(by.clone()),
        // A condition is decided again by the same values, and a rejection is asked for again.
        _ => return None,
    };
    let items = state.instances.iter().filter_map(|instance| {
        Some((instance.label.clone()?, instance.item.clone().unwrap_or(Value::Null), instance.result.clone()))
    });
    Some(TakenOver {
        step: run.step(step).id.value.clone(),
        result: state.result.clone(),
        skipped_by,
        items: items.collect(),
    })
}

/// Takes the secret inputs of a run again, because its log does not hold them; every one that it had is needed.
pub fn secrets_again(run: &Run, given: &[(String, Value)]) -> Result<Vec<(String, String)>, ServiceError> {
    let secret = |name: &str| run.ability.input(name).is_some_and(abide_core::definition::Input::is_secret);
    let mut problems = Vec::new();
    for (name, _) in given.iter().filter(|(name, _)| !secret(name)) {
        problems.push(format!("the inputs of run {} are fixed: `{name}` cannot be given again", run.id));
    }
    let mut inputs = Vec::new();
    for (name, value) in &run.created.inputs {
        let again = given.iter().find(|(known, _)| *known == **name).map(|(_, value)| value.clone());
        match (secret(name), again) {
            (false, _) => inputs.push((name.to_string(), value.clone())),
            (true, Some(value)) => inputs.push((name.to_string(), value)),
            (true, None) => problems
                .push(format!("the input `{name}` is secret, so the log does not hold it: give it again")),
        }
    }
    if !problems.is_empty() {
        return Err(ServiceError::Inputs(problems));
    }
    resolve_inputs(&run.ability, &inputs).map(|(_, secrets)| secrets).map_err(ServiceError::Inputs)
}
