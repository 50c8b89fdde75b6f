//! Which outputs are put in short before an agent gets them.
//!
//! Only what an agent is about to get is summarized, and only once: the summary is in the log. Start at [`unsummarized`].

use super::context::LONGEST_PART;
use crate::definition::{Step, StepId, StepKind, Summarize};
use crate::event::Output;
use crate::run::{Run, StepStatus};

/// An output of so many characters is no longer than a summary of it would be.
const SHORT: usize = 2_000;

/// An output that an agent is to get in short.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unsummarized<'r> {
    /// Whose output it is.
    pub step: &'r Step,
    /// What came of the step.
    pub output: &'r Output,
    /// How it is to be condensed, where the step says it.
    pub instruction: Option<&'r str>,
}

/// Returns which outputs that a step gets have to be summarized first.
///
/// A step with an instruction is always summarized, one with `summarize: true` unless its output is short as it is, one that says
/// nothing if its output could not be passed on whole, and one with `summarize: false` never.
pub fn unsummarized(run: &Run, step: usize) -> Vec<Unsummarized<'_>> {
    let wanted = |need: &StepId| {
        let position = run.position(need.as_str())?;
        let (step, state) = (run.step(position), &run.steps[position]);
        let output = &state.result.output;
        if state.status != StepStatus::Completed || state.result.summary.is_some() {
            return None;
        }
        let is_longer = |most: usize| output.cut || output.text.chars().nth(most).is_some();
        let (is_due, instruction) = match summarize(step) {
            Some(Summarize::Off) => (false, None),
            Some(Summarize::On) => (is_longer(SHORT), None),
            Some(Summarize::Prompt(prompt)) => (!output.text.trim().is_empty(), Some(prompt.as_str())),
            None => (is_longer(LONGEST_PART), None),
        };
        is_due.then_some(Unsummarized { step, output, instruction })
    };
    run.step(step).needs.iter().filter_map(|need| wanted(need)).collect()
}

/// Returns what a step says about its output being put in short.
pub fn summarize(step: &Step) -> Option<&Summarize> {
    let said = match &step.kind {
        StepKind::Agent(agent) => agent.summarize.as_ref(),
        StepKind::Skill(skill) => skill.summarize.as_ref(),
        StepKind::Script(_) | StepKind::Approval(_) | StepKind::Workflow(_) => None,
    };
    said.map(|said| &said.value)
}

/// Tells whether a run of these steps cannot go without somebody who summarizes: a step asks for it, and an agent or a skill needs
/// that step.
pub fn asks_for_summary<'s>(step: &Step, mut all: impl Iterator<Item = &'s Step>) -> bool {
    matches!(summarize(step), Some(Summarize::On | Summarize::Prompt(_)))
        && all.any(|other| {
            matches!(other.kind, StepKind::Agent(_) | StepKind::Skill(_))
                && other.needs.iter().any(|need| need.value == step.id.value)
        })
}
