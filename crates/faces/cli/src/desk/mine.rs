//! Whose run a call is about: begun for the session that asks, found again after a restart, and no other session's.

use super::{LocalDesk, refused, session_of, value};
use crate::builtin::sessions_file;
use crate::gate::{keeps_to_its_own, try_to_take_verdicts};
use crate::runs::{self, LocalDriver, SystemClock};
use crate::traces::tell_of_run;
use abide_core::definition::Enforcement;
use abide_core::event::RunId;
use abide_core::policy::{Client, OwnTool};
use abide_core::run::{Command, Run, RunStatus};
use abide_core::value::Value;
use abide_engine::driver::DriveError;
use abide_engine::history;
use abide_engine::port::{Clock as _, Signal, StoreError};
use abide_engine::service;
use abide_gate::sessions::Bound;
use abide_gate::tickets::Ticket;
use abide_gate::{Relative, SessionId};
use abide_mcp::desk::{Caller, Cancellation, Report, Start, Submission};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// How soon it is tried again to drive a run that another process is at.
const AGAIN: Duration = Duration::from_millis(250);
/// How often that is done when the log could not be used.
const MOST_TRIES: u32 = 20;

impl LocalDesk {
    /// Starts an ability for whoever asks.
    ///
    /// The session is bound before anything is written: from the first event on, its agent is held to the steps.
    pub(super) async fn begin(&self, asked: &Start) -> Result<RunId, Report> {
        let ticket = self.ticket(OwnTool::Run, Some(&asked.ability), Some(&asked.raw), &asked.caller)?;
        let agent = ticket.as_ref().and_then(|ticket| ticket.agent.as_deref());
        if !self.rights(agent)?.may_run(&asked.ability) {
            return Err(Report::failure(format!(
                "there is no ability `{}` for this agent; `ability_list` shows those that there are",
                asked.ability
            )));
        }
        let start = service::Start {
            ability: asked.ability.clone(),
            inputs: asked.inputs.iter().map(|(name, given)| (name.clone(), value(given))).collect(),
            input: asked.input.clone().unwrap_or_default(),
            by: by(ticket.as_ref()).into(),
            session: ticket.as_ref().map(|ticket| format!("{}/{}", ticket.client, ticket.session).into()),
            parent: None,
            depth: 0,
            id: None,
            trace: None,
        };
        let (prepared, level) = self
            .quietly(|session| {
                let prepared = runs::prepare(session, start)?;
                keeps_to_its_own(session, &prepared.run)?;
                let own = prepared.run.ability.settings.enforcement.as_ref().map(|level| level.value);
                let configured = session.configuration().config.abilities.enforcement;
                let level = own.or(configured.map(|level| level.value)).unwrap_or(Enforcement::Strict);
                Ok((prepared, level))
            })
            .map_err(|failure| refused(&failure))?;
        let session = match &ticket {
            // A ticket of a client that nobody knows would leave the run unbound.
            Some(ticket) => Some(session_of(ticket).ok_or_else(|| unguarded(&asked.ability, level))?),
            None if level == Enforcement::Loose => None,
            None => return Err(unguarded(&asked.ability, level)),
        };
        let driver = self.driver().map_err(|failure| refused(&failure))?;
        let run = prepared.run.clone();
        let sub_agent = ticket.and_then(|ticket| ticket.sub_agent);
        let bound = self.bound(&run, level, sub_agent)?;
        if let (Some(gate), Some(session)) = (&self.gate, &session) {
            gate.bind(session, &bound).map_err(|error| Report::failure(error.to_string()))?;
        }
        let stopped = self.floor.attend(&run, session.clone(), bound);
        if let Err(error) = service::begin(&driver, prepared).await {
            self.floor.forget(&run.id);
            if let (Some(gate), Some(session)) = (&self.gate, &session) {
                // A run that is in no log is over for every hook.
                let _ = gate.release(session, run.id.as_str());
            }
            return Err(refused(&runs::service_failure(&error)));
        }
        self.drive(driver, run.id.clone(), stopped);
        Ok(run.id)
    }

