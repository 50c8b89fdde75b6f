//! JSON → events.

use super::fields::Fields;
use crate::json;
use abide_core::definition::StepId;
use abide_core::event::{
    AttemptFailure, Created, EndStatus, Event, GivenVerdict, HookKey, HookPhase, LossDecision, NotedVerdict,
    Output, Question, QuestionKind, RunId, Skip, StepKey, StepResult, TakenOver, Then, Timestamp,
    TraceParent, VerdictAnswer,
};
use abide_core::model::{Cost, Usage};
use abide_core::value::Value;
use smol_str::SmolStr;

/// A stored event that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the event `{kind}` cannot be read: {what}")]
pub struct BadEvent {
    /// The event's kind.
    pub kind: String,
    /// What is wrong with it.
    pub what: String,
}

impl BadEvent {
    pub(crate) fn new(kind: &str, what: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), what: what.into() }
    }
}

/// Reads an event from its kind and its data.
pub fn read(kind: &str, data: &str) -> Result<Event, BadEvent> {
    let value = json::parse(data).map_err(|error| BadEvent::new(kind, error))?;
    let mut fields = Fields::new(kind, value)?;
    let event = event(kind, &mut fields)?;
    fields.finish()?;
    Ok(event)
}

fn event(kind: &str, fields: &mut Fields<'_>) -> Result<Event, BadEvent> {
    Ok(match kind {
        "run.created" => Event::Created(Box::new(created(fields)?)),
        "plan.answered" => Event::PlanAnswered {
            by: fields.word("by")?,
            approved: fields.flag("approved")?,
            comment: fields.optional_text("comment")?,
        },
        "hook.started" => Event::HookStarted { hook: hook(fields, "hook")? },
        "hook.ended" => {
            Event::HookEnded { hook: hook(fields, "hook")?, error: fields.optional_text("error")? }
        }
        "step.skipped" => Event::StepSkipped { step: step(fields, "step")?, why: skip(fields)? },
        "step.expanded" => Event::StepExpanded {
            step: step(fields, "step")?,
            items: fields.pairs("items")?.into_iter().map(|(label, item)| (label.into(), item)).collect(),
        },
        "step.started" => Event::AttemptStarted {
            key: fields.key("step")?,
            attempt: fields.count("attempt")?,
            deadline: fields.moment("deadline")?,
        },
        "step.succeeded" => Event::AttemptSucceeded {
            key: fields.key("step")?,
            attempt: fields.count("attempt")?,
            result: result(fields)?,
            again: fields.moment("again")?,
        },
        "step.failed" => Event::AttemptFailed {
            key: fields.key("step")?,
            attempt: fields.count("attempt")?,
            failure: failure(fields)?,
            result: result(fields)?,
            then: then(fields)?,
        },
        "step.cancelled" => {
            Event::AttemptCancelled { key: fields.key("step")?, attempt: fields.count("attempt")? }
        }
        "step.lost" => Event::AttemptLost {
            key: fields.key("step")?,
            attempt: fields.count("attempt")?,
            rerun: fields.flag("rerun")?,
        },
        "step.resolved" => Event::LossResolved {
            key: fields.key("step")?,
            by: fields.word("by")?,
            decision: match fields.text("decision")?.as_str() {
                "rerun" => LossDecision::Rerun,
                "fail" => LossDecision::Fail,
                _ => return Err(fields.bad("decision")),
            },
        },
        "question.asked" => Event::QuestionAsked { key: fields.key("step")?, question: question(fields)? },
        "question.answered" => Event::QuestionAnswered {
            key: fields.key("step")?,
            answer: fields.word("answer")?,
            by: fields.word("by")?,
            comment: fields.optional_text("comment")?,
        },
        "step.summarized" => Event::StepSummarized {
            step: step(fields, "step")?,
            summary: fields.text("summary")?,
            model: fields.text("model")?.into(),
            usage: usage(fields)?.unwrap_or_default(),
        },
        "question.expired" => Event::QuestionExpired { key: fields.key("step")? },
        "run.cancel_requested" => {
            Event::CancelRequested { by: fields.word("by")?, reason: fields.optional_text("reason")? }
        }
        "run.deadline_passed" => Event::DeadlinePassed,
        "verdict.given" => Event::VerdictNoted {
            until: position(fields, "until")?,
            verdict: NotedVerdict::Given(Box::new(GivenVerdict {
                at: fields.moment("at")?.ok_or_else(|| fields.bad("at"))?,
                answer: VerdictAnswer::parse(&fields.text("answer")?).ok_or_else(|| fields.bad("answer"))?,
                tool: fields.text("tool")?,
                kind: fields.word("kind")?,
                what: fields.text("what")?,
                why: fields.text("why")?,
                client: fields.word("client")?,
                session: fields.text("session")?,
                sub_agent: fields.optional_text("sub_agent")?,
            })),
        },
        "verdict.lost" => Event::VerdictNoted {
            until: position(fields, "until")?,
            verdict: NotedVerdict::Lost(fields.text("why")?),
        },
        "run.finished" => Event::Finished {
            status: match fields.text("status")?.as_str() {
                "completed" => EndStatus::Completed,
                "failed" => EndStatus::Failed,
                "cancelled" => EndStatus::Cancelled,
                "timed_out" => EndStatus::TimedOut,
                _ => return Err(fields.bad("status")),
            },
            error: fields.optional_text("error")?,
        },
        _ => return Err(BadEvent::new(kind, "this version of abide does not know it")),
    })
}

