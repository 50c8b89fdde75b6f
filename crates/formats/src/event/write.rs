//! Events → JSON.

use crate::written::{Json, Map, int, list, map, mapping, maybe, text};
use abide_core::event::{
    AttemptFailure, Created, Event, HookKey, HookPhase, LossDecision, NotedVerdict, Output, Question,
    QuestionKind, RunId, Skip, StepResult, TakenOver, Then,
};
use abide_core::model::{Cost, Usage};
use std::fmt::Display;

/// Returns the data of an event as JSON text; its kind is [`Event::kind`].
pub fn write(event: &Event) -> String {
    mapping(|map| {
        data(event, map);
    })
}

fn data<'a, 'b>(event: &Event, map: &'a mut Map<'b>) -> &'a mut Map<'b> {
    match event {
        Event::Created(created) => created_data(created, map),
        Event::PlanAnswered { by, approved, comment } => {
            map.with("by", text(by)).with("approved", *approved).with("comment", maybe(comment.as_ref()))
        }
        Event::HookStarted { hook } => map.with("hook", hook_data(hook)),
        Event::HookEnded { hook, error } => {
            map.with("hook", hook_data(hook)).with("error", maybe(error.as_ref()))
        }
        Event::StepSkipped { step, why } => {
            let map = map.with("step", text(step));
            skip_data(why, map)
        }
        Event::StepExpanded { step, items } => {
            let items = items.iter().map(|(label, item)| (text(label), item));
            map.with("step", text(step)).with("items", list(items))
        }
        Event::AttemptStarted { key, attempt, deadline } => map
            .with("step", text(key))
            .with("attempt", int(*attempt))
            .with("deadline", deadline.map(|at| at.0)),
        Event::AttemptSucceeded { key, attempt, result, again } => map
            .with("step", text(key))
            .with("attempt", int(*attempt))
            .with("result", result_data(result))
            .with("again", again.map(|at| at.0)),
        Event::AttemptFailed { key, attempt, failure, result, then } => {
            let (word, at) = match then {
                Then::Retry(at) => ("retry", Some(at.0)),
                Then::Ask => ("ask", None),
                Then::Continue => ("continue", None),
                Then::Stop => ("stop", None),
            };
            map.with("step", text(key))
                .with("attempt", int(*attempt))
                .with("failure", failure_data(failure))
                .with("result", result_data(result))
                .with("then", text(word))
                .with("at", at)
        }
        Event::AttemptCancelled { key, attempt } => {
            map.with("step", text(key)).with("attempt", int(*attempt))
        }
        Event::AttemptLost { key, attempt, rerun } => {
            map.with("step", text(key)).with("attempt", int(*attempt)).with("rerun", *rerun)
        }
        Event::LossResolved { key, by, decision } => {
            let word = match decision {
                LossDecision::Rerun => "rerun",
                LossDecision::Fail => "fail",
            };
            map.with("step", text(key)).with("by", text(by)).with("decision", text(word))
        }
        Event::StepSummarized { step, summary, model, usage } => map
            .with("step", text(step))
            .with("summary", text(summary))
            .with("model", text(model))
            .with("usage", usage_data(*usage)),
        Event::QuestionAsked { key, question } => {
            map.with("step", text(key)).with("question", question_data(question))
        }
        Event::QuestionAnswered { key, answer, by, comment } => map
            .with("step", text(key))
            .with("answer", text(answer))
            .with("by", text(by))
            .with("comment", maybe(comment.as_ref())),
        Event::QuestionExpired { key } => map.with("step", text(key)),
        Event::CancelRequested { by, reason } => {
            map.with("by", text(by)).with("reason", maybe(reason.as_ref()))
        }
        Event::DeadlinePassed => map,
        Event::VerdictNoted { until, verdict } => {
            let map = map.with("until", int(i64::try_from(*until).unwrap_or(i64::MAX)));
            match verdict {
                NotedVerdict::Lost(why) => map.with("why", text(why)),
                NotedVerdict::Given(given) => map
                    .with("at", int(given.at.0))
                    .with("answer", text(given.answer.word()))
                    .with("tool", text(&given.tool))
                    .with("kind", text(&given.kind))
                    .with("what", text(&given.what))
                    .with("why", text(&given.why))
                    .with("client", text(&given.client))
                    .with("session", text(&given.session))
                    .with("sub_agent", maybe(given.sub_agent.as_ref())),
            }
        }
        Event::Finished { status, error } => {
            map.with("status", text(status.word())).with("error", maybe(error.as_ref()))
        }
    }
}

fn created_data<'a, 'b>(created: &Created, map: &'a mut Map<'b>) -> &'a mut Map<'b> {
    let parent = created.parent.as_ref();
    let parent = parent.map(|(run, key)| called(run, key));
    let rerun_of = created.rerun_of.as_ref().map(|(run, step)| called(run, step));
    map.with("v", int(1))
        .with("at", int(created.at.0))
        .with("name", text(&created.name))
        .with("source", text(&created.source))
        .with("digest", text(&created.digest))
        .with("folder", maybe(created.folder.as_ref()))
        .with("root", text(&created.root))
        .with("files", list(created.files.iter().map(|(path, digest)| (text(path), text(digest)))))
        .with("inputs", list(created.inputs.iter().map(|(name, value)| (text(name), value))))
        .with("input", text(&created.input))
        .with("by", text(&created.by))
        .with("session", maybe(created.session.as_ref()))
        .with("parent", parent)
        .with("depth", int(created.depth))
        .with("rerun_of", rerun_of)
        .with("taken_over", list(created.taken_over.iter().map(taken_over_data)))
        .with("hooks", list(created.hooks.iter().map(hook_data)))
        .with("deadline", created.deadline.map(|at| at.0))
        .with("plan_approval", created.plan_approval)
        .with("trace", maybe(created.trace.as_ref()))
}

