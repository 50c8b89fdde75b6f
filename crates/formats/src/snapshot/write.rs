//! How far a run has come → JSON.

use crate::event::write::{Map, hook_data, int, maybe, question_data, result_data, text};
use abide_core::event::{EndStatus, Skip};
use abide_core::run::{Instance, InstanceState, Phase, Run, StepState, StepStatus, Verdicts};
use abide_core::value::Value;

/// Returns how far a run has come as JSON text; the same run always gives the same text.
pub fn write(run: &Run) -> String {
    let touched = run.steps.iter().enumerate().filter(|(_, state)| !state.is_untouched());
    let steps = touched.map(|(position, state)| step_data(position, state)).collect();
    let ending = run.ending.as_ref();
    let ending = ending.map_or(Value::Null, |(status, error)| end_data(*status, error.as_ref()));
    Map::new()
        .with("phase", phase_data(&run.phase))
        .with("ending", ending)
        .with("cancelling", Value::Bool(run.cancelling))
        .with("verdicts", verdicts_data(run.verdicts))
        .with("hook", run.hook_in_flight().map_or(Value::Null, hook_data))
        .with("steps", Value::List(steps))
        .done()
        .to_string()
}

fn verdicts_data(verdicts: Verdicts) -> Value {
    if verdicts == Verdicts::default() {
        return Value::Null;
    }
    let Verdicts { until, denied, asked, warned, lost } = verdicts;
    Map::new()
        .with("until", int(i64::try_from(until).unwrap_or(i64::MAX)))
        .with("denied", int(denied))
        .with("asked", int(asked))
        .with("warned", int(warned))
        .with("lost", int(lost))
        .done()
}

fn end_data(status: EndStatus, error: Option<&String>) -> Value {
    Map::new().with("status", text(status.word())).with("error", maybe(error)).done()
}

fn count(number: usize) -> Value {
    int(i64::try_from(number).unwrap_or(i64::MAX))
}

fn phase_data(phase: &Phase) -> Value {
    let (word, value) = match phase {
        Phase::AwaitingPlan => ("awaiting_plan", Value::Bool(true)),
        Phase::Before(done) => ("before", count(*done)),
        Phase::Steps => ("steps", Value::Bool(true)),
        Phase::After(done) => ("after", count(*done)),
        Phase::Finished(status, error) => ("finished", end_data(*status, error.as_ref())),
    };
    Map::new().with(word, value).done()
}

fn step_data(position: usize, state: &StepState) -> Value {
    // The result of a step with one instance is that instance's, and may be long.
    let is_the_only_ones = only(state).is_some_and(|only| only.result == state.result);
    let result = if is_the_only_ones { Value::Null } else { Value::List(vec![result_data(&state.result)]) };
    Map::new()
        .with("step", count(position))
        .with("status", status_data(&state.status))
        .with("instances", Value::List(state.instances.iter().map(instance_data).collect()))
        .with("result", result)
        .with("note", maybe(state.note.as_ref()))
        .done()
}

fn only(state: &StepState) -> Option<&Instance> {
    state.instances.first().filter(|_| state.instances.len() == 1)
}

fn status_data(status: &StepStatus) -> Value {
    let StepStatus::Skipped(why) = status else { return text(status.word()) };
    let (name, value) = match why {
        Skip::When { because } => ("when", text(because)),
        Skip::Rejected { need } => ("rejected", text(need)),
        Skip::Chosen { by } => ("chosen_by", text(by)),
    };
    Value::Map(vec![(name.to_owned(), value)])
}

fn instance_data(instance: &Instance) -> Value {
    // Every field is named, so that a new one cannot be forgotten here.
    let Instance { label, item, attempt, retries, rounds, state, result, error, missing } = instance;
    Map::new()
        .with("label", maybe(label.as_ref()))
        .with("item", item.as_ref().map_or(Value::Null, |item| Value::List(vec![item.clone()])))
        .with("attempt", int(*attempt))
        .with("retries", int(*retries))
        .with("rounds", int(*rounds))
        .with("state", state_data(state))
        .with("result", result_data(result))
        .with("error", maybe(error.as_ref()))
        .with("missing", Value::List(missing.iter().map(text).collect()))
        .done()
}

fn state_data(state: &InstanceState) -> Value {
    let word = match state {
        InstanceState::Running { deadline } => {
            let deadline = deadline.map_or(Value::Bool(true), |at| int(at.0));
            return Map::new().with("running", deadline).done();
        }
        InstanceState::Paused(moment) => return Map::new().with("paused", int(moment.0)).done(),
        InstanceState::Asking(question) => {
            return Map::new().with("question", question_data(question)).done();
        }
        InstanceState::Ready => "ready",
        InstanceState::Lost => "lost",
        InstanceState::Completed => "completed",
        InstanceState::Failed => "failed",
        InstanceState::Rejected => "rejected",
        InstanceState::Skipped => "skipped",
        InstanceState::Cancelled => "cancelled",
    };
    text(word)
}