fn position(fields: &mut Fields<'_>, name: &str) -> Result<u64, BadEvent> {
    let value = fields.optional_int(name)?.ok_or_else(|| fields.bad(name))?;
    u64::try_from(value).map_err(|_| fields.bad(name))
}

fn created(fields: &mut Fields<'_>) -> Result<Created, BadEvent> {
    if fields.optional_int("v")? != Some(1) {
        return Err(BadEvent::new("run.created", "it was written by a newer abide"));
    }
    let parent: Option<(RunId, StepKey)> = match fields.inner("parent")? {
        None => None,
        Some(mut inner) => {
            let run = inner.run("run")?.ok_or_else(|| inner.bad("run"))?;
            Some((run, inner.key("step")?))
        }
    };
    let rerun_of: Option<(RunId, StepId)> = match fields.inner("rerun_of")? {
        None => None,
        Some(mut inner) => {
            let run = inner.run("run")?.ok_or_else(|| inner.bad("run"))?;
            Some((run, step(&mut inner, "step")?))
        }
    };
    let files: Result<Vec<(String, SmolStr)>, BadEvent> = fields
        .pairs("files")?
        .into_iter()
        .map(|(path, digest)| match digest {
            Value::Text(digest) => Ok((path, digest.into())),
            _ => Err(fields.bad("files")),
        })
        .collect();
    let taken_over: Result<Vec<TakenOver>, BadEvent> =
        fields.list("taken_over")?.into_iter().map(taken_over_of).collect();
    let hooks: Option<Vec<HookKey>> = fields.texts("hooks")?.iter().map(|text| hook_of(text)).collect();
    Ok(Created {
        at: fields.moment("at")?.ok_or_else(|| fields.bad("at"))?,
        name: fields.word("name")?,
        source: fields.text("source")?,
        digest: fields.word("digest")?,
        folder: fields.optional_text("folder")?,
        root: fields.text("root")?,
        files: files?,
        inputs: fields.pairs("inputs")?.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        input: fields.text("input")?,
        by: fields.word("by")?,
        session: fields.optional_text("session")?.map(Into::into),
        parent,
        depth: fields.count("depth")?,
        rerun_of,
        taken_over: taken_over?,
        hooks: hooks.ok_or_else(|| fields.bad("hooks"))?,
        deadline: fields.moment("deadline")?,
        plan_approval: fields.flag("plan_approval")?,
        trace: trace(fields)?,
    })
}

fn trace(fields: &mut Fields<'_>) -> Result<Option<TraceParent>, BadEvent> {
    match fields.optional_text("trace")? {
        None => Ok(None),
        Some(text) => TraceParent::parse(&text).map(Some).ok_or_else(|| fields.bad("trace")),
    }
}

fn taken_over_of(value: Value) -> Result<TakenOver, BadEvent> {
    let mut fields = Fields::new("run.created", value)?;
    let items = fields.pairs("items")?;
    let results = fields.list("results")?;
    if items.len() != results.len() {
        return Err(fields.bad("results"));
    }
    let results: Result<Vec<StepResult>, BadEvent> =
        results.into_iter().map(|value| result_of(Some(Fields::new("run.created", value)?))).collect();
    let failed_items: Result<Vec<(SmolStr, String)>, BadEvent> = fields
        .pairs("failed_items")?
        .into_iter()
        .map(|(label, why)| match why {
            Value::Text(why) => Ok((label.into(), why)),
            _ => Err(fields.bad("failed_items")),
        })
        .collect();
    let items = items.into_iter().zip(results?).map(|((label, item), result)| (label.into(), item, result));
    let taken = TakenOver {
        step: step(&mut fields, "step")?,
        result: result(&mut fields)?,
        skipped_by: fields.optional_text("skipped_by")?.map(Into::into),
        failed: fields.optional_text("failed")?,
        failed_items: failed_items?,
        items: items.collect(),
    };
    fields.finish()?;
    Ok(taken)
}

