//! Drives a run to its end: append first, then do, then append what came of it.

mod agent;
mod attempt;
mod beside;
mod capture;
mod child;
mod evidence;
mod hook;

pub(crate) use agent::runner_word;
pub(crate) use child::child_id;

use crate::log::{LoadError, Loaded, catch_up, load, stored};
use crate::port::{Clock, Holder, Lease, Line, Process, Runners, Signal, Store, StoreError, Workspace};
use abide_core::event::{Event, HookKey, Observation, ProcessEnd, RunId, StepKey, Timestamp};
use abide_core::run::{Command, Effect, InstanceState, Refusal, Run, RunStatus};
use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long a lease holds without a heartbeat.
const LEASE: Duration = Duration::from_secs(15);
/// How often a lease is renewed.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// What a driver tells whoever watches.
pub trait Observer: Send + Sync + 'static {
    /// A run is driven from now on; what it has asked before is not told as an event again.
    fn driving(&self, _run: &Run) {}
    /// Something happened to a run; the run has already taken it in.
    fn event(&self, _run: &Run, _event: &Event) {}
    /// A step wrote something; the bytes are masked.
    fn output(&self, _run: &RunId, _key: &str, _line: &Line) {}
}

/// An observer that does not look.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

impl Observer for Nobody {}

/// Why a run could not be driven any further; the log holds how far it came.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The log could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The machine refused something that the driver did, which is a bug of ours.
    #[error("run {0}: {1}")]
    Refused(RunId, Box<Refusal>),
}

/// Drives runs.
pub struct Driver<S, P, W, C> {
    pub(crate) store: Arc<S>,
    pub(crate) process: Arc<P>,
    pub(crate) workspace: Arc<W>,
    pub(crate) clock: Arc<C>,
    /// What executes agents and skills.
    pub(crate) runners: Runners,
    holder: Holder,
    observer: Arc<dyn Observer>,
    /// Tells whether the process of a holder is gone; one on another machine counts as alive until its lease ends.
    is_dead: Arc<dyn Fn(&Holder) -> bool + Send + Sync>,
    /// Values of secret inputs by run, which the log does not hold.
    secrets: Arc<Mutex<HashMap<RunId, NamedValues>>>,
}

impl<S, P, W, C> Clone for Driver<S, P, W, C> {
    fn clone(&self) -> Self {
        Self {
            store: Arc::clone(&self.store),
            process: Arc::clone(&self.process),
            workspace: Arc::clone(&self.workspace),
            clock: Arc::clone(&self.clock),
            runners: self.runners.clone(),
            holder: self.holder.clone(),
            observer: Arc::clone(&self.observer),
            is_dead: Arc::clone(&self.is_dead),
            secrets: Arc::clone(&self.secrets),
        }
    }
}

/// What has ended outside.
enum Report {
    Hook(HookKey, Option<String>),
    Attempt(StepKey, u32, Box<Observation>),
    /// A child is not over: a human must decide about a step of it, or this driver leaves.
    ChildWaits(StepKey),
}

/// Why what is under way is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Halt {
    /// The run ends, and its children with it.
    End,
    /// The driver leaves; the run and its children go on when they are driven again.
    Leave(Signal),
}

impl Halt {
    fn signal(self) -> Signal {
        match self {
            Self::End => Signal::Ask,
            Self::Leave(signal) => signal,
        }
    }
}

/// Values by name.
type NamedValues = Vec<(String, String)>;

type Stop = watch::Receiver<Option<Halt>>;

impl<S: Store, P: Process, W: Workspace, C: Clock> Driver<S, P, W, C> {
    /// Puts a driver together.
    pub fn new(
        ports: (Arc<S>, Arc<P>, Arc<W>, Arc<C>),
        holder: Holder,
        observer: Arc<dyn Observer>,
        is_dead: Arc<dyn Fn(&Holder) -> bool + Send + Sync>,
    ) -> Self {
        let (store, process, workspace, clock) = ports;
        let (runners, secrets) = (Runners::default(), Arc::default());
        Self { store, process, workspace, clock, runners, holder, observer, is_dead, secrets }
    }

