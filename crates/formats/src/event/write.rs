//! Events → JSON.

use abide_core::event::{
    AttemptFailure, Created, Event, HookKey, HookPhase, LossDecision, NotedVerdict, Output, Question,
    QuestionKind, Skip, StepResult, TakenOver, Then,
};
use abide_core::model::Usage;
use abide_core::value::Value;

/// Returns the data of an event as JSON text; its kind is [`Event::kind`].
pub fn write(event: &Event) -> String {
    data(event).to_string()
}

/// A mapping under construction; what has its default is left out.
pub(crate) struct Map(Vec<(String, Value)>);

impl Map {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        let empty = match &value {
            Value::Null | Value::Bool(false) => true,
            Value::List(items) => items.is_empty(),
            Value::Map(entries) => entries.is_empty(),
            _ => false,
        };
        if !empty {
            self.0.push((name.to_owned(), value));
        }
        self
    }

    /// Adds a value that must come back as it is, also when it is empty.
    pub(crate) fn exactly(mut self, name: &str, value: Value) -> Self {
        self.0.push((name.to_owned(), value));
        self
    }

    pub(crate) fn done(self) -> Value {
        Value::Map(self.0)
    }
}

pub(crate) fn text<T: ToString + ?Sized>(value: &T) -> Value {
    Value::Text(value.to_string())
}

pub(crate) fn maybe<T: ToString + ?Sized>(value: Option<&T>) -> Value {
    value.map_or(Value::Null, text)
}

pub(crate) fn int(value: impl Into<i64>) -> Value {
    Value::Int(value.into())
}

fn data(event: &Event) -> Value {
    let map = Map::new();
    match event {
        Event::Created(created) => created_data(created),
        Event::PlanAnswered { by, approved, comment } => map
            .with("by", text(by))
            .with("approved", Value::Bool(*approved))
            .with("comment", maybe(comment.as_ref()))
            .done(),
        Event::HookStarted { hook } => map.with("hook", hook_data(hook)).done(),
        Event::HookEnded { hook, error } => {
            map.with("hook", hook_data(hook)).with("error", maybe(error.as_ref())).done()
        }
        Event::StepSkipped { step, why } => {
            let (name, value) = match why {
                Skip::When { because } => ("when", text(because)),
                Skip::Rejected { need } => ("rejected", text(need)),
                Skip::Chosen { by } => ("chosen_by", text(by)),
            };
            map.with("step", text(step)).with(name, value).done()
        }
        Event::StepExpanded { step, items } => {
            let items =
                items.iter().map(|(label, item)| Value::List(vec![text(label), item.clone()])).collect();
            map.with("step", text(step)).with("items", Value::List(items)).done()
        }
        Event::AttemptStarted { key, attempt, deadline } => map
            .with("step", text(key))
            .with("attempt", int(*attempt))
            .with("deadline", deadline.map_or(Value::Null, |at| int(at.0)))
            .done(),
        Event::AttemptSucceeded { key, attempt, result, again } => map
            .with("step", text(key))
            .with("attempt", int(*attempt))
            .with("result", result_data(result))
            .with("again", again.map_or(Value::Null, |at| int(at.0)))
            .done(),
        Event::AttemptFailed { key, attempt, failure, result, then } => {
            let (word, at) = match then {
                Then::Retry(at) => ("retry", int(at.0)),
                Then::Ask => ("ask", Value::Null),
                Then::Continue => ("continue", Value::Null),
                Then::Stop => ("stop", Value::Null),
            };
            map.with("step", text(key))
                .with("attempt", int(*attempt))
                .with("failure", failure_data(failure))
                .with("result", result_data(result))
                .with("then", text(word))
                .with("at", at)
                .done()
        }
        Event::AttemptCancelled { key, attempt } => {
            map.with("step", text(key)).with("attempt", int(*attempt)).done()
        }
        Event::AttemptLost { key, attempt, rerun } => map
            .with("step", text(key))
            .with("attempt", int(*attempt))
            .with("rerun", Value::Bool(*rerun))
            .done(),
        Event::LossResolved { key, by, decision } => {
            let word = match decision {
                LossDecision::Rerun => "rerun",
                LossDecision::Fail => "fail",
            };
            map.with("step", text(key)).with("by", text(by)).with("decision", text(word)).done()
        }
        Event::StepSummarized { step, summary, model, usage } => map
            .with("step", text(step))
            .with("summary", text(summary))
            .with("model", text(model))
            .with("usage", usage_data(*usage))
            .done(),
        Event::QuestionAsked { key, question } => {
            map.with("step", text(key)).with("question", question_data(question)).done()
        }
        Event::QuestionAnswered { key, answer, by, comment } => map
            .with("step", text(key))
            .with("answer", text(answer))
            .with("by", text(by))
            .with("comment", maybe(comment.as_ref()))
            .done(),
        Event::QuestionExpired { key } => map.with("step", text(key)).done(),
        Event::CancelRequested { by, reason } => {
            map.with("by", text(by)).with("reason", maybe(reason.as_ref())).done()
        }
        Event::DeadlinePassed => map.done(),
        Event::VerdictNoted { until, verdict } => {
            let map = map.with("until", int(i64::try_from(*until).unwrap_or(i64::MAX)));
            match verdict {
                NotedVerdict::Lost(why) => map.with("why", text(why)).done(),
                NotedVerdict::Given(given) => map
                    .with("at", int(given.at.0))
                    .with("answer", text(given.answer.word()))
                    .with("tool", text(&given.tool))
                    .with("kind", text(&given.kind))
                    .with("what", text(&given.what))
                    .with("why", text(&given.why))
                    .with("client", text(&given.client))
                    .with("session", text(&given.session))
                    .with("sub_agent", maybe(given.sub_agent.as_ref()))
                    .done(),
            }
        }
        Event::Finished { status, error } => {
            map.with("status", text(status.word())).with("error", maybe(error.as_ref())).done()
        }
    }
}