    /// Returns what the gate must know of a run before it begins.
    fn bound(&self, run: &Run, level: Enforcement, sub_agent: Option<String>) -> Result<Bound, Report> {
        let log = self.quietly(|session| Ok(runs::log_file(session))).map_err(|failure| refused(&failure))?;
        let driver = Relative::of(std::process::id())
            .ok_or_else(|| Report::failure("abide cannot tell which process it is"))?;
        Ok(Bound {
            run: run.id.to_string(),
            ability: run.created.name.to_string(),
            level: level.word().to_owned(),
            step: None,
            done: run.closed(),
            total: run.steps.len(),
            root: PathBuf::from(&run.created.root),
            log,
            driver,
            sub_agent,
            guarded: run.created.files.iter().map(|(path, _)| PathBuf::from(path)).collect(),
        })
    }

    /// Drives a run beside everything else, until it is over, left, or cannot go on.
    fn drive(&self, driver: LocalDriver, id: RunId, mut stopped: watch::Receiver<Option<Signal>>) {
        let (floor, surroundings) = (self.floor(), self.surroundings.clone());
        let kept = self.quietly(|session| Ok((runs::limits(session), sessions_file(session)))).ok();
        tokio::spawn(async move {
            let mut tries = 0;
            let end = loop {
                let end = driver.drive(id.clone(), stopped.clone()).await;
                // The server before this one brings a step to its end, a human is at it, or the log is busy.
                let waits = matches!(&end, Err(DriveError::Store(StoreError::Held { .. })))
                    || (tries < MOST_TRIES
                        && matches!(&end, Err(DriveError::Store(_) | DriveError::Load(_))));
                if !waits {
                    break end;
                }
                tries += 1;
                floor.queues(&id);
                if timeout(AGAIN, stopped.changed()).await.is_ok() {
                    break end;
                }
            };
            let why = match &end {
                Ok(status) if status.is_final() || *status == RunStatus::Interrupted => None,
                Ok(_) => Some("abide is ending".to_owned()),
                Err(error) => Some(error.to_string()),
            };
            try_to_take_verdicts(&surroundings, driver.store(), &id).await;
            floor.left(&id, why);
            if let (Ok(status), Some((limits, sessions))) = (end, kept)
                && status.is_final()
            {
                // Standard error is the client's to show; a collector that is down is no news of the run.
                let _ = tell_of_run(&surroundings, &sessions, driver.store(), &id).await;
                // The run is over, whatever comes of this; the next one tries again.
                let _ = history::prune(driver.store(), &SystemClock, limits, &id).await;
            }
        });
    }

    /// Returns the run that a call is about, driven here; none when it is about no run of the session that asks.
    pub(super) async fn mine(
        &self,
        tool: OwnTool,
        run: Option<&str>,
        raw: Option<&serde_json::Value>,
        caller: &Caller,
    ) -> Result<Option<RunId>, Report> {
        let ticket = self.ticket(tool, None, raw, caller)?;
        let session = ticket.as_ref().and_then(session_of);
        let bound = match (&self.gate, &session) {
            (Some(gate), Some(session)) => {
                gate.bound(session).map_err(|error| Report::failure(error.to_string()))?
            }
            _ => None,
        };
        match (bound, session) {
            (Some(bound), Some(session)) => {
                if run.is_some_and(|run| run != bound.run) {
                    // Other runs may be looked at; the session's own is the only one that it can act on.
                    return Ok(None);
                }
                return self.again(session, bound).await.map(Some);
            }
            (None, Some(session)) if run.is_none() => return Ok(self.floor.last(&session)),
            _ => {}
        }
        let free = run.and_then(RunId::parse).filter(|id| self.floor.is_free(id));
        Ok(free)
    }

    /// Drives the run of a session on that nobody here drives: this process, or its client, was started anew.
    pub(super) async fn again(&self, session: SessionId, mut bound: Bound) -> Result<RunId, Report> {
        let bad = || Report::failure(format!("the session is bound to `{}`, which is no run", bound.run));
        let id = RunId::parse(&bound.run).ok_or_else(bad)?;
        // Of several calls at once, one takes it up.
        let _alone = self.taking_up.lock().await;
        if self.floor.drives(&id) {
            return Ok(id);
        }
        let log = self.quietly(|session| Ok(runs::log_file(session))).map_err(|failure| refused(&failure))?;
        if log != bound.log {
            return Err(Report::failure(format!(
                "run {id} belongs to the project in {}: go on with it there",
                bound.root.display()
            )));
        }
        let driver = self.driver().map_err(|failure| refused(&failure))?;
        let loaded = runs::load_run(driver.store(), &id).await.map_err(|failure| refused(&failure))?;
        runs::go_on_after(driver.store(), &id).await.map_err(|failure| refused(&failure))?;
        bound.driver = Relative::of(std::process::id()).unwrap_or(bound.driver);
        let stopped = self.floor.attend(&loaded.run, Some(session), bound);
        self.drive(driver, id.clone(), stopped);
        Ok(id)
    }

