//! One drive of a run: append first, then do, then append what came of it.

use super::halt::{Halt, Halter, Stop};
use super::{AGAIN, DriveError, Driver, HEARTBEAT, NamedValues};
use crate::log::{LoadError, Loaded, catch_up, load};
use crate::port::{Clock, Lease, Process, Signal, Store, StoreError, Summary, Workspace};
use crate::snapshot;
use abide_core::definition::{Input, StepId};
use abide_core::event::{Event, HookKey, HookPhase, Observation, ProcessEnd, RunId, StepKey, Timestamp};
use abide_core::run::{Command, Effect, RunStatus};
use std::collections::HashSet;
use std::pin::pin;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What has ended outside.
pub(super) enum Report {
    /// A hook, and what went wrong.
    Hook(HookKey, Option<String>),
    /// A hook that was ended because this driver leaves.
    HookLeft,
    Attempt(StepKey, u32, Box<Observation>),
    /// The output of a step was put in short.
    Summarized(StepId, Summary),
    /// A child is not over: a human must decide about a step of it, or this driver leaves.
    ChildWaits(StepKey),
    /// A child could not be driven, which says nothing about the child: nothing is known that could be written.
    ChildBroke(Box<DriveError>),
}

/// What ended the waiting.
enum Woken {
    Report(Report),
    /// Others have appended.
    News,
    /// A moment has come.
    Moment,
    /// Somebody asks to leave the run.
    Leave(Signal),
}

/// A run while it is driven.
pub(super) struct Drive<'a, S, P, W, C> {
    pub(super) driver: &'a Driver<S, P, W, C>,
    pub(super) loaded: Loaded,
    pub(super) lease: Lease,
    pub(super) secrets: NamedValues,
    pub(super) tasks: JoinSet<()>,
    pub(super) reports: UnboundedSender<Report>,
    inbox: UnboundedReceiver<Report>,
    cancel: Halter,
    pub(super) cancelled: Stop,
    /// Steps whose children wait for a human.
    waiting_children: HashSet<StepKey>,
    /// Whether somebody is there who could ask to leave the run.
    can_be_left: bool,
    /// When the lease was renewed, and when it is the next time.
    renewed: (Timestamp, Timestamp),
}

impl<'a, S: Store, P: Process, W: Workspace, C: Clock> Drive<'a, S, P, W, C> {
    /// Reads a run whose lease the driver has.
    pub(super) async fn new(
        driver: &'a Driver<S, P, W, C>,
        id: &RunId,
        lease: Lease,
    ) -> Result<Self, DriveError> {
        let loaded = load(&*driver.store, id).await?;
        driver.observer.driving(&loaded.run);
        let secrets = driver.secrets_of(id);
        let run = &loaded.run;
        // Never with the mask in the place of a value. A run that ends has no use for them.
        let is_secret = |name: &str| run.ability.input(name).is_some_and(Input::is_secret);
        let inputs = run.created.inputs.iter().map(|(name, _)| name.as_str()).filter(|name| is_secret(name));
        let missing: Vec<String> = inputs
            .filter(|name| !secrets.iter().any(|(known, _)| known == name))
            .map(str::to_owned)
            .collect();
        if !missing.is_empty() && run.ending.is_none() && !run.is_finished() {
            return Err(DriveError::Secrets { run: id.clone(), missing });
        }
        let (reports, inbox) = mpsc::unbounded_channel();
        let cancel = Halter::default();
        let cancelled = cancel.stop();
        let now = driver.clock.now();
        Ok(Self {
            driver,
            loaded,
            lease,
            secrets,
            tasks: JoinSet::new(),
            reports,
            inbox,
            cancel,
            cancelled,
            waiting_children: HashSet::new(),
            can_be_left: true,
            renewed: (now, now.after(HEARTBEAT)),
        })
    }

