//! How a run takes something in: decide, append, and only then believe it.

use super::drive::Drive;
use super::{DriveError, summary};
use crate::log::{events_between, load, stored};
use crate::port::{Clock, Process, Store, StoreError, Workspace};
use abide_core::event::Event;
use abide_core::run::{Command, Refusal, Run};

impl<S: Store, P: Process, W: Workspace, C: Clock> Drive<'_, S, P, W, C> {
    /// Takes in a command and what follows by itself; nothing when others were quicker and the run was read again.
    pub(super) async fn take_in(
        &mut self,
        command: Option<&Command>,
    ) -> Result<Option<Vec<Event>>, DriveError> {
        let mut events = decided(&mut self.loaded.run, command, &self.secrets)?;
        events.extend(self.loaded.run.advance(self.driver.clock.now(), &self.secrets));
        self.append(events).await
    }

    /// Takes in a command alone.
    pub(super) async fn append_decided(
        &mut self,
        command: &Command,
    ) -> Result<Option<Vec<Event>>, DriveError> {
        let events = decided(&mut self.loaded.run, Some(command), &self.secrets)?;
        self.append(events).await
    }

    /// Appends events that the run has taken in already.
    async fn append(&mut self, events: Vec<Event>) -> Result<Option<Vec<Event>>, DriveError> {
        if events.is_empty() {
            return Ok(Some(events));
        }
        let store = &*self.driver.store;
        let id = self.loaded.run.id.clone();
        let summary = summary(&self.loaded.run);
        let written = stored(&events);
        let bytes = written.iter().map(|event| event.data.len()).sum();
        let appended = store.append(id.as_str(), self.loaded.seq, Some(&self.lease), written, summary).await;
        match appended {
            Ok(appended) => {
                self.loaded.follow(appended.seq, &appended.hash, events.len(), bytes);
                for event in &events {
                    self.driver.observer.event(&self.loaded.run, event);
                }
                Ok(Some(events))
            }
            Err(StoreError::Conflict { .. }) => {
                let known = self.loaded.seq;
                self.loaded = load(store, &id).await?;
                // Whoever watches is told what the others did, as when nothing had met.
                for event in events_between(store, &id, known + 1..self.loaded.seq + 1).await? {
                    self.driver.observer.event(&self.loaded.run, &event);
                }
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Takes in what follows from a command.
fn decided(
    run: &mut Run,
    command: Option<&Command>,
    secrets: &[(String, String)],
) -> Result<Vec<Event>, DriveError> {
    let Some(command) = command else { return Ok(Vec::new()) };
    match run.decide(command.clone(), secrets) {
        Ok(events) => {
            for event in &events {
                run.apply(event);
            }
            Ok(events)
        }
        // The run moved on while the attempt ended: its end is then in the log in another form.
        Err(Refusal::NotUnderWay { .. } | Refusal::Finished { .. } | Refusal::NoHook(_)) => Ok(Vec::new()),
        Err(refusal) => Err(DriveError::Refused(run.id.clone(), Box::new(refusal))),
    }
}