fn step(fields: &mut Fields<'_>, name: &str) -> Result<StepId, BadEvent> {
    StepId::parse(&fields.text(name)?).map_err(|_| fields.bad(name))
}

pub(crate) fn hook(fields: &mut Fields<'_>, name: &str) -> Result<HookKey, BadEvent> {
    hook_of(&fields.text(name)?).ok_or_else(|| fields.bad(name))
}

pub(crate) fn hook_of(text: &str) -> Option<HookKey> {
    let (phase, file) = text.split_once('/')?;
    let phase = match phase {
        "before" => HookPhase::Before,
        "after" => HookPhase::After,
        _ => return None,
    };
    Some(HookKey { phase, file: file.into() })
}

fn skip(fields: &mut Fields<'_>) -> Result<Skip, BadEvent> {
    if let Some(because) = fields.optional_text("when")? {
        return Ok(Skip::When { because });
    }
    if let Some(by) = fields.optional_text("chosen_by")? {
        return Ok(Skip::Chosen { by: by.into() });
    }
    Ok(Skip::Rejected { need: step(fields, "rejected")? })
}

fn then(fields: &mut Fields<'_>) -> Result<Then, BadEvent> {
    let at: Option<Timestamp> = fields.moment("at")?;
    Ok(match fields.text("then")?.as_str() {
        "retry" => Then::Retry(at.ok_or_else(|| fields.bad("at"))?),
        "ask" => Then::Ask,
        "continue" => Then::Continue,
        "stop" => Then::Stop,
        _ => return Err(fields.bad("then")),
    })
}

fn output(fields: &mut Fields<'_>, name: &str) -> Result<Output, BadEvent> {
    let Some(mut inner) = fields.inner(name)? else { return Ok(Output::default()) };
    let bytes = inner.optional_int("bytes")?.unwrap_or(0);
    let output = Output {
        text: inner.text("text")?,
        bytes: u64::try_from(bytes).map_err(|_| inner.bad("bytes"))?,
        cut: inner.flag("cut")?,
    };
    inner.finish()?;
    Ok(output)
}

fn result(fields: &mut Fields<'_>) -> Result<StepResult, BadEvent> {
    result_of(fields.inner("result")?)
}

pub(crate) fn result_of(inner: Option<Fields<'_>>) -> Result<StepResult, BadEvent> {
    let Some(mut inner) = inner else { return Ok(StepResult::default()) };
    let exit_code = inner.optional_int("exit_code")?.map(i32::try_from).transpose();
    let result = StepResult {
        output: output(&mut inner, "output")?,
        stderr: output(&mut inner, "stderr")?,
        exit_code: exit_code.map_err(|_| inner.bad("exit_code"))?,
        json: inner.list("json")?.into_iter().next(),
        answer: inner.optional_text("answer")?.map(Into::into),
        by: inner.optional_text("by")?.map(Into::into),
        comment: inner.optional_text("comment")?,
        run: inner.run("run")?,
        usage: usage(&mut inner)?,
        cost: cost(&mut inner)?,
        turns: inner.optional_int("turns")?.map_or(Ok(0), u32::try_from).map_err(|_| inner.bad("turns"))?,
        summary: inner.optional_text("summary")?,
    };
    inner.finish()?;
    Ok(result)
}

pub(crate) fn cost(fields: &mut Fields<'_>) -> Result<Cost, BadEvent> {
    let cost = fields.optional_int("cost")?.unwrap_or(0);
    u64::try_from(cost).map(Cost).map_err(|_| fields.bad("cost"))
}

pub(crate) fn usage(fields: &mut Fields<'_>) -> Result<Option<Usage>, BadEvent> {
    let Some(mut inner) = fields.inner("usage")? else { return Ok(None) };
    let mut tokens = |name: &str| {
        let tokens = inner.optional_int(name)?.unwrap_or(0);
        u64::try_from(tokens).map_err(|_| inner.bad(name))
    };
    let usage = Usage {
        input_tokens: tokens("input_tokens")?,
        output_tokens: tokens("output_tokens")?,
        cache_read_tokens: tokens("cache_read_tokens")?,
        cache_write_tokens: tokens("cache_write_tokens")?,
    };
    inner.finish()?;
    Ok(Some(usage))
}

