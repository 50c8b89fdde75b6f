//! A run again, from one of its steps on: what is done before it is taken over.

use crate::driver::Driver;
use crate::log::{load, pinned};
use crate::port::{Clock, Process, Store, Workspace, WorkspaceError};
use crate::service::{Prepared, ServiceError, begin, digest, resolve_inputs};
use abide_core::definition::{Ability, Input, Step, StepId};
use abide_core::diagnostic::nearest;
use abide_core::event::{Created, RunId, Skip, StepKey, TakenOver};
use abide_core::run::{InstanceState, Run, StepStatus};
use abide_core::value::Value;
use smol_str::SmolStr;
use std::mem::discriminant;
use std::path::Path;
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
    /// As which ability.
    pub version: Version,
}

/// As which version of its ability a run is run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// As the one that the run has pinned.
    Pinned,
    /// As the one that is there now, with the files beside it.
    Current,
}

/// A run that repeats another.
#[derive(Debug, Clone)]
pub struct Reran {
    /// The new run.
    pub run: RunId,
    /// The steps that it takes over.
    pub taken_over: Vec<StepId>,
    /// Whether the ability has changed since, and it is repeated as it was.
    pub has_changed: bool,
}

/// Starts a run that repeats another from a step on.
///
/// The inputs are those of the old run. Taken over is every step that is done, was skipped by a human, or failed without
/// ending the run, and that neither is the step nor comes after it (see [`Run::steps_from`]).
pub async fn rerun<S: Store, P: Process, W: Workspace, C: Clock>(
    driver: &Driver<S, P, W, C>,
    rerun: Rerun,
) -> Result<Reran, ServiceError> {
    let old = load(&*driver.store, &rerun.run).await?.run;
    if !old.is_finished() {
        let message = format!("run {} is not over: it is {}", old.id, old.status().word().replace('_', " "));
        return Err(ServiceError::Rerun(message));
    }
    if let Some((parent, step)) = &old.created.parent {
        let message = format!("run {} belongs to `{step}` of {parent}, which can be run again", old.id);
        return Err(ServiceError::Rerun(message));
    }
    let now = driver.clock.now();
    let (created, ability, secrets, has_changed) = match rerun.version {
        Version::Pinned => {
            // A name that does not exist is the first thing to be told.
            position(&old, &rerun.from)?;
            check_files(&*driver.workspace, &old)?;
            let current = driver.workspace.ability(&old.created.name);
            let has_changed = current.is_ok_and(|current| current.source != old.created.source);
            let secrets = secrets_again(&old, &rerun.inputs)?;
            ((*old.created).clone(), Arc::clone(&old.ability), secrets, has_changed)
        }
        Version::Current => {
            let (created, ability, secrets) = current(&*driver.workspace, &old, &rerun.inputs)?;
            (created, ability, secrets, false)
        }
    };
    let created = Created {
        at: now,
        by: rerun.by,
        session: None,
        trace: None,
        rerun_of: None,
        taken_over: Vec::new(),
        deadline: ability.settings.timeout.as_ref().map(|timeout| now.after(timeout.time())),
        ..created
    };
    let new = Run::create(driver.clock.new_run(), created, ability);
    let from = position(&new, &rerun.from)?;
    let again = new.steps_from(from);
    let taken_over: Vec<TakenOver> = (0..new.steps.len())
        .filter(|step| !again.contains(step))
        .filter_map(|step| taken_over(&old, new.step(step)))
        .collect();
    let steps = taken_over.iter().map(|taken| taken.step.clone()).collect();
    let rerun_of = Some((old.id.clone(), new.step(from).id.value.clone()));
    let created = Created { rerun_of, taken_over, ..(*new.created).clone() };
    let run = Run::create(new.id, created, new.ability);
    let run = begin(driver, Prepared { run, secrets }).await?;
    Ok(Reran { run, taken_over: steps, has_changed })
}

/// Finds the step from which on a run is run again.
fn position(run: &Run, from: &str) -> Result<usize, ServiceError> {
    if let Some(position) = run.position(from) {
        return Ok(position);
    }
    let one = StepKey::parse(from).filter(|key| key.item.is_some());
    let message = match one.filter(|key| run.position(key.step.as_str()).is_some()) {
        Some(key) => {
            format!(
                "`{from}` is one item of the step `{0}`, which runs again as a whole: name `{0}`",
                key.step
            )
        }
        None => {
            let steps = run.ability.steps.iter().map(|step| step.id.as_str());
            let hint = nearest(from, steps).map(|near| format!("; did you mean `{near}`?"));
            format!("`{}` has no step `{from}`{}", run.created.name, hint.unwrap_or_default())
        }
    };
    Err(ServiceError::Rerun(message))
}

/// Refuses a run whose scripts have changed before anything of it begins; its steps would refuse them one by one.
fn check_files<W: Workspace>(workspace: &W, run: &Run) -> Result<(), ServiceError> {
    let is_changed = |(path, digest): &&(String, SmolStr)| {
        workspace.digest(Path::new(path)).is_none_or(|found| found != **digest)
    };
    let changed: Vec<String> =
        run.created.files.iter().filter(is_changed).map(|(path, _)| path.clone()).collect();
    if changed.is_empty() {
        Ok(())
    } else {
        Err(ServiceError::Changed { run: run.id.clone(), files: changed })
    }
}