fn created_data(created: &Created) -> Value {
    let pair = |name: &dyn ToString, value: Value| Value::List(vec![Value::Text(name.to_string()), value]);
    let parent = match &created.parent {
        Some((run, key)) => Map::new().with("run", text(run)).with("step", text(key)).done(),
        None => Value::Null,
    };
    let rerun_of = match &created.rerun_of {
        Some((run, step)) => Map::new().with("run", text(run)).with("step", text(step)).done(),
        None => Value::Null,
    };
    Map::new()
        .with("v", int(1))
        .with("at", int(created.at.0))
        .with("name", text(&created.name))
        .with("source", text(&created.source))
        .with("digest", text(&created.digest))
        .with("folder", maybe(created.folder.as_ref()))
        .with("root", text(&created.root))
        .with(
            "files",
            Value::List(created.files.iter().map(|(path, digest)| pair(path, text(digest))).collect()),
        )
        .with(
            "inputs",
            Value::List(created.inputs.iter().map(|(name, value)| pair(name, value.clone())).collect()),
        )
        .with("input", text(&created.input))
        .with("by", text(&created.by))
        .with("session", maybe(created.session.as_ref()))
        .with("parent", parent)
        .with("depth", int(created.depth))
        .with("rerun_of", rerun_of)
        .with("taken_over", Value::List(created.taken_over.iter().map(taken_over_data).collect()))
        .with("hooks", Value::List(created.hooks.iter().map(hook_data).collect()))
        .with("deadline", created.deadline.map_or(Value::Null, |at| int(at.0)))
        .with("plan_approval", Value::Bool(created.plan_approval))
        .done()
}

fn taken_over_data(taken: &TakenOver) -> Value {
    let items = taken.items.iter().map(|(label, item, _)| Value::List(vec![text(label), item.clone()]));
    let results = taken.items.iter().map(|(_, _, result)| result_data(result));
    Map::new()
        .with("step", text(&taken.step))
        .with("result", result_data(&taken.result))
        .with("skipped_by", maybe(taken.skipped_by.as_ref()))
        .with("items", Value::List(items.collect()))
        .with("results", Value::List(results.collect()))
        .done()
}