    /// Gives the driver what executes agents and skills; without, an ability that has such steps cannot be started.
    #[must_use]
    pub fn with_runners(mut self, runners: Runners) -> Self {
        self.runners = runners;
        self
    }

    /// Returns the log.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Gives the driver the values of a run's secret inputs, which it keeps in memory only.
    pub fn give_secrets(&self, run: &RunId, values: Vec<(String, String)>) {
        if let Ok(mut secrets) = self.secrets.lock() {
            secrets.insert(run.clone(), values);
        }
    }

    /// Returns the values of a run's secret inputs.
    pub fn secrets_of(&self, run: &RunId) -> Vec<(String, String)> {
        self.secrets.lock().ok().and_then(|secrets| secrets.get(run).cloned()).unwrap_or_default()
    }

    /// Drives a run until it is over, waits for a human after an interruption, or `stop` asks to leave it.
    ///
    /// Leaving a run ends what is under way; the run goes on when it is driven again.
    pub fn drive(
        &self,
        id: RunId,
        stop: watch::Receiver<Option<Signal>>,
    ) -> Pin<Box<dyn Future<Output = Result<RunStatus, DriveError>> + Send + '_>> {
        Box::pin(async move {
            let now = self.clock.now();
            let until = now.after(LEASE);
            let lease = self.store.lease(id.as_str(), &self.holder, now.0, until.0, &*self.is_dead).await?;
            let driven = self.drive_leased(&id, &lease, stop).await;
            // Whoever takes over does not have to wait; a lease that cannot be given back ends by itself.
            let _ = self.store.release(&lease).await;
            driven
        })
    }

    async fn drive_leased(
        &self,
        id: &RunId,
        lease: &Lease,
        mut stop: watch::Receiver<Option<Signal>>,
    ) -> Result<RunStatus, DriveError> {
        let mut loaded = load(&*self.store, id).await?;
        self.observer.driving(&loaded.run);
        let secrets = self.secrets_of(id);
        let (reports, mut inbox) = mpsc::unbounded_channel();
        let (cancel, cancelled) = watch::channel(None);
        let mut tasks = JoinSet::new();
        let mut renew_at = self.clock.now().after(HEARTBEAT);
        let mut command = self.recovery(&loaded.run).await;
        let mut recovered = command.is_none();
        let mut waiting_children = HashSet::new();
        loop {
            // What happened and what follows from it share one commit, and nothing is done before that.
            let Some(events) = self.take_in(&mut loaded, lease, command.as_ref(), &secrets).await? else {
                continue;
            };
            if !recovered {
                recovered = true;
                let begins = |key: &StepKey| {
                    events
                        .iter()
                        .any(|event| matches!(event, Event::AttemptStarted { key: new, .. } if new == key))
                };
                self.drive_children(&mut tasks, &loaded.run, |key| !begins(key), &reports, &cancelled);
            }
            if loaded.run.ending.is_some() && !waiting_children.is_empty() {
                let waiting = std::mem::take(&mut waiting_children);
                let waits = |key: &StepKey| waiting.contains(key);
                self.drive_children(&mut tasks, &loaded.run, waits, &reports, &cancelled);
            }
            for event in &events {
                match loaded.run.effect(event) {
                    Some(Effect::Attempt { key, attempt, deadline }) => {
                        self.start_attempt(
                            &mut tasks,
                            &loaded.run,
                            key,
                            attempt,
                            deadline,
                            &reports,
                            &cancelled,
                        );
                    }
                    Some(Effect::Hook(hook)) => {
                        self.start_hook(&mut tasks, &loaded.run, hook, &reports, &cancelled);
                    }
                    None => {}
                }
            }
            let status = loaded.run.status();
            if status.is_final() {
                return Ok(status);
            }
            let waits = status == RunStatus::Interrupted || !waiting_children.is_empty();
            if waits && loaded.run.in_flight().iter().all(|(key, _)| waiting_children.contains(key)) {
                return Ok(RunStatus::Interrupted);
            }
            // Attempts end with the run; the hooks that run last do not.
            let ending = loaded.run.ending.is_some() && !loaded.run.in_flight().is_empty();
            cancel.send_if_modified(|signal| {
                let wanted = ending.then_some(Halt::End);
                let change = *signal != wanted;
                *signal = wanted;
                change
            });
            let moment = loaded.run.next_moment().unwrap_or(renew_at).min(renew_at);
            command = tokio::select! {
                report = inbox.recv() => match report {
                    Some(Report::ChildWaits(key)) => {
                        waiting_children.insert(key);
                        None
                    }
                    report => report.and_then(|report| self.command(report)),
                },
                changed = self.store.changed(id.as_str(), loaded.seq) => {
                    changed?;
                    for event in catch_up(&*self.store, &mut loaded).await? {
                        self.observer.event(&loaded.run, &event);
                    }
                    None
                }
                () = self.clock.sleep_until(moment) => Some(Command::Tick { now: self.clock.now() }),
                _ = stop.changed() => {
                    let asked = *stop.borrow();
                    if let Some(signal) = asked {
                        let _ = cancel.send(Some(Halt::Leave(signal)));
                        while tasks.join_next().await.is_some() {}
                        return self.leave(&mut loaded, lease, &mut inbox, &secrets).await;
                    }
                    None
                }
            };
            let now = self.clock.now();
            if now >= renew_at {
                let until = now.after(LEASE).0;
                let renewed = self.store.lease(id.as_str(), &self.holder, now.0, until, &*self.is_dead).await;
                match renewed {
                    // A disk that is full for a while ends no step: who else would take over cannot write either.
                    Ok(_) | Err(StoreError::Unwritable { .. }) => renew_at = now.after(HEARTBEAT),
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }

    fn command(&self, report: Report) -> Option<Command> {
        Some(match report {
            Report::Attempt(key, attempt, observation) => {
                Command::AttemptEnded { key, attempt, observation, now: self.clock.now() }
            }
            Report::Hook(hook, error) => Command::HookEnded { hook, error },
            Report::ChildWaits(_) => return None,
        })
    }

    /// Drives children on that are under way and that nobody drives: they have logs of their own.
    fn drive_children(
        &self,
        tasks: &mut JoinSet<()>,
        run: &Run,
        which: impl Fn(&StepKey) -> bool,
        reports: &UnboundedSender<Report>,
        cancelled: &Stop,
    ) {
        for (key, attempt) in run.in_flight().into_iter().filter(|(key, _)| which(key)) {
            let deadline = match run.instance(&key).map(|instance| &instance.state) {
                Some(InstanceState::Running { deadline }) => *deadline,
                _ => None,
            };
            self.start_attempt(tasks, run, key, attempt, deadline, reports, cancelled);
        }
    }

    /// Takes in what is known of attempts that were ended because this driver leaves.
    ///
    /// What was ended by us is no outcome: the next driver decides by the rule for lost attempts.
    async fn leave(
        &self,
        loaded: &mut Loaded,
        lease: &Lease,
        inbox: &mut mpsc::UnboundedReceiver<Report>,
        secrets: &[(String, String)],
    ) -> Result<RunStatus, DriveError> {
        while let Ok(report) = inbox.try_recv() {
            let ended_by_us =
                matches!(&report, Report::Attempt(_, _, seen) if seen.end == ProcessEnd::Cancelled);
            if ended_by_us {
                continue;
            }
            let Some(command) = self.command(report) else { continue };
            while self.append_decided(loaded, lease, &command, secrets).await?.is_none() {}
        }
        Ok(loaded.run.status())
    }

    /// Takes in a command and what follows by itself; nothing when others were quicker and the run was read again.
    async fn take_in(
        &self,
        loaded: &mut Loaded,
        lease: &Lease,
        command: Option<&Command>,
        secrets: &[(String, String)],
    ) -> Result<Option<Vec<Event>>, DriveError> {
        let mut events = decided(&mut loaded.run, command, secrets)?;
        events.extend(loaded.run.advance(self.clock.now(), secrets));
        self.append(loaded, lease, events).await
    }

    /// Takes in a command alone.
    async fn append_decided(
        &self,
        loaded: &mut Loaded,
        lease: &Lease,
        command: &Command,
        secrets: &[(String, String)],
    ) -> Result<Option<Vec<Event>>, DriveError> {
        let events = decided(&mut loaded.run, Some(command), secrets)?;
        self.append(loaded, lease, events).await
    }

    /// Appends events that the run has taken in already.
    async fn append(
        &self,
        loaded: &mut Loaded,
        lease: &Lease,
        events: Vec<Event>,
    ) -> Result<Option<Vec<Event>>, DriveError> {
        if events.is_empty() {
            return Ok(Some(events));
        }
        let id = loaded.run.id.clone();
        let appended = self
            .store
            .append(id.as_str(), loaded.seq, Some(lease), stored(&events), summary(&loaded.run))
            .await;
        match appended {
            Ok(appended) => {
                loaded.seq = appended.seq;
                for event in &events {
                    self.observer.event(&loaded.run, event);
                }
                Ok(Some(events))
            }
            Err(StoreError::Conflict { .. }) => {
                *loaded = load(&*self.store, &id).await?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Ends what a dead driver left running; its attempts are then decided about.
    async fn recovery(&self, run: &Run) -> Option<Command> {
        let in_flight = run.in_flight();
        let hook = run.hook_in_flight();
        if in_flight.is_empty() && hook.is_none() {
            return None;
        }
        let mut marks = Vec::new();
        for (key, attempt) in &in_flight {
            let own = mark(&run.id, key, *attempt);
            let step = run.position(key.step.as_str()).map(|position| run.step(position));
            let checks =
                step.and_then(|step| evidence::validation(&step.kind)).map_or(0, |rules| rules.check.len());
            marks.extend((0..checks).map(|index| evidence::check_mark(&own, index)));
            marks.push(own);
        }
        marks.extend(hook.map(|hook| hook::mark(&run.id, hook)));
        self.process.sweep(&marks).await;
        Some(Command::Recover)
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

/// Returns the mark that an attempt's processes carry.
pub(crate) fn mark(run: &RunId, key: &StepKey, attempt: u32) -> String {
    format!("{run}/{key}#{attempt}").replace(' ', "_")
}

/// What listings show of a run without reading its log.
pub(crate) fn summary(run: &Run) -> String {
    use abide_core::value::Value;
    let text = |text: &str| Value::Text(text.to_owned());
    let error = match (&run.phase, &run.ending) {
        (abide_core::run::Phase::Finished(_, Some(error)), _) | (_, Some((_, Some(error)))) => text(error),
        _ => Value::Null,
    };
    Value::Map(vec![
        ("ability".to_owned(), text(&run.created.name)),
        ("status".to_owned(), text(run.status().word())),
        ("by".to_owned(), text(&run.created.by)),
        ("session".to_owned(), run.created.session.as_deref().map_or(Value::Null, text)),
        ("parent".to_owned(), run.created.parent.as_ref().map_or(Value::Null, |(run, _)| text(run.as_str()))),
        (
            "rerun_of".to_owned(),
            run.created.rerun_of.as_ref().map_or(Value::Null, |(run, _)| text(run.as_str())),
        ),
        ("error".to_owned(), error),
    ])
    .to_string()
}

/// Returns how long until a deadline.
pub(crate) fn left(deadline: Option<Timestamp>, now: Timestamp) -> Option<u64> {
    deadline.map(|deadline| u64::try_from(deadline.since(now).as_millis()).unwrap_or(u64::MAX))
}
