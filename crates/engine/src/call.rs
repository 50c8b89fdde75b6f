//! What a step starts that calls another ability.

use crate::log::pinned;
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
    // Before anything else looks at the inputs: what is wrong with a value is told with the value.
    if let Some(input) = leak(workspace, &work, secrets) {
        return Err(ServiceError::Leak { input, ability: work.ability });
    }
    let start = Start {
        ability: work.ability,
        inputs: work.inputs,
        input: run.created.input.clone(),
        by: run.created.by.clone(),
        session: run.created.session.clone(),
        parent: Some((run.id.clone(), key.clone())),
        depth: run.created.depth + 1,
        id,
        trace: None,
    };
    prepare(workspace, clock, start)
}

/// Returns an input that would write a secret of the caller into the log of the called run.
fn leak<W: Workspace>(workspace: &W, work: &ChildWork, secrets: &[(String, String)]) -> Option<String> {
    if secrets.is_empty() {
        return None;
    }
    let definition = workspace.ability(&work.ability).ok()?;
    let ability = pinned(&definition.source, &definition.name).ok()?;
    let holds = |value: &Value| {
        let text = as_text(value);
        secrets.iter().any(|(_, secret)| text.contains(secret.trim()))
    };
    let open = |name: &str| !ability.input(name).is_some_and(Input::is_secret);
    work.inputs.iter().find(|(name, value)| holds(value) && open(name)).map(|(name, _)| name.clone())
}
