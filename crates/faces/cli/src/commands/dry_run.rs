//! `abide run --dry-run [--stubs FILE]`: the steps walked, and nothing executed or written.

use super::drive::event_json;
use crate::runs::{self, Lines, Told};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::plan::{Walked, walk};
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
    let (run, log) = walk(prepared.run, &prepared.secrets, &stubs, &*runs::called(session));
    let mut lines = Lines::default();
    if !session.json {
        session.say("dry run: nothing is executed or written\n")?;
    }
    for Walked { run, depth, at, event } in log {
        let text = if session.json {
            event_json(&run, &event)
        } else {
            lines.tell(Told::Event { run, depth, event: Box::new(event) }, at.since(began))
        };
        session.print(&text)?;
    }
    if !run.is_finished() {
        session.say("the run does not end: it waits for an answer that no stub gives\n")?;
    }
    Ok(runs::exit_of(run.status()))
}