    /// Drives until the run is over, waits for a human after an interruption, or `stop` asks to leave it.
    pub(super) async fn go_on(
        &mut self,
        mut stop: watch::Receiver<Option<Signal>>,
    ) -> Result<RunStatus, DriveError> {
        if stop.borrow_and_update().is_some() {
            return Ok(self.loaded.run.status());
        }
        let mut command = self.recovery().await;
        let mut recovered = command.is_none();
        loop {
            // What happened and what follows from it share one commit, and nothing is done before that.
            let Some(events) = self.take_in(command.as_ref()).await? else { continue };
            // Before anything begins: a hook that runs last must not hear what those before it were told.
            self.cancel.say(self.ends_what_is_under_way().then_some(Halt::End));
            if !recovered {
                recovered = true;
                self.drive_children(|key| !begins(&events, key));
            }
            if self.loaded.run.ending.is_some() && !self.waiting_children.is_empty() {
                let waiting = std::mem::take(&mut self.waiting_children);
                self.drive_children(|key| waiting.contains(key) && !begins(&events, key));
            }
            self.begin(&events);
            let status = self.loaded.run.status();
            // What has begun goes on meanwhile. Without a snapshot the run is read from its log: nothing is lost. One that is
            // over is looked at without its log.
            if self.loaded.tail.is_long() || status.is_final() {
                let _ = snapshot::keep(&*self.driver.store, &mut self.loaded).await;
            }
            if status.is_final() {
                return Ok(status);
            }
            let waits = status == RunStatus::Interrupted || !self.waiting_children.is_empty();
            let waits_for = |(key, _): &(StepKey, u32)| self.waiting_children.contains(key);
            if waits && self.loaded.run.in_flight().iter().all(waits_for) {
                return Ok(RunStatus::Interrupted);
            }
            let woken = self.wait(&mut stop).await?;
            self.renew_in_time().await?;
            let now = self.driver.clock.now();
            command = match woken {
                Woken::Report(Report::ChildWaits(key)) => {
                    self.waiting_children.insert(key);
                    None
                }
                Woken::Report(Report::ChildBroke(error)) => return Err(*error),
                Woken::Report(report) => command_of(report, now),
                Woken::News => {
                    self.catch_up().await?;
                    None
                }
                Woken::Moment => Some(Command::Tick { now }),
                Woken::Leave(signal) => {
                    self.cancel.say(Some(Halt::Leave(signal)));
                    while self.tasks.join_next().await.is_some() {}
                    return self.leave().await;
                }
            };
        }
    }

    /// Returns whether what is under way ends because the run does: attempts, and a hook before the steps.
    ///
    /// The hooks that run last do not: they are there to clean up.
    fn ends_what_is_under_way(&self) -> bool {
        let run = &self.loaded.run;
        let prepares = run.hook_in_flight().is_some_and(|hook| hook.phase == HookPhase::Before);
        run.ending.is_some() && (prepares || !run.in_flight().is_empty())
    }

    /// Begins what events ask for, now that they are in the log.
    fn begin(&mut self, events: &[Event]) {
        for effect in events.iter().filter_map(|event| self.loaded.run.effect(event)) {
            match effect {
                Effect::Attempt { key, attempt, deadline } => self.driver.start_attempt(
                    &mut self.tasks,
                    &self.loaded.run,
                    key,
                    attempt,
                    deadline,
                    &self.reports,
                    &self.cancelled,
                ),
                Effect::Hook(hook) => self.driver.start_hook(
                    &mut self.tasks,
                    &self.loaded.run,
                    hook,
                    &self.reports,
                    &self.cancelled,
                ),
            }
        }
    }

    /// Waits until something has happened.
    async fn wait(&mut self, stop: &mut watch::Receiver<Option<Signal>>) -> Result<Woken, DriveError> {
        let run = &self.loaded.run;
        // A clock that was set back does not put off the next heartbeat.
        let beat = self.renewed.1.min(self.driver.clock.now().after(HEARTBEAT));
        let moment = run.next_moment().unwrap_or(beat).min(beat);
        // One look at the log and one alarm for all of the waiting, also when tasks end in the meantime.
        let mut news = pin!(self.driver.store.changed(run.id.as_str(), self.loaded.seq));
        let mut alarm = pin!(self.driver.clock.sleep_until(moment));
        loop {
            // In this order, so that a simulation repeats itself.
            tokio::select! {
                biased;
                report = self.inbox.recv() => {
                    // The channel stays open: this holds its other end.
                    return Ok(report.map_or(Woken::News, Woken::Report));
                }
                changed = &mut news => {
                    changed?;
                    return Ok(Woken::News);
                }
                () = &mut alarm => return Ok(Woken::Moment),
                stopped = stop.changed(), if self.can_be_left => {
                    // Without an other end, nobody is left who could ask.
                    self.can_be_left = stopped.is_ok();
                    if let Some(signal) = *stop.borrow_and_update() {
                        return Ok(Woken::Leave(signal));
                    }
                }
                Some(ended) = self.tasks.join_next() => {
                    if let Err(error) = ended && error.is_panic() {
                        std::panic::resume_unwind(error.into_panic());
                    }
                }
            }
        }
    }