pub(crate) fn hook_data(hook: &HookKey) -> Value {
    let phase = match hook.phase {
        HookPhase::Before => "before",
        HookPhase::After => "after",
    };
    Value::Text(format!("{phase}/{}", hook.file))
}

fn output_data(output: &Output) -> Value {
    if output.text.is_empty() && output.bytes == 0 {
        return Value::Null;
    }
    let bytes = i64::try_from(output.bytes).unwrap_or(i64::MAX);
    Map::new()
        .with("text", text(&output.text))
        .with("bytes", Value::Int(bytes))
        .with("cut", Value::Bool(output.cut))
        .done()
}

pub(crate) fn result_data(result: &StepResult) -> Value {
    // Data that a schema asked for may be null or false itself, so it stands in a list of its own.
    let json = result.json.as_ref().map_or(Value::Null, |json| Value::List(vec![json.clone()]));
    Map::new()
        .with("output", output_data(&result.output))
        .with("stderr", output_data(&result.stderr))
        .with("exit_code", result.exit_code.map_or(Value::Null, int))
        .with("json", json)
        .with("answer", maybe(result.answer.as_ref()))
        .with("by", maybe(result.by.as_ref()))
        .with("comment", maybe(result.comment.as_ref()))
        .with("run", maybe(result.run.as_ref()))
        .with("usage", result.usage.map_or(Value::Null, usage_data))
        .with("summary", maybe(result.summary.as_ref()))
        .done()
}

pub(crate) fn usage_data(usage: Usage) -> Value {
    let tokens = [
        ("input_tokens", usage.input_tokens),
        ("output_tokens", usage.output_tokens),
        ("cache_read_tokens", usage.cache_read_tokens),
        ("cache_write_tokens", usage.cache_write_tokens),
    ];
    // The cache is named only where one was used: most logs are written by runners that have none.
    let named = tokens.into_iter().filter(|(name, tokens)| !name.starts_with("cache") || *tokens > 0);
    let tokens = |tokens: u64| Value::Int(i64::try_from(tokens).unwrap_or(i64::MAX));
    Value::Map(named.map(|(name, count)| (name.to_owned(), tokens(count))).collect())
}

fn failure_data(failure: &AttemptFailure) -> Value {
    let (name, value) = match failure {
        AttemptFailure::ExitCode(code) => ("exit_code", int(*code)),
        AttemptFailure::Signal(signal) => ("signal", int(*signal)),
        AttemptFailure::TimedOut => ("timed_out", Value::Bool(true)),
        AttemptFailure::NotStarted(reason) => ("not_started", text(reason)),
        AttemptFailure::Runner(reason) => ("runner", text(reason)),
        AttemptFailure::Evidence(missing) => ("evidence", Value::List(missing.iter().map(text).collect())),
        AttemptFailure::Expression(reason) => ("expression", text(reason)),
        AttemptFailure::Until(rounds) => ("until", int(*rounds)),
        AttemptFailure::Child(how) => ("child", text(how)),
        AttemptFailure::Lost(by) => ("lost", text(by)),
    };
    Value::Map(vec![(name.to_owned(), value)])
}

pub(crate) fn question_data(question: &Question) -> Value {
    let about = match question.about {
        QuestionKind::Approval => "approval",
        QuestionKind::Failure => "failure",
    };
    let options =
        question.options.iter().map(|(label, value)| Value::List(vec![text(label), text(value)])).collect();
    Map::new()
        .with("about", text(about))
        .with("prompt", text(&question.prompt))
        .with("options", Value::List(options))
        .with("approvers", Value::List(question.approvers.iter().map(text).collect()))
        .with("deadline", question.deadline.map_or(Value::Null, |at| int(at.0)))
        .done()
}
