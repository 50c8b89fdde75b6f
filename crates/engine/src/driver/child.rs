//! Child runs: another ability, with its own log, driven beside its parent.

use super::attempt::not_started;
use super::{DriveError, Driver, Halt, Stop};
use crate::log::Loaded;
use crate::port::{Clock, Process, Signal, Store, StoreError, Workspace};
use crate::service::{self, ServiceError, Start};
use abide_core::definition::Input;
use abide_core::event::{Observation, Output, ProcessEnd, RunId, StepKey, StepResult, Timestamp};
use abide_core::run::{ChildWork, Command, Phase, Run, RunStatus, StepStatus};
use sha2::{Digest as _, Sha256};

impl<S: Store, P: Process, W: Workspace, C: Clock> Driver<S, P, W, C> {
    /// Carries out an attempt by another run; nothing when that run is not over, and waits for a human or a driver.
    ///
    /// An error is about the driving and says nothing about the child, which goes on when its parent is driven again.
    pub(super) async fn child(
        &self,
        run: &Run,
        key: &StepKey,
        attempt: u32,
        work: ChildWork,
        deadline: Option<Timestamp>,
        mut stop: Stop,
    ) -> Result<Option<Observation>, DriveError> {
        let id = child_id(&run.id, key, attempt);
        if let Some(refused) = self.have_child(run, key, &id, work).await? {
            return Ok(Some(not_started(refused)));
        }
        let mut timed_out = false;
        let status = loop {
            let (leave, leaving) = tokio::sync::watch::channel(None);
            let mut driven = std::pin::pin!(self.drive_alone(&id, leaving));
            let status = loop {
                let halted = *stop.borrow_and_update();
                match halted {
                    Some(Halt::End) => self.cancel_child(&id, None).await?,
                    Some(Halt::Leave(signal)) => drop(leave.send(Some(signal))),
                    None => {}
                }
                tokio::select! {
                    biased;
                    status = &mut driven => break status?,
                    // Without a driver above, this task ends too.
                    _ = stop.changed() => {}
                    () = self.sleep_until(deadline), if !timed_out => {
                        timed_out = true;
                        self.cancel_child(&id, Some("it ran out of time")).await?;
                    }
                }
            };
            // One that waited for a human when it was told to end has only to be driven there.
            let ends = timed_out || *stop.borrow() == Some(Halt::End);
            if !(ends && status == RunStatus::Interrupted) {
                break status;
            }
            self.cancel_child(&id, timed_out.then_some("it ran out of time")).await?;
        };
        if !status.is_final() {
            return Ok(None);
        }
        let (output, error) = self.outcome(&id).await?;
        let mut missing = Vec::new();
        if status == RunStatus::Failed {
            missing.push(error.map_or_else(|| "failed".to_owned(), |error| format!("failed: {error}")));
        }
        let end = match status {
            RunStatus::Completed => ProcessEnd::Exited(0),
            RunStatus::Cancelled if timed_out => ProcessEnd::TimedOut,
            RunStatus::Cancelled => ProcessEnd::Cancelled,
            RunStatus::TimedOut => ProcessEnd::TimedOut,
            _ => ProcessEnd::Exited(1),
        };
        let result = StepResult { output, run: Some(id), ..StepResult::default() };
        Ok(Some(Observation { end, result, missing }))
    }

    /// Creates a child, or finds the one that a driver before this one created; returns why there cannot be one.
    async fn have_child(
        &self,
        run: &Run,
        key: &StepKey,
        id: &RunId,
        work: ChildWork,
    ) -> Result<Option<String>, DriveError> {
        // After a crash the child exists already, and is driven on from where it was.
        if self.store.head(id.as_str()).await?.is_some() {
            self.give_secrets_again(id, &work).await?;
            return Ok(None);
        }
        if let Some(name) = self.leaks(run, &work) {
            return Ok(Some(format!(
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
        match service::start(self, start).await {
            Ok(_) => Ok(None),
            Err(ServiceError::Store(error)) => Err(error.into()),
            Err(ServiceError::Load(error)) => Err(error.into()),
            Err(error) => Ok(Some(error.to_string())),
        }
    }

    /// Gives a child that exists its secret inputs, which come from the values of its parent again.
    async fn give_secrets_again(&self, id: &RunId, work: &ChildWork) -> Result<(), DriveError> {
        let child = crate::log::load(&*self.store, id).await?.run;
        let secret: Vec<&Input> = child.ability.inputs.iter().filter(|input| input.is_secret()).collect();
        if secret.is_empty() {
            return Ok(());
        }
        let value = |input: &&Input| {
            let name = input.name.as_str();
            let given = work.inputs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
            let value = given.or_else(|| input.default.as_ref().map(|default| default.value.clone()));
            value.map(|value| (name.to_owned(), value))
        };
        let given: Vec<_> = secret.iter().filter_map(value).collect();
        // Whatever is missing, the drive itself refuses by its name.
        if let Ok(values) = service::secrets_again(&child, &given) {
            self.give_secrets(id, values);
        }
        Ok(())
    }

    /// Drives a child as soon as nobody else does: a driver that is gone may have its lease for a while.
    async fn drive_alone(
        &self,
        id: &RunId,
        mut leaving: tokio::sync::watch::Receiver<Option<Signal>>,
    ) -> Result<RunStatus, DriveError> {
        loop {
            match self.drive(id.clone(), leaving.clone()).await {
                Err(DriveError::Store(StoreError::Held { stream, .. })) if stream == id.as_str() => {}
                driven => return driven,
            }
            tokio::select! {
                biased;
                _ = leaving.changed() => return Ok(RunStatus::Running),
                () = self.clock.sleep_until(self.clock.now().after(super::AGAIN)) => {}
            }
        }
    }

    /// Tells a child to end; one that is over or ending already needs no word from us.
    async fn cancel_child(&self, id: &RunId, reason: Option<&str>) -> Result<(), DriveError> {
        let cancel = Command::Cancel { by: "its parent".into(), reason: reason.map(str::to_owned) };
        match service::command(self, id, cancel).await {
            Err(ServiceError::Store(error)) => Err(error.into()),
            Err(ServiceError::Load(error)) => Err(error.into()),
            _ => Ok(()),
        }
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
        let open = |name: &str| !ability.input(name).is_some_and(Input::is_secret);
        work.inputs.iter().find(|(name, value)| holds(value) && open(name)).map(|(name, _)| name.clone())
    }

    /// Returns the output of the last step of a run that was done, and why the run failed, if it did.
    async fn outcome(&self, id: &RunId) -> Result<(Output, Option<String>), DriveError> {
        let Loaded { run, .. } = crate::log::load(&*self.store, id).await?;
        let done = run.steps.iter().rev().find(|state| state.status == StepStatus::Completed);
        let output = done.map(|state| state.result.output.clone()).unwrap_or_default();
        Ok(match run.phase {
            Phase::Finished(_, error) => (output, error),
            _ => (output, None),
        })
    }
}

/// Returns the id of a child, which is the same on every replay.
pub(crate) fn child_id(parent: &RunId, key: &StepKey, attempt: u32) -> RunId {
    let hex = service::hex(&Sha256::digest(format!("{parent}/{key}#{attempt}")));
    let id = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32]);
    // Hexadecimal and hyphens make a valid id; the parent's stands in should that ever change.
    RunId::parse(&id).unwrap_or_else(|| parent.clone())
}
