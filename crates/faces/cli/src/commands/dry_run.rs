//! `abide run --dry-run [--stubs FILE]`: the steps walked, and nothing executed or written.

use super::drive::event_json;
use crate::runs::{self, Lines, Told};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::plan::walk;
use abide_engine::service::Start;
use std::path::Path;

pub(super) fn dry_run(
    session: &mut Session<'_>,
    start: Start,
    stubs: Option<&Path>,
) -> Result<Exit, Failure> {
    let prepared = runs::prepare(session, start)?;
    let stubs = match stubs {
        Some(file) => runs::stubs(session, file, &prepared.run.ability)?,
        None => Vec::new(),
    };
    let began = prepared.run.created.at;
    let (run, log) = walk(prepared.run, &prepared.secrets, &stubs);
    let mut lines = Lines::default();
    if !session.json {
        session.say("dry run: nothing is executed or written\n")?;
    }
    for (at, event) in log {
        let text = if session.json {
            event_json(&run.id, &event)
        } else {
            let told = Told::Event { run: run.id.clone(), depth: 0, event: Box::new(event) };
            lines.tell(told, at.since(began))
        };
        session.print(&text)?;
    }
    if !run.is_finished() {
        session.say("the run does not end: it waits for an answer that no stub gives\n")?;
    }
    Ok(runs::exit_of(run.status()))
}
