//! `abide approve`, `abide reject`, `abide cancel`

use super::drive::{Asking, drive};
use crate::args::{AnswerArguments, CancelArguments};
use crate::runners;
use crate::runs::{self, Progress, SystemClock, Wanted};
use crate::session::Session;
use crate::ui::moment::moment;
use crate::{Exit, Failure};
use abide_core::definition::ApprovalStep;
use abide_core::event::{RunId, StepKey};
use abide_core::run::{Command, Refusal};
use abide_engine::driver::Nobody;
use abide_engine::port::Clock as _;
use abide_engine::service::{self, Given, Member, Open, ServiceError};
use abide_store_sqlite::SqliteStore;
use std::sync::Arc;

/// What is answered when nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Approve,
    Reject,
}

impl Answer {
    /// Returns the answer that is given, or why it is none: `--answer` never turns a no into a yes, or a yes into a no.
    pub(crate) fn value(self, given: Option<&str>, to_a_plan: bool) -> Result<&str, Failure> {
        const YES: &str = ApprovalStep::APPROVED;
        const NO: &str = ApprovalStep::REJECTED;
        let refused = |message: String, help: String| Err(Failure::new(Exit::Usage, message).help(help));
        match (self, given) {
            (Self::Approve, None | Some(YES)) => Ok(YES),
            (Self::Reject, None | Some(NO)) => Ok(NO),
            (Self::Approve, Some(NO)) => refused(
                format!("`abide approve` says yes, and the answer `{NO}` is a no"),
                "`abide reject RUN STEP` says no".to_owned(),
            ),
            (Self::Reject, Some(YES)) => refused(
                format!("`abide reject` says no, and the answer `{YES}` is a yes"),
                "`abide approve RUN STEP` says yes".to_owned(),
            ),
            (_, Some(answer)) if to_a_plan => refused(
                format!("`{answer}` is not an answer to a plan: the answers are `{YES}`, `{NO}`"),
                "`abide approve RUN` says yes, and `abide reject RUN` no".to_owned(),
            ),
            (Self::Reject, Some(answer)) => refused(
                format!("`abide reject` says no, and takes no other answer, such as `{answer}`"),
                format!("`abide approve RUN STEP --answer {answer}` chooses it"),
            ),
            (Self::Approve, Some(answer)) => Ok(answer),
        }
    }
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
        let id = runs::find_run(&store, arguments.run.as_deref(), Wanted::Asking).await?;
        let family = service::family(&store, &id).await.map_err(|error| runs::load_failure(&error))?;
        let asked = asked(&family, arguments.step.as_deref())?;
        let Some(asked) = asked else { return Err(nothing_is_asked(&store, &family).await?) };
        let (run, command) = match asked {
            (run, None) => {
                what.value(arguments.answer.as_deref(), true)?;
                let (approved, comment) = (what == Answer::Approve, arguments.comment.clone());
                (run, Command::AnswerPlan { by: by.as_str().into(), approved, comment })
            }
            (run, Some(key)) => (run, answer_to(key, arguments, what, &by)?),
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

/// Says that a run and those that it calls wait for nothing, and what was answered in them last.
async fn nothing_is_asked(store: &SqliteStore, family: &[Member]) -> Result<Failure, Failure> {
    let mut last: Option<Given> = None;
    for member in family {
        let given = service::last_answer(store, &member.run.id).await;
        let given = given.map_err(|error| runs::load_failure(&error))?;
        last = given.into_iter().chain(last).max_by_key(|given| given.at);
    }
    let id = family.first().map(|member| member.run.id.to_string()).unwrap_or_default();
    let failure = Failure::new(Exit::Refused, format!("run {id} does not wait for an answer"));
    Ok(match last {
        Some(given) => failure.help(format!("{given}, {}", moment(given.at))),
        None => failure,
    })
}

/// What is answered: a question of a run, or, without a step, its plan.
type Asked = (RunId, Option<StepKey>);

/// Finds what is answered: the run's own question, else the only one of those that it calls; a plan has no step.
fn asked(family: &[Member], step: Option<&str>) -> Result<Option<Asked>, Failure> {
    let [first, ..] = family else { return Err(Failure::new(Exit::NotFound, "there is no such run")) };
    let Some(step) = step else {
        let open = |member: &Member| -> Vec<_> {
            member.open().into_iter().map(|open| (member.run.id.clone(), open)).collect()
        };
        let all: Vec<(RunId, Open)> = family.iter().flat_map(open).collect();
        return match &all[..] {
            [(run, Open::Plan)] => Ok(Some((run.clone(), None))),
            [(run, Open::Question(key, _))] => Ok(Some((run.clone(), Some(key.clone())))),
            [] => Ok(None),
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
        return Ok(Some((first.run.id.clone(), Some(key))));
    }
    let all: Vec<(RunId, Open)> = family.iter().filter_map(asks).collect();
    match &all[..] {
        [(run, _)] => Ok(Some((run.clone(), Some(key)))),
        [] => {
            // The run that has the step says why it does not wait.
            let has = |member: &&Member| member.run.position(key.step.as_str()).is_some();
            let whose = family.iter().rfind(has).unwrap_or(first);
            Ok(Some((whose.run.id.clone(), Some(key))))
        }
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

fn answer_to(key: StepKey, arguments: &AnswerArguments, what: Answer, by: &str) -> Result<Command, Failure> {
    let answer = what.value(arguments.answer.as_deref(), false)?.into();
    let comment = arguments.comment.clone();
    Ok(Command::Answer { key, answer, by: by.into(), comment, now: SystemClock.now() })
}

pub(crate) fn cancel(session: &mut Session<'_>, arguments: &CancelArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else {
        return Err(Failure::new(Exit::NotFound, "no run was ever started here"));
    };
    let by = runs::user(session);
    runs::block_on(async {
        let id = runs::find_run(&store, arguments.run.as_deref(), Wanted::Unfinished).await?;
        let (progress, told) = Progress::new();
        let driver = runners::driver(session, store, Arc::new(progress));
        let command = Command::Cancel { by: by.into(), reason: arguments.reason.clone() };
        let cancelled = service::command(&driver, &id, command).await;
        let is_driven = service::is_driven(driver.store(), &id, SystemClock.now(), runs::is_dead).await;
        let is_driven = is_driven.map_err(|error| runs::store_failure(&error))?;
        match cancelled {
            // Nobody brings to its end what somebody cancelled before: that is done here.
            Err(ServiceError::Refused(Refusal::Ending(_))) if !is_driven => {}
            Err(error) => return Err(runs::service_failure(&error)),
            Ok(run) if run.is_finished() => {}
            Ok(_) if is_driven => {
                session.say(&format!("cancelling {id}\n"))?;
                return Ok(Exit::Done);
            }
            Ok(_) => {}
        }
        session.say(&format!("nobody drives {id}: what it left running is ended here\n"))?;
        runs::go_on_after(driver.store(), &id).await?;
        match drive(session, &driver, id, told, Asking::Human, None).await? {
            Exit::RunCancelled => Ok(Exit::Done),
            other => Ok(other),
        }
    })?
}
