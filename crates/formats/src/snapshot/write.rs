//! How far a run has come → JSON.

use crate::event::write::{cost_data, hook_data, question_data, result_data, skip_data, usage_data};
use crate::written::{Json, int, list, map, mapping, maybe, text};
use abide_core::event::EndStatus;
use abide_core::run::{Instance, InstanceState, Phase, Run, StepState, StepStatus, Verdicts};
use abide_core::turn::Spent;

/// Returns how far a run has come as JSON text; the same run always gives the same text.
pub fn write(run: &Run) -> String {
    let touched = run.steps.iter().enumerate().filter(|(_, state)| !state.is_untouched());
    let ending = run.ending.as_ref();
    mapping(|map| {
        map.with("phase", phase_data(&run.phase))
            .with("ending", ending.map(|(status, error)| end_data(*status, error.as_ref())))
            .with("cancelling", run.cancelling)
            .with("verdicts", verdicts_data(run.verdicts))
            .with("spent", spent_data(run.spent))
            .with("hook", run.hook_in_flight().map(hook_data))
            .with("steps", list(touched.map(|(position, state)| step_data(position, state))));
    })
}

fn verdicts_data(verdicts: Verdicts) -> impl Json {
    let Verdicts { until, denied, asked, warned, lost } = verdicts;
    (verdicts != Verdicts::default()).then(|| {
        map(move |map| {
            map.with("until", i64::try_from(until).unwrap_or(i64::MAX))
                .with("denied", int(denied))
                .with("asked", int(asked))
                .with("warned", int(warned))
                .with("lost", int(lost));
        })
    })
}

fn spent_data(spent: Spent) -> impl Json {
    (spent != Spent::default()).then(|| {
        map(move |map| {
            map.with("usage", usage_data(spent.usage))
                .with("cost", cost_data(spent.cost))
                .with("turns", int(spent.turns));
        })
    })
}

fn end_data(status: EndStatus, error: Option<&String>) -> impl Json {
    map(move |map| {
        map.with("status", text(status.word())).with("error", maybe(error));
    })
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn phase_data(phase: &Phase) -> impl Json {
    map(move |map| {
        match phase {
            Phase::AwaitingPlan => map.with("awaiting_plan", true),
            Phase::Before(done) => map.with("before", count(*done)),
            Phase::Steps => map.with("steps", true),
            Phase::After(done) => map.with("after", count(*done)),
            Phase::Finished(status, error) => map.with("finished", end_data(*status, error.as_ref())),
        };
    })
}

fn step_data(position: usize, state: &StepState) -> impl Json {
    // The result of a step with one instance is that instance's, and may be long.
    let is_the_only_ones = only(state).is_some_and(|only| only.result == state.result);
    let result = (!is_the_only_ones).then_some(&state.result);
    map(move |map| {
        map.with("step", count(position));
        match &state.status {
            StepStatus::Skipped(why) => map.with(
                "status",
                crate::written::map(|map| {
                    skip_data(why, map);
                }),
            ),
            status => map.with("status", text(status.word())),
        };
        map.with("instances", list(state.instances.iter().map(instance_data)))
            .with("result", list(result.map(result_data)))
            .with("spent", spent_data(state.spent))
            .with("note", maybe(state.note.as_ref()));
    })
}

fn only(state: &StepState) -> Option<&Instance> {
    state.instances.first().filter(|_| state.instances.len() == 1)
}

fn instance_data(instance: &Instance) -> impl Json {
    // Every field is named, so that a new one cannot be forgotten here.
    let Instance { label, item, attempt, retries, rounds, state, result, error, missing } = instance;
    map(move |map| {
        map.with("label", maybe(label.as_ref()))
            .with("item", list(item))
            .with("attempt", int(*attempt))
            .with("retries", int(*retries))
            .with("rounds", int(*rounds))
            .with("state", StateData(state))
            .with("result", result_data(result))
            .with("error", maybe(error.as_ref()))
            .with("missing", list(missing.iter().map(text)));
    })
}

struct StateData<'a>(&'a InstanceState);

impl Json for StateData<'_> {
    fn write(self, to: &mut String) {
        let word = match self.0 {
            InstanceState::Running { deadline: Some(at) } => {
                return map(|map| {
                    map.with("running", at.0);
                })
                .write(to);
            }
            InstanceState::Running { deadline: None } => {
                return map(|map| {
                    map.with("running", true);
                })
                .write(to);
            }
            InstanceState::Paused(moment) => {
                return map(|map| {
                    map.with("paused", moment.0);
                })
                .write(to);
            }
            InstanceState::Asking(question) => {
                return map(|map| {
                    map.with("question", question_data(question));
                })
                .write(to);
            }
            InstanceState::Ready => "ready",
            InstanceState::Lost => "lost",
            InstanceState::Completed => "completed",
            InstanceState::Failed => "failed",
            InstanceState::Rejected => "rejected",
            InstanceState::Skipped => "skipped",
            InstanceState::Cancelled => "cancelled",
        };
        text(word).write(to);
    }
}
