//! Child runs: another ability, with its own log, driven beside its parent.

use super::attempt::not_started;
use super::halt::{Halt, Stop};
use super::{DriveError, Driver};
use crate::call::prepare_called;
use crate::port::{Clock, Process, Signal, Store, StoreError, Workspace};
use crate::service::{self, ServiceError};
use abide_core::definition::Input;
use abide_core::event::{Observation, ProcessEnd, RunId, StepKey, Timestamp};
use abide_core::run::{ChildWork, Command, Run, RunStatus};
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
            let mut driven = std::pin::pin!(self.drive_alone(&run.id, &id, leaving));
            let status = loop {
                let halted = stop.see();
                match halted {
                    Some(Halt::End) => self.cancel_child(&id, None).await?,
                    Some(Halt::Leave(signal)) => drop(leave.send(Some(signal))),
                    None => {}
                }
                tokio::select! {
                    biased;
                    status = &mut driven => break status?,
                    () = stop.changed() => {}
                    () = self.sleep_until(deadline), if !timed_out => {
                        timed_out = true;
                        self.cancel_child(&id, Some("it ran out of time")).await?;
                    }
                }
            };
            // One that waited for a human when it was told to end has only to be driven there.
            let ends = timed_out || stop.get() == Some(Halt::End);
            if !(ends && status == RunStatus::Interrupted) {
                break status;
            }
            self.cancel_child(&id, timed_out.then_some("it ran out of time")).await?;
        };
        if !status.is_final() {
            return Ok(None);
        }
        let child = crate::log::load(&*self.store, &id).await?.run;
        Ok(child.as_called().map(|mut seen| {
            if timed_out && seen.end == ProcessEnd::Cancelled {
                seen.end = ProcessEnd::TimedOut;
            }
            seen
        }))
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
        let (workspace, clock, secrets) = (&*self.workspace, &*self.clock, self.secrets_of(&run.id));
        let prepared = prepare_called(workspace, clock, (run, key), Some(id.clone()), work, &secrets);
        let begun = match prepared {
            Ok(prepared) => service::begin(self, prepared).await,
            Err(error) => Err(error),
        };
        match begun {
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
        parent: &RunId,
        id: &RunId,
        mut leaving: tokio::sync::watch::Receiver<Option<Signal>>,
    ) -> Result<RunStatus, DriveError> {
        loop {
            self.share_vault(parent, id);
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
}

/// Returns the id of a child, which is the same on every replay.
pub(crate) fn child_id(parent: &RunId, key: &StepKey, attempt: u32) -> RunId {
    let hex = service::hex(&Sha256::digest(format!("{parent}/{key}#{attempt}")));
    let id = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..32]);
    // Hexadecimal and hyphens make a valid id; the parent's stands in should that ever change.
    RunId::parse(&id).unwrap_or_else(|| parent.clone())
}
