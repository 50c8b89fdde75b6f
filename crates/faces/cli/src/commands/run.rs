//! `abide run NAME` and `abide resume [RUN]`

use super::drive::{Asking, drive};
use super::dry_run::dry_run;
use crate::args::{ResumeArguments, RunArguments};
use crate::gate::keeps_to_its_own;
use crate::human::agent_above;
use crate::runners;
use crate::runs::{self, LocalDriver, Progress, Wanted};
use crate::session::Session;
use crate::{Exit, Failure, ui};
use abide_core::event::LossDecision;
use abide_core::run::{Command, Run};
use abide_engine::service::{self, ServiceError};
use std::sync::Arc;

pub(crate) fn run(session: &mut Session<'_>, arguments: &RunArguments) -> Result<Exit, Failure> {
    let start = runs::start_of(session, &arguments.name, &arguments.given)?;
    if arguments.dry_run {
        return dry_run(session, start, arguments.stubs.as_deref());
    }
    let prepared = runs::prepare(session, start.clone())?;
    if agent_above(session.surroundings).is_some() {
        keeps_to_its_own(session, &prepared.run)?;
    }
    // Before there is a log: a run that cannot begin leaves nothing.
    runs::can_begin(session, &prepared)?;
    if session.surroundings.terminal && !session.json {
        // A plan that cannot be made is shown where it fails: a step that is never reached does no harm.
        if let Ok(plan) = runs::plan(session, &prepared) {
            session.say(&ui::plan::outline(&plan))?;
        }
    }
    let store = runs::open_store(session)?;
    let (progress, told) = Progress::new();
    let driver = runners::driver(session, store, Arc::new(progress));
    runs::block_on(async {
        let started = service::start(&driver, start).await;
        let id = started.map_err(|error| runs::service_failure(&error))?;
        // It has begun, and is brought to its end whoever reads along.
        session.go_on_unheard();
        if arguments.detach {
            runs::detach(session, &id, &driver.secrets_of(&id))?;
            if session.json {
                session.print_json(&serde_json::json!({ "run": id.as_str() }))?;
            } else {
                session.print(&format!("{id}\n"))?;
                session.say(&format!(
                    "`abide logs -f {id}` follows it, `abide status {id}` shows how far it is\n"
                ))?;
            }
            return Ok(Exit::Done);
        }
        if !session.json {
            session.say(&format!("run {id}\n"))?;
        }
        drive(session, &driver, id, told, Asking::Human, None).await
    })?
}

pub(crate) fn resume(session: &mut Session<'_>, arguments: &ResumeArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else {
        return Err(
            Failure::new(Exit::NotFound, "no run was ever started here").help("`abide run NAME` starts one")
        );
    };
    let handed_over = if arguments.detached { runs::arrive()? } else { Vec::new() };
    runs::block_on(async {
        let id = runs::find_run(&store, arguments.run.as_deref(), Wanted::Unfinished).await?;
        let loaded = runs::load_run(&store, &id).await?;
        if loaded.run.is_finished() {
            let message = format!("run {id} is over: {}", loaded.run.status().word());
            return Err(Failure::new(Exit::Refused, message).help("`abide run NAME` starts a new one"));
        }
        let secrets = if arguments.detached {
            handed_over
        } else {
            let mut given = runs::secrets_given(session, &loaded.run, &arguments.input)?;
            if loaded.run.ending.is_none() {
                runs::ask_for_secrets(session, &loaded.run, &mut given).await?;
            }
            service::secrets_again(&loaded.run, &given).map_err(|error| runs::service_failure(&error))?
        };
        runs::go_on_after(&store, &id).await?;
        let (progress, told) = Progress::new();
        let driver = runners::driver(session, store, Arc::new(progress));
        driver.give_secrets(&id, secrets);
        let decision = match (arguments.rerun, arguments.fail) {
            (true, _) => Some(LossDecision::Rerun),
            (_, true) => Some(LossDecision::Fail),
            _ => None,
        };
        if let Err(error) = service::can_go_on(&driver, &loaded.run) {
            return left_to_its_session(session, &driver, &loaded.run, decision, &error).await;
        }
        drive(session, &driver, id, told, Asking::Human, decision).await
    })?
}

/// Records what a human decided about a run whose next steps only its session can do.
async fn left_to_its_session(
    session: &mut Session<'_>,
    driver: &LocalDriver,
    run: &Run,
    decision: Option<LossDecision>,
    error: &ServiceError,
) -> Result<Exit, Failure> {
    let id = &run.id;
    let Some(owner) = run.created.session.as_deref() else { return Err(runs::service_failure(error)) };
    let Some(decision) = decision else {
        return Err(Failure::new(Exit::Refused, format!("run {id} goes on in its session, {owner}"))
            .help("open that session in its client again: its agent is told to go on"));
    };
    let by = runs::user(session);
    for (run, key) in service::lost(driver, id).await.map_err(|error| runs::service_failure(&error))? {
        let command = Command::Resolve { key, by: by.as_str().into(), decision };
        service::command(driver, &run, command).await.map_err(|error| runs::service_failure(&error))?;
    }
    session.say(&format!("decided; the run goes on in its session, {owner}\n"))?;
    Ok(Exit::Done)
}
