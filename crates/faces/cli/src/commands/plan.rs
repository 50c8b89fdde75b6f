//! `abide plan NAME`: what a run would do.

use crate::args::PlanArguments;
use crate::session::Session;
use crate::{Exit, Failure, runs, ui};
use abide_core::plan::Plan;

pub(crate) fn plan(session: &mut Session<'_>, arguments: &PlanArguments) -> Result<Exit, Failure> {
    let start = runs::start_of(session, &arguments.name, &arguments.given)?;
    let prepared = runs::prepare(session, start)?;
    match Plan::of(&prepared.run, &prepared.secrets) {
        Ok(plan) if session.json => session.print_json(&ui::plan::to_json(&plan))?,
        Ok(plan) => session.print(&ui::plan::page(&plan))?,
        Err(problems) => {
            for problem in &problems {
                session.say(&format!("error: {}\n", ui::visible::visible(problem, true)))?;
            }
            return Ok(Exit::Problems);
        }
    }
    Ok(Exit::Done)
}
