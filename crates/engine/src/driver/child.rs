//! Child runs: another ability, with its own log, driven beside its parent.

use super::attempt::not_started;
use super::{Driver, Halt, Stop};
use crate::log::Loaded;
use crate::port::{Clock, Process, Store, Workspace};
use crate::service::{self, Start};
use abide_core::event::{Observation, Output, ProcessEnd, RunId, StepKey, StepResult, Timestamp};
use abide_core::run::{ChildWork, Command, Phase, Run, RunStatus, StepStatus};
use sha2::{Digest as _, Sha256};

impl<S: Store, P: Process, W: Workspace, C: Clock> Driver<S, P, W, C> {
    /// Carries out an attempt by another run; nothing when that run is not over, and waits for a human or a driver.
    pub(super) async fn child(
        &self,
        run: &Run,
        key: &StepKey,
        attempt: u32,
        work: ChildWork,
        deadline: Option<Timestamp>,
        mut stop: Stop,
    ) -> Option<Observation> {
        let id = child_id(&run.id, key, attempt);
        // After a crash the child exists already, and is driven on from where it was.
        let exists = matches!(self.store.head(id.as_str()).await, Ok(Some(_)));
        if !exists {
            if let Some(name) = self.leaks(run, &work) {
                return Some(not_started(format!(
                    "`{name}` gets a secret, and the ability `{}` does not declare it as `secret: true`",
                    work.ability
                )));
            }
            let start = Start {
                ability: work.ability,
                inputs: work.inputs,
                input: run.created.input.clone(),
                by: run.created.by.clone(),
                session: run.created.session.clone(),
                parent: Some((run.id.clone(), key.clone())),
                depth: run.created.depth + 1,
                id: Some(id.clone()),
            };
            if let Err(error) = service::start(self, start).await {
                return Some(not_started(error.to_string()));
            }
        }
        let mut timed_out = false;
        let status = loop {
            let (leave, leaving) = tokio::sync::watch::channel(None);
            let driven = self.drive(id.clone(), leaving);
            tokio::pin!(driven);
            let status = loop {
                let halted = *stop.borrow_and_update();
                match halted {
                    Some(Halt::End) => self.cancel_child(&id, None).await,
                    Some(Halt::Leave(signal)) => drop(leave.send(Some(signal))),
                    None => {}
                }
                tokio::select! {
                    status = &mut driven => break status,
                    // Without a driver above, this task ends too.
                    _ = stop.changed() => {}
                    () = self.sleep_until(deadline), if !timed_out => {
                        timed_out = true;
                        self.cancel_child(&id, Some("it ran out of time")).await;
                    }
                }
            };
            // One that waited for a human when it was told to end has only to be driven there.
            let ends = timed_out || *stop.borrow() == Some(Halt::End);
            if !(ends && matches!(status, Ok(RunStatus::Interrupted))) {
                break status;
            }
            self.cancel_child(&id, timed_out.then_some("it ran out of time")).await;
        };
        let mut missing = Vec::new();
        let (end, result) = match status {
            Err(error) => (ProcessEnd::NotStarted(error.to_string()), StepResult::default()),
            Ok(status) if !status.is_final() => return None,
            Ok(status) => {
                let (output, error) = self.outcome(&id).await;
                if status == RunStatus::Failed {
                    missing
                        .push(error.map_or_else(|| "failed".to_owned(), |error| format!("failed: {error}")));
                }
                let result = StepResult { output, run: Some(id), ..StepResult::default() };
                let end = match status {
                    RunStatus::Completed => ProcessEnd::Exited(0),
                    RunStatus::Cancelled if timed_out => ProcessEnd::TimedOut,
                    RunStatus::Cancelled => ProcessEnd::Cancelled,
                    RunStatus::TimedOut => ProcessEnd::TimedOut,
                    _ => ProcessEnd::Exited(1),
                };
                (end, result)
            }
        };
        Some(Observation { end, result, missing })
    }

    /// Tells a child to end; one that is over or ending already needs no word from us.
    async fn cancel_child(&self, id: &RunId, reason: Option<&str>) {
        let cancel = Command::Cancel { by: "its parent".into(), reason: reason.map(str::to_owned) };
        let _ = service::command(self, id, cancel).await;
    }

    pub(super) async fn sleep_until(&self, deadline: Option<Timestamp>) {
        match deadline {
            Some(deadline) => self.clock.sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    /// Returns an input that would write a secret of ours into the child's log.
    fn leaks(&self, run: &Run, work: &ChildWork) -> Option<String> {
        let secrets = self.secrets_of(&run.id);
        if secrets.is_empty() {
            return None;
        }
        let definition = self.workspace.ability(&work.ability).ok()?;
        let ability = crate::log::pinned(&definition.source, &definition.name).ok()?;
        let holds = |value: &abide_core::value::Value| {
            let text = abide_core::value::template::as_text(value).into_owned();
            secrets.iter().any(|(_, secret)| text.contains(secret.trim()))
        };
        let open = |name: &str| !ability.input(name).is_some_and(abide_core::definition::Input::is_secret);
        work.inputs.iter().find(|(name, value)| holds(value) && open(name)).map(|(name, _)| name.clone())
    }

    /// Returns the output of the last step of a run that was done, and why the run failed, if it did.
    async fn outcome(&self, id: &RunId) -> (Output, Option<String>) {
        let Ok(Loaded { run, .. }) = crate::log::load(&*self.store, id).await else {
            return (Output::default(), None);
        };
        let done = run.steps.iter().rev().find(|state| state.status == StepStatus::Completed);
        let output = done.map(|state| state.result.output.clone()).unwrap_or_default();
        match run.phase {
            Phase::Finished(_, error) => (output, error),
            _ => (output, None),
        }
    }
}

/// Returns the id of a child, which is the same on every replay.
pub(crate) fn child_id(parent: &RunId, key: &StepKey, attempt: u32) -> RunId {
    let hex = service::hex(&Sha256::digest(format!("{parent}/{key}#{attempt}")));
    let id = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32]);
    // Hexadecimal and hyphens make a valid id; the parent's stands in should that ever change.
    RunId::parse(&id).unwrap_or_else(|| parent.clone())
}
