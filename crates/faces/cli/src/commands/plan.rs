//! `abide plan NAME`: what a run would do.

use crate::args::PlanArguments;
use crate::session::Session;
use crate::skills::Shelf;
use crate::{Exit, Failure, runs, ui};
use abide_core::plan::{Action, Plan};
use serde_json::json;

pub(crate) fn plan(session: &mut Session<'_>, arguments: &PlanArguments) -> Result<Exit, Failure> {
    let start = runs::start_of(session, &arguments.name, &arguments.given)?;
    let prepared = runs::prepare(session, start)?;
    match runs::plan(session, &prepared) {
        Ok(plan) => {
            let notes = unavailable_skills(session, &plan);
            if session.json {
                let mut json = ui::plan::to_json(&plan);
                json["notes"] = json!(notes);
                session.print_json(&json)?;
            } else {
                session.print(&ui::plan::page(&plan))?;
                for note in notes {
                    session.say(&format!("note: {}\n", ui::visible::visible(&note, true)))?;
                }
            }
        }
        Err(problems) => {
            for problem in &problems {
                session.say(&format!("error: {}\n", ui::visible::visible(problem, true)))?;
            }
            return Ok(Exit::Problems);
        }
    }
    Ok(Exit::Done)
}

/// Says of steps whose skill cannot be used now what it lacks.
fn unavailable_skills(session: &Session<'_>, plan: &Plan) -> Vec<String> {
    let skills = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Skill { skill, .. } if !step.is_skipped() => Some((step, skill)),
        _ => None,
    });
    let skills: Vec<_> = skills.collect();
    if skills.is_empty() {
        return Vec::new();
    }
    let shelf = Shelf::open(session);
    let lacking = skills.into_iter().filter_map(|(step, skill)| {
        let lacks = shelf.lacks(skill).first()?;
        Some(format!("step `{}`: the skill `{skill}` cannot be used now: {lacks}", step.id))
    });
    lacking.collect()
}
