//! Drives a run to its end: append first, then do, then append what came of it.

mod agent;
mod attempt;
mod beside;
mod capture;
mod child;
mod drive;
mod evidence;
mod halt;
mod hook;
mod intake;
mod recovery;
mod summary;
mod vault;

pub(crate) use beside::scripts_beside;
pub(crate) use child::child_id;

use crate::log::LoadError;
use crate::port::{
    Clock, Holder, Lease, Line, Process, Runners, Signal, Standing, Store, StoreError, Workspace,
};
use abide_core::event::{Event, RunId, StepKey, Timestamp};
use abide_core::run::{Refusal, Run, RunStatus};
use abide_core::value::data::push_json_text;
use drive::{Drive, Report};
use halt::Stop;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use summary::Summaries;
use tokio::sync::watch;
use vault::Vault;

/// How long a lease holds without a heartbeat.
const LEASE: Duration = Duration::from_secs(15);
/// How often a lease is renewed.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How soon it is tried again when that could not be written.
const AGAIN: Duration = Duration::from_secs(1);

/// What a driver tells whoever watches.
pub trait Observer: Send + Sync + 'static {
    /// A run has begun: its first event is in the log, and nobody drives it yet.
    fn begun(&self, _run: &Run) {}
    /// A run is driven from now on; what it has asked before is not told as an event again.
    fn driving(&self, _run: &Run) {}
    /// Something happened to a run; the run has already taken it in.
    fn event(&self, _run: &Run, _event: &Event) {}
    /// A step wrote something; the bytes are masked.
    fn output(&self, _run: &RunId, _key: &str, _line: &Line) {}
}

/// Several observers, each told everything in turn.
pub struct Observers(pub Vec<Arc<dyn Observer>>);

impl Observer for Observers {
    fn begun(&self, run: &Run) {
        self.0.iter().for_each(|one| one.begun(run));
    }

    fn driving(&self, run: &Run) {
        self.0.iter().for_each(|one| one.driving(run));
    }

    fn event(&self, run: &Run, event: &Event) {
        self.0.iter().for_each(|one| one.event(run, event));
    }

    fn output(&self, run: &RunId, key: &str, line: &Line) {
        self.0.iter().for_each(|one| one.output(run, key, line));
    }
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
    /// A run that is not over needs values that only memory holds.
    #[error("run {run} needs its secret {} again, which the log does not hold", names(.missing))]
    Secrets {
        /// The run.
        run: RunId,
        /// The inputs.
        missing: Vec<String>,
    },
    /// The machine refused something that the driver did, which is a bug of ours.
    #[error("run {0}: {1}")]
    Refused(RunId, Box<Refusal>),
}

fn names(inputs: &[String]) -> String {
    let names: Vec<String> = inputs.iter().map(|name| format!("`{name}`")).collect();
    format!("{} {}", if names.len() == 1 { "input" } else { "inputs" }, names.join(", "))
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
    pub(crate) observer: Arc<dyn Observer>,
    /// Tells whether the process of a holder is gone; one on another machine counts as alive until its lease ends.
    is_dead: Arc<dyn Fn(&Holder) -> bool + Send + Sync>,
    /// Values of secret inputs by run, which the log does not hold.
    secrets: Arc<Mutex<HashMap<RunId, NamedValues>>>,
    summaries: Arc<Mutex<Summaries>>,
    /// What is known of the secrets of each run that is driven at the moment.
    vaults: Vaults,
    /// The runs that it drives at the moment, each with the end of its lease.
    busy: Arc<Mutex<HashMap<RunId, i64>>>,
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
            summaries: Arc::clone(&self.summaries),
            vaults: Arc::clone(&self.vaults),
            busy: Arc::clone(&self.busy),
        }
    }
}

/// Says that a run is being driven, for as long as it is.
struct Busy {
    all: Arc<Mutex<HashMap<RunId, i64>>>,
    vaults: Vaults,
    id: RunId,
}

type Vaults = Arc<Mutex<HashMap<RunId, Arc<Vault>>>>;

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStanding {
    /// The run.
    pub run: RunId,
    /// How many events it has.
    pub events: u64,
    /// Whether nobody drives it, or nobody but this driver; who drives it next is decided by its lease alone.
    pub is_free: bool,
}

/// Values by name.
type NamedValues = Vec<(String, String)>;

