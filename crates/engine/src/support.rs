//! Whether there is something to execute every step of an ability, and of every ability that it calls.

use crate::log::pinned;
use crate::port::{Runners, Workspace, runner_of};
use crate::service::ServiceError;
use abide_core::definition::{Ability, Step, StepKind};
use abide_core::run::Run;
use abide_core::view::summary::asks_for_summary;
use std::collections::HashSet;

/// Refuses an ability that would come to a step that nothing here executes, however deep below it.
pub(crate) fn check_support<W: Workspace>(
    runners: &Runners,
    workspace: &W,
    name: &str,
    ability: &Ability,
) -> Result<(), ServiceError> {
    called_too(runners, workspace, name, steps_of(runners, (name, ability), &all(ability))?)
}

/// Refuses to go on with a run whose steps that are left, however deep below it, nothing here executes.
pub(crate) fn check_rest<W: Workspace>(
    runners: &Runners,
    workspace: &W,
    run: &Run,
) -> Result<(), ServiceError> {
    let name = &run.created.name;
    let left = run.ability.steps.iter().zip(run.steps.iter());
    let left: Vec<&Step> =
        left.filter(|(_, state)| !state.status.is_closed()).map(|(step, _)| step).collect();
    called_too(runners, workspace, name, steps_of(runners, (name, &run.ability), &left)?)
}

fn called_too<W: Workspace>(
    runners: &Runners,
    workspace: &W,
    name: &str,
    mut called: Vec<String>,
) -> Result<(), ServiceError> {
    let mut seen = HashSet::from([name.to_owned()]);
    while let Some(name) = called.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        // One that cannot be had now may be there when its step begins; if it is not, that step says why.
        let Ok(definition) = workspace.ability(&name) else { continue };
        let Ok(ability) = pinned(&definition.source, &definition.name) else { continue };
        called.extend(steps_of(runners, (&name, &ability), &all(&ability))?);
    }
    Ok(())
}

fn all(ability: &Ability) -> Vec<&Step> {
    ability.steps.iter().collect()
}

/// Checks steps of one ability; returns the abilities that they call.
fn steps_of(
    runners: &Runners,
    (name, ability): (&str, &Ability),
    steps: &[&Step],
) -> Result<Vec<String>, ServiceError> {
    let mut called = Vec::new();
    for step in steps {
        let what = match &step.kind {
            StepKind::Agent(_) => "an agent step",
            StepKind::Skill(_) => "a skill step",
            StepKind::Workflow(workflow) => {
                called.push(workflow.workflow.to_string());
                continue;
            }
            StepKind::Script(_) | StepKind::Approval(_) => continue,
        };
        if asks_for_summary(step, steps.iter().copied()) {
            let agent = match &step.kind {
                StepKind::Agent(agent) => Some(agent.agent.as_str()),
                _ => None,
            };
            let why = match runners.summarizer() {
                None => Some("there is no model".to_owned()),
                Some(summarizer) => summarizer.unusable(agent),
            };
            if let Some(why) = why {
                let why = format!("its output is to be summarized, and that cannot be done: {why}");
                return Err(ServiceError::Unusable {
                    ability: name.to_owned(),
                    step: step.id.to_string(),
                    why,
                });
            }
        }
        let word = runner_of(step);
        let found = runners.find(word);
        if let Some(why) = found.as_ref().and_then(|runner| runner.unusable_for(ability, step)) {
            return Err(ServiceError::Unusable { ability: name.to_owned(), step: step.id.to_string(), why });
        }
        if found.is_none() {
            let whose = word.map(|word| format!(" for the runner `{word}`")).unwrap_or_default();
            return Err(ServiceError::Unsupported {
                ability: name.to_owned(),
                step: step.id.to_string(),
                what: format!("{what}{whose}"),
            });
        }
    }
    Ok(called)
}