/// What a run is begun with: what its log holds, its ability, and the values of its secret inputs.
type Beginning = (Created, Arc<Ability>, Vec<(String, String)>);

/// Returns what a run is made of, with the ability as it is now and the inputs as they were.
fn current<W: Workspace>(
    workspace: &W,
    old: &Run,
    given: &[(String, Value)],
) -> Result<Beginning, ServiceError> {
    let definition = workspace.ability(&old.created.name)?;
    let ability = pinned(&definition.source, &definition.name)
        .map_err(|message| WorkspaceError { message, help: None })?;
    let (mut inputs, mut problems) = (Vec::new(), Vec::new());
    for (name, value) in &old.created.inputs {
        let again = given.iter().find(|(known, _)| *known == **name);
        let was_secret = old.ability.input(name).is_some_and(Input::is_secret);
        match (ability.input(name), again) {
            // The ability does not take it any more.
            (None, None) => {}
            (_, Some(_)) if !was_secret => problems.push(is_fixed(old, name)),
            (_, Some(again)) => inputs.push(again.clone()),
            (Some(_), None) if was_secret => problems.push(is_needed_again(name)),
            (Some(_), None) => inputs.push((name.to_string(), value.clone())),
        }
    }
    // What the ability did not take then can be given now.
    let is_new = |(name, _): &&(String, Value)| old.created.inputs.iter().all(|(known, _)| **known != **name);
    inputs.extend(given.iter().filter(is_new).cloned());
    if !problems.is_empty() {
        return Err(ServiceError::Inputs(problems));
    }
    let (inputs, secrets) = resolve_inputs(&ability, &inputs).map_err(ServiceError::Inputs)?;
    let created = Created {
        digest: digest(&definition).into(),
        folder: definition.folder.as_ref().map(|folder| folder.display().to_string()),
        root: definition.root.display().to_string(),
        files: definition.files.iter().map(|(path, digest)| (path.clone(), digest.into())).collect(),
        inputs,
        hooks: definition.hooks,
        plan_approval: ability.settings.plan_approval.as_ref().is_some_and(|flag| flag.value),
        source: definition.source,
        ..(*old.created).clone()
    };
    Ok((created, ability, secrets))
}

/// Returns what is taken over for a step, if it is over in the old run.
fn taken_over(old: &Run, step: &Step) -> Option<TakenOver> {
    let position = old.position(step.id.as_str())?;
    let (was, state) = (old.step(position), &old.steps[position]);
    // What the ability has made another kind of step since left other results.
    if discriminant(&was.kind) != discriminant(&step.kind)
        || was.for_each.is_some() != step.for_each.is_some()
    {
        return None;
    }
    let (skipped_by, failed) = match &state.status {
        StepStatus::Completed => (None, None),
        StepStatus::Skipped(Skip::Chosen { by }) => (Some(by.clone()), None),
        StepStatus::Failed if old.went_on_without(position) => {
            (None, Some(state.note.clone().unwrap_or_else(|| "failed".to_owned())))
        }
        // A condition is decided again by the same values, and a rejection is asked for again.
        _ => return None,
    };
    let items = state.instances.iter().filter_map(|instance| {
        Some((instance.label.clone()?, instance.item.clone().unwrap_or(Value::Null), instance.result.clone()))
    });
    let failed_items = state.instances.iter().filter(|instance| instance.state == InstanceState::Failed);
    let failed_items = failed_items
        .filter_map(|instance| Some((instance.label.clone()?, instance.error.clone().unwrap_or_default())));
    Some(TakenOver {
        step: step.id.value.clone(),
        result: state.result.clone(),
        skipped_by,
        failed,
        failed_items: failed_items.collect(),
        items: items.collect(),
    })
}

fn is_fixed(run: &Run, name: &str) -> String {
    format!("the inputs of run {} are fixed: `{name}` cannot be given again", run.id)
}

fn is_needed_again(name: &str) -> String {
    format!("the input `{name}` is secret, so the log does not hold it: give it again")
}

/// Takes the secret inputs of a run again, because its log does not hold them; every one that it had is needed, unless the
/// run has only to be ended.
pub fn secrets_again(run: &Run, given: &[(String, Value)]) -> Result<Vec<(String, String)>, ServiceError> {
    let secret = |name: &str| run.ability.input(name).is_some_and(Input::is_secret);
    let mut problems = Vec::new();
    for (name, _) in given.iter().filter(|(name, _)| !secret(name)) {
        problems.push(is_fixed(run, name));
    }
    let only_ends = run.ending.is_some() && !run.is_finished();
    let is_given = |name: &str| given.iter().any(|(known, _)| known == name);
    if only_ends
        && problems.is_empty()
        && !run.created.inputs.iter().all(|(name, _)| !secret(name) || is_given(name))
    {
        return Ok(Vec::new());
    }
    let mut inputs = Vec::new();
    for (name, value) in &run.created.inputs {
        let again = given.iter().find(|(known, _)| *known == **name).map(|(_, value)| value.clone());
        match (secret(name), again) {
            (false, _) => inputs.push((name.to_string(), value.clone())),
            (true, Some(value)) => inputs.push((name.to_string(), value)),
            (true, None) => problems.push(is_needed_again(name)),
        }
    }
    if !problems.is_empty() {
        return Err(ServiceError::Inputs(problems));
    }
    resolve_inputs(&run.ability, &inputs).map(|(_, secrets)| secrets).map_err(ServiceError::Inputs)
}