impl<S: Store, P: Process, W: Workspace, C: Clock> Driver<S, P, W, C> {
    /// Puts a driver together.
    pub fn new(
        ports: (Arc<S>, Arc<P>, Arc<W>, Arc<C>),
        holder: Holder,
        observer: Arc<dyn Observer>,
        is_dead: Arc<dyn Fn(&Holder) -> bool + Send + Sync>,
    ) -> Self {
        let (store, process, workspace, clock) = ports;
        let runners = Runners::default();
        let (secrets, summaries, vaults, busy) = Default::default();
        Self {
            store,
            process,
            workspace,
            clock,
            runners,
            holder,
            observer,
            is_dead,
            secrets,
            summaries,
            vaults,
            busy,
        }
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

    /// Refuses a second drive of a run: the store knows one holder per program, and would let it.
    fn alone(&self, id: &RunId) -> Result<Busy, StoreError> {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        if busy.contains_key(id) {
            return Err(StoreError::Held { stream: id.to_string(), holder: self.holder.name.clone() });
        }
        busy.insert(id.clone(), i64::MIN);
        Ok(Busy { all: Arc::clone(&self.busy), vaults: Arc::clone(&self.vaults), id: id.clone() })
    }

    /// Returns how some runs stand, in no order; those that never began are left out.
    pub async fn standings(&self, runs: &[RunId]) -> Result<Vec<RunStanding>, StoreError> {
        let streams: Vec<String> = runs.iter().map(ToString::to_string).collect();
        let (now, standings) = (self.clock.now().0, self.store.standings(&streams).await?);
        let is_held = |lease: &Lease| {
            lease.holder.name != self.holder.name && lease.until > now && !(self.is_dead)(&lease.holder)
        };
        let of_run = |standing: Standing| {
            let is_free = !standing.lease.as_ref().is_some_and(is_held);
            Some(RunStanding { run: RunId::parse(&standing.stream)?, events: standing.seq, is_free })
        };
        Ok(standings.into_iter().filter_map(of_run).collect())
    }

    /// Takes or renews the right to drive a run.
    async fn lease(&self, id: &RunId) -> Result<Lease, StoreError> {
        let now = self.clock.now();
        let until = now.after(LEASE).0;
        let lease = self.store.lease(id.as_str(), &self.holder, now.0, until, &*self.is_dead).await?;
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), until);
        Ok(lease)
    }

    /// Waits until nobody else can have a run, which is when something of it may be started.
    ///
    /// A machine that slept, or a store that was slow, can outlast a lease: then another driver may have swept what
    /// this one had under way, and would not see what it starts afterwards. The next heartbeat tells.
    ///
    /// With a stop there is nothing to wait for: what was told to end before its start starts nothing.
    async fn ours(&self, id: &RunId, stop: &Stop) {
        while stop.get().is_none() {
            let until = self.busy.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied();
            match until {
                Some(until) if self.clock.now().0 < until => return,
                Some(_) => self.clock.sleep_until(self.clock.now().after(AGAIN)).await,
                // The drive is over, and whoever asks with it.
                None => std::future::pending().await,
            }
        }
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
            let _busy = self.alone(&id)?;
            let lease = self.lease(&id).await?;
            let driven = Drive::new(self, &id, lease.clone()).await;
            let driven = match driven {
                Ok(mut drive) => {
                    drive.open_vault().await;
                    drive.go_on(stop).await
                }
                Err(error) => Err(error),
            };
            self.forget_summaries(&id);
            // Whoever takes over does not have to wait; a lease that cannot be given back ends by itself.
            let _ = self.store.release(&lease).await;
            driven
        })
    }
}

/// Returns the mark that an attempt's processes carry.
pub(crate) fn mark(run: &RunId, key: &StepKey, attempt: u32) -> String {
    format!("{run}/{key}#{attempt}").replace(' ', "_")
}

/// What listings show of a run without reading its log. Written with every commit, so it is not made of values first.
pub(crate) fn summary(run: &Run) -> String {
    let error = match (&run.phase, &run.ending) {
        (abide_core::run::Phase::Finished(_, Some(error)), _) | (_, Some((_, Some(error)))) => Some(error),
        _ => None,
    };
    let fields = [
        ("ability", Some(run.created.name.as_str())),
        ("status", Some(run.status().word())),
        ("by", Some(run.created.by.as_str())),
        ("session", run.created.session.as_deref()),
        ("parent", run.created.parent.as_ref().map(|(run, _)| run.as_str())),
        ("rerun_of", run.created.rerun_of.as_ref().map(|(run, _)| run.as_str())),
        ("error", error.map(String::as_str)),
    ];
    let mut text = String::with_capacity(192);
    for (name, value) in fields {
        text.push_str(if text.is_empty() { "{\"" } else { ",\"" });
        text.push_str(name);
        text.push_str("\":");
        match value {
            Some(value) => push_json_text(&mut text, value),
            None => text.push_str("null"),
        }
    }
    text.push('}');
    text
}

/// Returns how long until a deadline.
pub(crate) fn left(deadline: Option<Timestamp>, now: Timestamp) -> Option<u64> {
    deadline.map(|deadline| u64::try_from(deadline.since(now).as_millis()).unwrap_or(u64::MAX))
}