    /// Takes in what others have appended, and says so to whoever watches.
    async fn catch_up(&mut self) -> Result<(), DriveError> {
        let (news, read) = catch_up(&*self.driver.store, &mut self.loaded).await;
        for event in news {
            self.driver.observer.event(&self.loaded.run, &event);
        }
        match read {
            // It was there a moment ago: what is under way goes on, and the log is looked at again.
            Err(LoadError::Store(error)) if self.passes(&error) => {
                self.driver.clock.sleep_until(self.driver.clock.now().after(AGAIN)).await;
                Ok(())
            }
            read => Ok(read?),
        }
    }

    /// Returns whether a store that fails may answer again while this run is ours.
    fn passes(&self, error: &StoreError) -> bool {
        match error {
            // A disk that is full for a while ends no step: who else would take over cannot write either.
            StoreError::Unwritable { .. } => true,
            // What is under way need not end while nobody else can have the run.
            StoreError::Other { .. } => self.driver.clock.now().0 < self.lease.until,
            _ => false,
        }
    }

    /// Renews the lease when its time has come, also by a clock that was set back.
    async fn renew_in_time(&mut self) -> Result<(), DriveError> {
        let now = self.driver.clock.now();
        if now < self.renewed.1 && now >= self.renewed.0 {
            return Ok(());
        }
        let renewed = self.renew().await;
        let now = self.driver.clock.now();
        match renewed {
            Err(DriveError::Store(error)) if self.passes(&error) => {}
            other => return other,
        }
        self.renewed = (now, now.after(AGAIN));
        Ok(())
    }

    /// Renews the lease; a driver that lost it has lost what it had under way to the next one.
    async fn renew(&mut self) -> Result<(), DriveError> {
        let now = self.driver.clock.now();
        let renewed = self.driver.lease(&self.loaded.run.id).await?;
        if renewed.generation != self.lease.generation {
            // Whoever had it is done with it; the next one need not wait for us.
            let _ = self.driver.store.release(&renewed).await;
            return Err(StoreError::LeaseLost(renewed.stream).into());
        }
        self.lease = renewed;
        self.renewed = (now, now.after(HEARTBEAT));
        Ok(())
    }

    /// Takes in what is known of attempts that were ended because this driver leaves.
    ///
    /// What was ended by us is no outcome: the next driver decides by the rule for lost attempts.
    async fn leave(&mut self) -> Result<RunStatus, DriveError> {
        while let Ok(report) = self.inbox.try_recv() {
            let ended_by_us =
                matches!(&report, Report::Attempt(_, _, seen) if seen.end == ProcessEnd::Cancelled);
            if ended_by_us {
                continue;
            }
            let Some(command) = command_of(report, self.driver.clock.now()) else { continue };
            while self.append_decided(&command).await?.is_none() {}
        }
        Ok(self.loaded.run.status())
    }
}

/// Tells whether an attempt of an instance begins with one of these events.
fn begins(events: &[Event], key: &StepKey) -> bool {
    events.iter().any(|event| matches!(event, Event::AttemptStarted { key: new, .. } if new == key))
}

fn command_of(report: Report, now: Timestamp) -> Option<Command> {
    Some(match report {
        Report::Attempt(key, attempt, observation) => {
            Command::AttemptEnded { key, attempt, observation, now }
        }
        Report::Summarized(step, Summary { text, model, usage }) => {
            Command::Summarized { step, summary: text, model: model.into(), usage }
        }
        Report::Hook(hook, error) => Command::HookEnded { hook, error },
        Report::HookLeft | Report::ChildWaits(_) | Report::ChildBroke(_) => return None,
    })
}
