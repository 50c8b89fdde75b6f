//! How the gate's verdicts get into the log of the run that they are about.

use crate::runs;
use crate::{Failure, Surroundings};
use abide_core::event::RunId;
use abide_core::policy::Situation;
use abide_engine::port::Store;
use abide_engine::service;
use abide_gate::{Gate, SessionId};
use abide_hooks::decide::Given;

/// Notes a verdict for the log. One that cannot be noted is given all the same: an agent is held even on a full disk.
pub(crate) fn note_verdict(
    gate: &Gate,
    session: &SessionId,
    sub_agent: Option<&str>,
    situation: &Situation,
    given: &Given,
    at: i64,
) {
    let note = abide_gate::verdicts::Note {
        at,
        answer: given.answer.word().to_owned(),
        tool: given.tool.clone(),
        kind: given.kind.to_owned(),
        what: given.what.clone(),
        why: given.why.clone(),
        client: session.client().to_owned(),
        session: session.id().to_owned(),
        sub_agent: sub_agent.map(str::to_owned),
        project: situation.place.root.clone(),
    };
    let _ = match situation.active() {
        Some(active) => gate.note(&active.run, &note),
        None => gate.note_outside(&note),
    };
}

/// Takes what the gate noted about a run into its log; each verdict once, whoever calls this and how often.
///
/// Whoever drives a run of a session calls it when something happened and when the run is over; commands that show a run
/// call it before they do.
pub(crate) async fn take_verdicts<S: Store>(gate: &Gate, store: &S, id: &RunId) -> Result<(), Failure> {
    // Most runs have no notes: then the log is not opened.
    let noted =
        gate.noted(id.as_str(), 0).map_err(|error| Failure::new(crate::Exit::System, error.to_string()))?;
    if noted.is_empty() {
        return Ok(());
    }
    let run =
        service::take_verdicts(store, id, noted).await.map_err(|error| runs::service_failure(&error))?;
    if run.is_finished() {
        gate.forget_notes(id.as_str(), run.verdicts.until);
    }
    Ok(())
}

/// The same for a command that only shows a run: what cannot be taken in now is there the next time.
pub(crate) async fn try_to_take_verdicts<S: Store>(surroundings: &Surroundings, store: &S, id: &RunId) {
    if let Some(gate) = super::gate(surroundings) {
        let _ = take_verdicts(&gate, store, id).await;
    }
}