fn failure(fields: &mut Fields<'_>) -> Result<AttemptFailure, BadEvent> {
    let mut inner = fields.inner("failure")?.ok_or_else(|| fields.bad("failure"))?;
    let small = |value: i64| i32::try_from(value).unwrap_or(i32::MAX);
    let found = if let Some(code) = inner.optional_int("exit_code")? {
        AttemptFailure::ExitCode(small(code))
    } else if let Some(signal) = inner.optional_int("signal")? {
        AttemptFailure::Signal(small(signal))
    } else if inner.flag("timed_out")? {
        AttemptFailure::TimedOut
    } else if let Some(reason) = inner.optional_text("not_started")? {
        AttemptFailure::NotStarted(reason)
    } else if let Some(reason) = inner.optional_text("runner")? {
        AttemptFailure::Runner(reason)
    } else if let Some(reason) = inner.optional_text("expression")? {
        AttemptFailure::Expression(reason)
    } else if let Some(rounds) = inner.optional_int("until")? {
        AttemptFailure::Until(u32::try_from(rounds).unwrap_or(u32::MAX))
    } else if let Some(how) = inner.optional_text("child")? {
        AttemptFailure::Child(how)
    } else if let Some(by) = inner.optional_text("lost")? {
        AttemptFailure::Lost(by.into())
    } else {
        AttemptFailure::Evidence(inner.texts("evidence")?)
    };
    inner.finish()?;
    Ok(found)
}

pub(crate) fn question(fields: &mut Fields<'_>) -> Result<Question, BadEvent> {
    let mut inner = fields.inner("question")?.ok_or_else(|| fields.bad("question"))?;
    let about = match inner.text("about")?.as_str() {
        "approval" => QuestionKind::Approval,
        "failure" => QuestionKind::Failure,
        _ => return Err(inner.bad("about")),
    };
    let options: Option<Vec<(String, SmolStr)>> = inner
        .pairs("options")?
        .into_iter()
        .map(|(label, value)| match value {
            Value::Text(value) => Some((label, value.into())),
            _ => None,
        })
        .collect();
    let question = Question {
        about,
        prompt: inner.text("prompt")?,
        options: options.ok_or_else(|| inner.bad("options"))?,
        approvers: inner.texts("approvers")?,
        deadline: inner.moment("deadline")?,
    };
    inner.finish()?;
    Ok(question)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::event::StepKey;

    #[test]
    fn what_a_runner_leaves_reads_back() {
        let key = StepKey::parse("review[eu]").unwrap();
        let usage = Some(Usage {
            input_tokens: 1_200,
            output_tokens: 0,
            cache_read_tokens: 7,
            cache_write_tokens: 0,
        });
        let result = StepResult { output: Output::whole("fine"), usage, ..StepResult::default() };
        let failed = Event::AttemptFailed {
            key: key.clone(),
            attempt: 1,
            failure: AttemptFailure::Runner("no model".to_owned()),
            result: result.clone(),
            then: Then::Stop,
        };
        let done = Event::AttemptSucceeded { key, attempt: 2, result, again: None };
        for event in [failed, done] {
            assert_eq!(read(event.kind(), &crate::event::write(&event)), Ok(event));
        }
    }

    #[test]
    fn verdicts_read_back() {
        let given = GivenVerdict {
            at: Timestamp(5),
            answer: VerdictAnswer::Asked,
            tool: "Bash".to_owned(),
            kind: "execute".into(),
            what: String::new(),
            why: "it is a human's".to_owned(),
            client: "codex".into(),
            session: "s1".to_owned(),
            sub_agent: Some("a1".to_owned()),
        };
        for verdict in [NotedVerdict::Given(Box::new(given)), NotedVerdict::Lost("cut off".to_owned())] {
            let event = Event::VerdictNoted { until: 700, verdict };
            assert_eq!(read(event.kind(), &crate::event::write(&event)), Ok(event));
        }
        read("verdict.given", "{\"until\":-1,\"why\":\"x\"}").unwrap_err();
        read("verdict.lost", "{\"why\":\"x\"}").unwrap_err();
    }
}
