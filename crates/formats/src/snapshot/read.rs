//! JSON → how far a run had come.

use crate::event::BadEvent;
use crate::event::fields::Fields;
use crate::event::read::{cost, hook_of, question, result_of, usage};
use crate::json;
use abide_core::definition::StepId;
use abide_core::event::{EndStatus, Skip, StepResult, Timestamp};
use abide_core::run::{Instance, InstanceState, Phase, Progress, StepProgress, StepStatus, Verdicts};
use abide_core::turn::Spent;
use abide_core::value::Value;

/// What errors call it.
const KIND: &str = "snapshot";

/// Reads how far a run had come.
pub fn read(data: &str) -> Result<Progress, BadEvent> {
    let value = json::parse(data).map_err(|error| BadEvent::new(KIND, error))?;
    let mut fields = Fields::new(KIND, value)?;
    let phase = fields.inner("phase")?.ok_or_else(|| fields.bad("phase"))?;
    let steps: Result<Vec<_>, BadEvent> = fields.list("steps")?.into_iter().map(step).collect();
    let hook = fields.optional_text("hook")?;
    let hook = hook.map(|text| hook_of(&text).ok_or_else(|| fields.bad("hook"))).transpose()?;
    let progress = Progress {
        phase: phase_of(phase)?,
        ending: fields.inner("ending")?.map(end).transpose()?,
        cancelling: fields.flag("cancelling")?,
        verdicts: fields.inner("verdicts")?.map(verdicts).transpose()?.unwrap_or_default(),
        spent: spent(&mut fields)?,
        hook,
        steps: steps?,
    };
    fields.finish()?;
    Ok(progress)
}

fn spent(fields: &mut Fields<'_>) -> Result<Spent, BadEvent> {
    let Some(mut inner) = fields.inner("spent")? else { return Ok(Spent::default()) };
    let spent = Spent {
        usage: usage(&mut inner)?.unwrap_or_default(),
        cost: cost(&mut inner)?,
        turns: inner.count("turns")?,
    };
    inner.finish()?;
    Ok(spent)
}

fn verdicts(mut fields: Fields<'_>) -> Result<Verdicts, BadEvent> {
    let until = fields.optional_int("until")?.unwrap_or(0);
    let verdicts = Verdicts {
        until: u64::try_from(until).map_err(|_| fields.bad("until"))?,
        denied: fields.count("denied")?,
        asked: fields.count("asked")?,
        warned: fields.count("warned")?,
        lost: fields.count("lost")?,
    };
    fields.finish()?;
    Ok(verdicts)
}

fn end(mut fields: Fields<'_>) -> Result<(EndStatus, Option<String>), BadEvent> {
    let status = match fields.text("status")?.as_str() {
        "completed" => EndStatus::Completed,
        "failed" => EndStatus::Failed,
        "cancelled" => EndStatus::Cancelled,
        "timed_out" => EndStatus::TimedOut,
        _ => return Err(fields.bad("status")),
    };
    let error = fields.optional_text("error")?;
    fields.finish()?;
    Ok((status, error))
}

fn place(fields: &mut Fields<'_>, name: &str) -> Result<Option<usize>, BadEvent> {
    let number = fields.optional_int(name)?.map(usize::try_from).transpose();
    number.map_err(|_| fields.bad(name))
}

fn phase_of(mut fields: Fields<'_>) -> Result<Phase, BadEvent> {
    let phase = if let Some(finished) = fields.inner("finished")? {
        let (status, error) = end(finished)?;
        Phase::Finished(status, error)
    } else if let Some(done) = place(&mut fields, "before")? {
        Phase::Before(done)
    } else if let Some(done) = place(&mut fields, "after")? {
        Phase::After(done)
    } else if fields.flag("awaiting_plan")? {
        Phase::AwaitingPlan
    } else if fields.flag("steps")? {
        Phase::Steps
    } else {
        return Err(fields.bad("phase"));
    };
    fields.finish()?;
    Ok(phase)
}

fn step(value: Value) -> Result<(usize, StepProgress), BadEvent> {
    let mut fields = Fields::new(KIND, value)?;
    let position = place(&mut fields, "step")?.ok_or_else(|| fields.bad("step"))?;
    let instances: Result<Vec<Instance>, BadEvent> =
        fields.list("instances")?.into_iter().map(instance).collect();
    let instances = instances?;
    let result = match (fields.list("result")?.pop(), &instances[..]) {
        (Some(given), _) => result_of(Some(Fields::new(KIND, given)?))?,
        (None, [only]) => only.result.clone(),
        (None, _) => StepResult::default(),
    };
    let progress = StepProgress {
        status: status(&mut fields)?,
        instances,
        result,
        note: fields.optional_text("note")?,
        spent: spent(&mut fields)?,
    };
    fields.finish()?;
    Ok((position, progress))
}

fn status(fields: &mut Fields<'_>) -> Result<StepStatus, BadEvent> {
    let bad = fields.bad("status");
    match fields.take("status") {
        Some(Value::Text(word)) => Ok(match word.as_str() {
            "waiting" => StepStatus::Waiting,
            "running" => StepStatus::Open,
            "completed" => StepStatus::Completed,
            "failed" => StepStatus::Failed,
            "rejected" => StepStatus::Rejected,
            "cancelled" => StepStatus::Cancelled,
            _ => return Err(bad),
        }),
        Some(value) => {
            let mut fields = Fields::new(KIND, value)?;
            let why = if let Some(because) = fields.optional_text("when")? {
                Skip::When { because }
            } else if let Some(by) = fields.optional_text("chosen_by")? {
                Skip::Chosen { by: by.into() }
            } else {
                Skip::Rejected { need: StepId::parse(&fields.text("rejected")?).map_err(|_| bad)? }
            };
            fields.finish()?;
            Ok(StepStatus::Skipped(why))
        }
        None => Err(bad),
    }
}

fn instance(value: Value) -> Result<Instance, BadEvent> {
    let mut fields = Fields::new(KIND, value)?;
    let instance = Instance {
        label: fields.optional_text("label")?.map(Into::into),
        item: fields.list("item")?.pop(),
        attempt: fields.count("attempt")?,
        retries: fields.count("retries")?,
        rounds: fields.count("rounds")?,
        state: state(&mut fields)?,
        result: result_of(fields.inner("result")?)?,
        error: fields.optional_text("error")?,
        missing: fields.texts("missing")?,
    };
    fields.finish()?;
    Ok(instance)
}

fn state(fields: &mut Fields<'_>) -> Result<InstanceState, BadEvent> {
    let bad = fields.bad("state");
    Ok(match fields.take("state") {
        Some(Value::Text(word)) => match word.as_str() {
            "ready" => InstanceState::Ready,
            "lost" => InstanceState::Lost,
            "completed" => InstanceState::Completed,
            "failed" => InstanceState::Failed,
            "rejected" => InstanceState::Rejected,
            "skipped" => InstanceState::Skipped,
            "cancelled" => InstanceState::Cancelled,
            _ => return Err(bad),
        },
        Some(value) => {
            let mut inner = Fields::new(KIND, value)?;
            let state = if let Some(at) = inner.moment("paused")? {
                InstanceState::Paused(at)
            } else if let Some(running) = inner.take("running") {
                let deadline = match running {
                    Value::Bool(true) => None,
                    Value::Int(at) => Some(Timestamp(at)),
                    _ => return Err(bad),
                };
                InstanceState::Running { deadline }
            } else {
                InstanceState::Asking(question(&mut inner)?)
            };
            inner.finish()?;
            state
        }
        None => return Err(bad),
    })
}