/// Returns a step of another run.
fn called(run: &RunId, step: &impl Display) -> impl Json {
    map(move |map| {
        map.with("run", text(run)).with("step", text(step));
    })
}

pub(crate) fn skip_data<'a, 'b>(why: &Skip, map: &'a mut Map<'b>) -> &'a mut Map<'b> {
    match why {
        Skip::When { because } => map.with("when", text(because)),
        Skip::Rejected { need } => map.with("rejected", text(need)),
        Skip::Chosen { by } => map.with("chosen_by", text(by)),
    }
}

fn taken_over_data(taken: &TakenOver) -> impl Json {
    map(move |map| {
        map.with("step", text(&taken.step))
            .with("result", result_data(&taken.result))
            .with("skipped_by", maybe(taken.skipped_by.as_ref()))
            .with("failed", maybe(taken.failed.as_ref()))
            .with(
                "failed_items",
                list(taken.failed_items.iter().map(|(label, why)| (text(label), text(why)))),
            )
            .with("items", list(taken.items.iter().map(|(label, item, _)| (text(label), item))))
            .with("results", list(taken.items.iter().map(|(_, _, result)| result_data(result))));
    })
}

pub(crate) fn hook_data(hook: &HookKey) -> impl Json {
    let phase = match hook.phase {
        HookPhase::Before => "before",
        HookPhase::After => "after",
    };
    format!("{phase}/{}", hook.file)
}

fn output_data(output: &Output) -> impl Json {
    let is_there = !output.text.is_empty() || output.bytes != 0;
    is_there.then(|| {
        map(move |map| {
            map.with("text", text(&output.text))
                .with("bytes", i64::try_from(output.bytes).unwrap_or(i64::MAX))
                .with("cut", output.cut);
        })
    })
}

pub(crate) fn result_data(result: &StepResult) -> impl Json {
    map(move |map| {
        map.with("output", output_data(&result.output))
            .with("stderr", output_data(&result.stderr))
            .with("exit_code", result.exit_code.map(int))
            // Data that a schema asked for may be null or false itself, so it stands in a list of its own.
            .with("json", list(&result.json))
            .with("answer", maybe(result.answer.as_ref()))
            .with("by", maybe(result.by.as_ref()))
            .with("comment", maybe(result.comment.as_ref()))
            .with("run", maybe(result.run.as_ref()))
            .with("usage", result.usage.map(usage_data))
            .with("cost", cost_data(result.cost))
            .with("turns", (result.turns > 0).then(|| int(result.turns)))
            .with("summary", maybe(result.summary.as_ref()));
    })
}

pub(crate) fn cost_data(Cost(amount): Cost) -> Option<i64> {
    (amount != 0).then(|| i64::try_from(amount).unwrap_or(i64::MAX))
}

pub(crate) fn usage_data(usage: Usage) -> impl Json {
    let tokens = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    // The cache is named only where one was used: most logs are written by runners that have none.
    let cache = move |count: u64| (count > 0).then(|| tokens(count));
    map(move |map| {
        map.with("input_tokens", tokens(usage.input_tokens))
            .with("output_tokens", tokens(usage.output_tokens))
            .with("cache_read_tokens", cache(usage.cache_read_tokens))
            .with("cache_write_tokens", cache(usage.cache_write_tokens));
    })
}

fn failure_data(failure: &AttemptFailure) -> impl Json {
    map(move |map| {
        match failure {
            AttemptFailure::ExitCode(code) => map.with("exit_code", int(*code)),
            AttemptFailure::Signal(signal) => map.with("signal", int(*signal)),
            AttemptFailure::TimedOut => map.with("timed_out", true),
            AttemptFailure::NotStarted(reason) => map.with("not_started", text(reason)),
            AttemptFailure::Runner(reason) => map.with("runner", text(reason)),
            AttemptFailure::Evidence(missing) => map.exactly("evidence", list(missing.iter().map(text))),
            AttemptFailure::Expression(reason) => map.with("expression", text(reason)),
            AttemptFailure::Until(rounds) => map.with("until", int(*rounds)),
            AttemptFailure::Child(how) => map.with("child", text(how)),
            AttemptFailure::Lost(by) => map.with("lost", text(by)),
        };
    })
}

pub(crate) fn question_data(question: &Question) -> impl Json {
    let about = match question.about {
        QuestionKind::Approval => "approval",
        QuestionKind::Failure => "failure",
    };
    map(move |map| {
        map.with("about", text(about))
            .with("prompt", text(&question.prompt))
            .with("options", list(question.options.iter().map(|(label, value)| (text(label), text(value)))))
            .with("approvers", list(question.approvers.iter().map(text)))
            .with("deadline", question.deadline.map(|at| at.0));
    })
}