    /// Hands a result in.
    pub(super) async fn handed_in(&self, asked: &Submission) -> Result<RunId, Report> {
        let mine = self.mine(OwnTool::Submit, Some(&asked.run), Some(&asked.raw), &asked.caller).await?;
        let Some(id) = mine else {
            return Err(Report::failure(format!(
                "run {} is not the run of this session, as far as abide's hook in the client knows; \
                 `ability_status` tells which one is",
                asked.run
            )));
        };
        // What was denied on the way to the result is in the log before it.
        let driver = self.driver().map_err(|failure| refused(&failure))?;
        try_to_take_verdicts(&self.surroundings, driver.store(), &id).await;
        // Whoever has just begun to drive it must hand the step out first.
        self.quiet(&id).await;
        let output: Value = value(&asked.output);
        match self.floor.submit(&id, &asked.step, &output) {
            Ok(()) => Ok(id),
            Err(Some(other)) => Err(Report::failure(format!(
                "step `{}` is not yours now: `{other}` is; hand in the result of that one",
                asked.step
            ))),
            Err(None) => {
                let (seen, _) = self.floor.look(&id);
                let mut report = self.report(&id, &seen).await;
                report.text = format!("no step waits for a result of yours. {}", report.text);
                report.failed = true;
                Err(report)
            }
        }
    }

    /// Asks a run to end.
    pub(super) async fn cancelled(&self, asked: &Cancellation) -> Result<RunId, Report> {
        let mine = self.mine(OwnTool::Cancel, asked.run.as_deref(), Some(&asked.raw), &asked.caller).await?;
        let Some(id) = mine else {
            return Err(Report::failure(
                "that is not the run of this session; a human ends any run with `abide cancel`",
            ));
        };
        if self.floor.level(&id).is_none_or(|level| level == Enforcement::Strict.word()) {
            return Err(Report::failure(format!(
                "run {id} is strict: only a human can end it, with `abide cancel {id}`"
            )));
        }
        let driver = self.driver().map_err(|failure| refused(&failure))?;
        let command = Command::Cancel { by: "the agent".into(), reason: asked.reason.clone() };
        service::command(&driver, &id, command)
            .await
            .map_err(|error| refused(&runs::service_failure(&error)))?;
        self.caught_up(&id).await;
        Ok(id)
    }

    /// Gives an answer that a human gave in the client.
    pub(super) async fn answer(&self, run: &RunId, command: Command) -> Result<(), Report> {
        let driver = self.driver().map_err(|failure| refused(&failure))?;
        let given = service::command(&driver, run, command).await;
        given.map(|_| ()).map_err(|error| refused(&runs::service_failure(&error)))
    }

    /// Returns who sits at the client.
    pub(super) fn user(&self) -> String {
        self.quietly(|session| Ok(runs::user(session))).unwrap_or_else(|_| "somebody".to_owned())
    }

    pub(super) fn now() -> abide_core::event::Timestamp {
        SystemClock.now()
    }
}

/// Says who starts a run, as its log tells it.
fn by(ticket: Option<&Ticket>) -> String {
    match ticket {
        None => "an MCP client".to_owned(),
        Some(Ticket { client, agent: Some(agent), .. }) if client == abide_gate::word(Client::Other) => {
            format!("agent {agent} in abide's own loop")
        }
        Some(ticket) => match &ticket.agent {
            Some(agent) => format!("agent {agent} in {}", ticket.client),
            None => format!("an agent in {}", ticket.client),
        },
    }
}

fn unguarded(ability: &str, level: Enforcement) -> Report {
    Report::failure(format!(
        "`{ability}` is {}, and no hook of abide stands before this agent, so nothing would hold it to the steps. \
         The user puts it in place with `abide install claude`, `abide install opencode` or `abide install codex` and looks \
         with `abide doctor`; or runs it themselves with `abide run {ability}`.",
        level.word()
    ))
}
