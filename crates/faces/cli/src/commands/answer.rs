//! `abide approve`, `abide reject`, `abide cancel`

use crate::args::{AnswerArguments, CancelArguments};
use crate::runs::{self, SystemClock};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::event::StepKey;
use abide_core::run::{Command, Run};
use abide_engine::driver::Nobody;
use abide_engine::port::Clock as _;
use abide_engine::service;
use std::sync::Arc;

/// What is answered when nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Approve,
    Reject,
}

pub(crate) fn answer(
    session: &mut Session<'_>,
    arguments: &AnswerArguments,
    what: Answer,
) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else {
        return Err(Failure::new(Exit::NotFound, "no run was ever started here"));
    };
    let by = arguments.by.clone().unwrap_or_else(|| runs::user(session));
    let done = runs::block_on(async {
        let waiting = |status: &str| matches!(status, "waiting" | "awaiting_plan" | "running");
        let id = runs::find_run(&store, arguments.run.as_deref(), waiting).await?;
        let run = runs::load_run(&store, &id).await?.run;
        let command = command(&run, arguments, what, &by)?;
        let driver = runs::driver(session, store, Arc::new(Nobody));
        service::command(&driver, &id, command).await.map_err(|error| runs::service_failure(&error))?;
        Ok::<_, Failure>(id)
    })??;
    session.say(&format!(
        "answered; `abide status {done}` shows the run, `abide resume {done}` drives it on if nobody does\n"
    ))?;
    Ok(Exit::Done)
}

fn command(run: &Run, arguments: &AnswerArguments, what: Answer, by: &str) -> Result<Command, Failure> {
    if run.status() == abide_core::run::RunStatus::AwaitingPlan {
        return Ok(Command::AnswerPlan {
            by: by.into(),
            approved: what == Answer::Approve,
            comment: arguments.comment.clone(),
        });
    }
    let key = match &arguments.step {
        Some(step) => StepKey::parse(step)
            .ok_or_else(|| Failure::new(Exit::Usage, format!("`{step}` is not a step")))?,
        None => match &run.questions()[..] {
            [(key, _)] => key.clone(),
            [] => {
                return Err(Failure::new(
                    Exit::Refused,
                    format!("run {} does not wait for an answer", run.id),
                ));
            }
            many => {
                let keys: Vec<String> = many.iter().map(|(key, _)| key.to_string()).collect();
                return Err(Failure::new(
                    Exit::Usage,
                    format!("run {} waits for several answers: {}", run.id, keys.join(", ")),
                ));
            }
        },
    };
    let answer = match (&arguments.answer, what) {
        (Some(answer), _) => answer.clone(),
        (None, Answer::Approve) => "approved".to_owned(),
        (None, Answer::Reject) => "rejected".to_owned(),
    };
    Ok(Command::Answer {
        key,
        answer: answer.into(),
        by: by.into(),
        comment: arguments.comment.clone(),
        now: SystemClock.now(),
    })
}

pub(crate) fn cancel(session: &mut Session<'_>, arguments: &CancelArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else {
        return Err(Failure::new(Exit::NotFound, "no run was ever started here"));
    };
    let by = runs::user(session);
    let id = runs::block_on(async {
        let unfinished = |status: &str| !matches!(status, "completed" | "failed" | "cancelled" | "timed_out");
        let id = runs::find_run(&store, arguments.run.as_deref(), unfinished).await?;
        let driver = runs::driver(session, store, Arc::new(Nobody));
        let command = Command::Cancel { by: by.into(), reason: arguments.reason.clone() };
        service::command(&driver, &id, command).await.map_err(|error| runs::service_failure(&error))?;
        Ok::<_, Failure>(id)
    })??;
    session.say(&format!("cancelling {id}\n"))?;
    Ok(Exit::Done)
}
