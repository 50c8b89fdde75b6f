//! `abide approve`, `abide reject`, `abide cancel`

use crate::args::{AnswerArguments, CancelArguments};
use crate::runs::{self, SystemClock};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::event::{RunId, StepKey};
use abide_core::run::Command;
use abide_engine::driver::Nobody;
use abide_engine::port::Clock as _;
use abide_engine::service::{self, Member, Open};
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
    let id = runs::block_on(async {
        let waiting = |status: &str| matches!(status, "waiting" | "awaiting_plan" | "running");
        let id = runs::find_run(&store, arguments.run.as_deref(), waiting).await?;
        let family = service::family(&store, &id).await.map_err(|error| runs::load_failure(&error))?;
        let (run, command) = match asked(&family, arguments.step.as_deref())? {
            (run, None) => {
                let (approved, comment) = (what == Answer::Approve, arguments.comment.clone());
                (run, Command::AnswerPlan { by: by.as_str().into(), approved, comment })
            }
            (run, Some(key)) => (run, answer_to(key, arguments, what, &by)),
        };
        let driver = runs::driver(session, store, Arc::new(Nobody));
        service::command(&driver, &run, command).await.map_err(|error| runs::service_failure(&error))?;
        Ok::<_, Failure>(id)
    })??;
    session.say(&format!(
        "answered; `abide status {id}` shows the run, `abide resume {id}` drives it on if nobody does\n"
    ))?;
    Ok(Exit::Done)
}

/// Finds what is answered: the run's own question, else the only one of those that it calls; a plan has no step.
fn asked(family: &[Member], step: Option<&str>) -> Result<(RunId, Option<StepKey>), Failure> {
    let [first, ..] = family else { return Err(Failure::new(Exit::NotFound, "there is no such run")) };
    let Some(step) = step else {
        let open = |member: &Member| -> Vec<_> {
            member.open().into_iter().map(|open| (member.run.id.clone(), open)).collect()
        };
        let all: Vec<(RunId, Open)> = family.iter().flat_map(open).collect();
        return match &all[..] {
            [(run, Open::Plan)] => Ok((run.clone(), None)),
            [(run, Open::Question(key, _))] => Ok((run.clone(), Some(key.clone()))),
            [] => {
                Err(Failure::new(Exit::Refused, format!("run {} does not wait for an answer", first.run.id)))
            }
            many => Err(several(&first.run.id, many)),
        };
    };
    let key =
        StepKey::parse(step).ok_or_else(|| Failure::new(Exit::Usage, format!("`{step}` is not a step")))?;
    let asks = |member: &Member| {
        let same = |open: &Open| matches!(open, Open::Question(known, _) if *known == key);
        member.open().into_iter().find(same).map(|open| (member.run.id.clone(), open))
    };
    // A step of the run itself is the one that is meant, also to be told why it cannot be answered.
    if first.run.position(key.step.as_str()).is_some() {
        return Ok((first.run.id.clone(), Some(key)));
    }
    let all: Vec<(RunId, Open)> = family.iter().filter_map(asks).collect();
    match &all[..] {
        [(run, _)] => Ok((run.clone(), Some(key))),
        [] => Ok((first.run.id.clone(), Some(key))),
        many => Err(several(&first.run.id, many)),
    }
}

/// Says which answers a run and those that it calls wait for.
fn several(id: &RunId, open: &[(RunId, Open)]) -> Failure {
    let shown = open.iter().map(|(run, open)| match open {
        Open::Plan if run == id => "its plan".to_owned(),
        Open::Plan => format!("the plan of {run}"),
        Open::Question(key, _) if run == id => key.to_string(),
        Open::Question(key, _) => format!("{key} of {run}"),
    });
    let shown: Vec<String> = shown.collect();
    Failure::new(Exit::Usage, format!("run {id} waits for several answers: {}", shown.join(", ")))
        .help("name the run and the step: `abide approve RUN STEP`")
}

fn answer_to(key: StepKey, arguments: &AnswerArguments, what: Answer, by: &str) -> Command {
    let answer = match (&arguments.answer, what) {
        (Some(answer), _) => answer.clone(),
        (None, Answer::Approve) => "approved".to_owned(),
        (None, Answer::Reject) => "rejected".to_owned(),
    };
    Command::Answer {
        key,
        answer: answer.into(),
        by: by.into(),
        comment: arguments.comment.clone(),
        now: SystemClock.now(),
    }
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
