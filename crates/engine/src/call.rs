//! What a step starts that calls another ability.

use crate::port::{Clock, Workspace};
use crate::service::{Prepared, ServiceError, Start, prepare};
use abide_core::definition::Input;
use abide_core::event::{RunId, StepKey};
use abide_core::run::{ChildWork, Run};
use abide_core::value::Value;
use abide_core::value::template::as_text;

/// Checks everything that the run needs that a step calls; `secrets` are the values of the caller's secret inputs.
pub fn prepare_called<W: Workspace, C: Clock>(
    workspace: &W,
    clock: &C,
    (run, key): (&Run, &StepKey),
    id: Option<RunId>,
    work: ChildWork,
    secrets: &[(String, String)],
) -> Result<Prepared, ServiceError> {
    let given = work.inputs.clone();
    let start = Start {
        ability: work.ability,
        inputs: work.inputs,
        input: run.created.input.clone(),
        by: run.created.by.clone(),
        session: run.created.session.clone(),
        parent: Some((run.id.clone(), key.clone())),
        depth: run.created.depth + 1,
        id,
    };
    let prepared = prepare(workspace, clock, start)?;
    let holds = |value: &Value| {
        let text = as_text(value);
        secrets.iter().any(|(_, secret)| text.contains(secret.trim()))
    };
    let open = |name: &str| !prepared.run.ability.input(name).is_some_and(Input::is_secret);
    match given.into_iter().find(|(name, value)| holds(value) && open(name)) {
        None => Ok(prepared),
        Some((input, _)) => Err(ServiceError::Leak { input, ability: prepared.run.created.name.to_string() }),
    }
}
