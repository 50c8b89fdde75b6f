//! The runs that this server drives: each by a task of its own, until it is over, waits for a human's decision, or the server ends.
//!
//! Several servers may share one database. Whoever starts a run drives it; every few seconds each server looks once for runs
//! that nobody drives any more ([`look_out`]), because their server was killed, left them when it ended, or lost its way to the
//! database. Who drives is decided by the lease alone, so two that look at once are no harm.

mod family;

use self::family::{Doing, Family};
use crate::door::closed;
use crate::house::House;
use crate::{notices, operations};
use abide_core::event::{Event, LossDecision, RunId};
use abide_core::run::Run;
use abide_engine::LoadError;
use abide_engine::driver::{DriveError, Observer};
use abide_engine::port::{Line, OpenStart, Signal, Store as _, StoreError};
use abide_engine::service::{self, GoOnError, ServiceError};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How soon it is tried again to drive a run that another process is at, or whose log could not be used.
const AGAIN: Duration = Duration::from_secs(1);
/// How often that is done when the log could not be used.
const MOST_TRIES: u32 = 60;
/// How often a server looks for runs that nobody drives.
const LOOK: Duration = Duration::from_secs(2);
/// How long nothing is taken up after the database has come back: whoever drives a run could not say so, and says so first.
const COME_BACK: Duration = Duration::from_secs(5);
/// How many runs are asked about at once.
const AT_ONCE: usize = 500;
/// How many runs a server drives at most; others may have more room.
const MOST_DRIVEN: usize = 10_000;
/// After this long a start that has not begun never will, in milliseconds.
const NEVER_BEGAN: i64 = 60 * 60 * 1_000;
/// How many followers' channels are kept for runs that nobody drives here.
const MOST_FOLLOWED: usize = 4_096;

/// The runs that are driven here.
#[derive(Default)]
pub struct Fleet {
    driven: Mutex<HashMap<RunId, Driven>>,
    /// Which of them a called run belongs to; taken after `driven` only.
    within: Mutex<HashMap<RunId, RunId>>,
    /// Runs that are not over and could not be driven on here, with how many events they had then: only a change helps.
    left: Mutex<HashMap<RunId, u64>>,
    /// Counts what steps write, for those who follow it.
    written: Mutex<HashMap<RunId, watch::Sender<u64>>>,
}

struct Driven {
    stop: watch::Sender<Option<Signal>>,
    /// What it does, and what it has called.
    family: Family,
}

/// Why a run is driven here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// Somebody asked this server for something that needs it: while another process has it, that one is waited for.
    Asked,
    /// Nobody drove it when this server looked.
    Found,
}

/// How a drive ended here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Over,
    /// It waits for a human, or cannot go on here.
    Left,
    /// Another process has it, or its log did not answer for long: the next look tells.
    Elsewhere,
}

impl Observer for Fleet {
    fn driving(&self, run: &Run) {
        self.look(run);
    }

    fn event(&self, run: &Run, _: &Event) {
        self.look(run);
    }

    fn output(&self, run: &RunId, _: &str, _: &Line) {
        if let Some(written) = self.written().get(run) {
            written.send_modify(|count| *count = count.wrapping_add(1));
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fleet {
    fn driven(&self) -> MutexGuard<'_, HashMap<RunId, Driven>> {
        lock(&self.driven)
    }

    fn written(&self) -> MutexGuard<'_, HashMap<RunId, watch::Sender<u64>>> {
        lock(&self.written)
    }

    fn look(&self, run: &Run) {
        let mut driven = self.driven();
        if let Some(driven) = driven.get_mut(&run.id) {
            driven.family.own(Doing::of(run));
        }
        // A run that was called is driven with the one that called it.
        let Some(by) = &run.created.parent else { return };
        let mut within = lock(&self.within);
        let root = within.get(&by.0).unwrap_or(&by.0).clone();
        let Some(driven) = driven.get_mut(&root) else { return };
        let doing = (!run.is_finished()).then(|| Doing::of(run));
        match doing {
            Some(_) => drop(within.insert(run.id.clone(), root)),
            None => drop(within.remove(&run.id)),
        }
        driven.family.called(&run.id, by, doing);
    }

    /// Forgets a run that is no longer driven here, and what it has called.
    fn forget(&self, id: &RunId) {
        let mut driven = self.driven();
        if let Some(forgotten) = driven.remove(id) {
            let mut within = lock(&self.within);
            forgotten.family.members().for_each(|member| drop(within.remove(member)));
        }
    }

    /// Returns whether a run is driven here.
    pub(crate) fn drives(&self, id: &RunId) -> bool {
        self.driven().contains_key(id)
    }

    /// Returns what changes when a step of a run writes something here.
    pub(crate) fn follow(&self, id: &RunId) -> watch::Receiver<u64> {
        let mut written = self.written();
        if written.len() >= MOST_FOLLOWED {
            written.retain(|_, sender| sender.receiver_count() > 0);
        }
        written.entry(id.clone()).or_insert_with(|| watch::channel(0).0).subscribe()
    }

    /// Returns which of these runs this server could take up.
    fn others(&self, page: &[OpenStart]) -> HashSet<RunId> {
        let driven = self.driven();
        let room = MOST_DRIVEN.saturating_sub(driven.len());
        let others = page.iter().filter_map(|start| RunId::parse(&start.run));
        others.filter(|id| !driven.contains_key(id)).take(room).collect()
    }

    /// Returns whether nothing has happened to a run since it was left here.
    fn is_left(&self, id: &RunId, events: u64) -> bool {
        lock(&self.left).get(id) == Some(&events)
    }

    /// Asks drivers to leave: those whose run waits, or all of them; returns whether one is still at it.
    fn leave(&self, all: bool) -> bool {
        let driven = self.driven();
        for (_, run) in driven.iter().filter(|(id, run)| all || run.family.waits(id)) {
            run.stop.send_replace(Some(Signal::Ask));
        }
        !driven.is_empty()
    }
}

/// Drives a run that somebody has asked for, beside everything else, unless it is driven here already.
pub(crate) fn drive<H: House>(house: &Arc<H>, id: RunId, decision: Option<LossDecision>, by: String) {
    start(house, id, Reason::Asked, decision, by);
}

fn start<H: House>(house: &Arc<H>, id: RunId, reason: Reason, decision: Option<LossDecision>, by: String) {
    let (stop, stopped) = watch::channel(None);
    {
        let mut driven = house.fleet().driven();
        if driven.contains_key(&id) {
            return;
        }
        driven.insert(id.clone(), Driven { stop, family: Family::default() });
    }
    let house = Arc::clone(house);
    tokio::spawn(async move {
        let end = go_on(&*house, &id, stopped, reason, decision, &by).await;
        let fleet = house.fleet();
        match end {
            // If either cannot be written, the next look finds that the run is over: what webhooks are told of it comes first.
            End::Over => {
                if notices::over(&*house, &id).await.is_ok() {
                    drop(house.starts().over(id.as_str()).await);
                }
            }
            End::Left => {
                // One that is not known to be left is tried once more.
                if let Ok(Some(head)) = house.driver().store().head(id.as_str()).await {
                    lock(&fleet.left).insert(id.clone(), head.seq);
                }
            }
            End::Elsewhere => {}
        }
        fleet.written().remove(&id);
        fleet.forget(&id);
        if end != End::Elsewhere {
            house.settle(&id, end == End::Over).await;
        }
    });
}

/// Drives a run for as long as it can be driven here.
async fn go_on<H: House>(
    house: &H,
    id: &RunId,
    mut stopped: watch::Receiver<Option<Signal>>,
    reason: Reason,
    decision: Option<LossDecision>,
    by: &str,
) -> End {
    let mut tries = 0;
    loop {
        let end = service::go_on(house.driver(), id, stopped.clone(), decision, by).await;
        match end {
            Ok(status) => return if status.is_final() { End::Over } else { End::Left },
            Err(GoOnError::Drive(DriveError::Store(StoreError::Held { .. }))) if reason == Reason::Found => {
                return End::Elsewhere;
            }
            // Another process has it: it may be gone before the run is over.
            Err(GoOnError::Drive(DriveError::Store(StoreError::Held { .. }))) => {}
            // The log does not answer, which says nothing about the run.
            Err(error) if passes(&error) => {
                tries += 1;
                if tries > MOST_TRIES {
                    return End::Elsewhere;
                }
            }
            // It lacks a secret that only memory held, or is damaged: whoever resumes it is told.
            Err(_) => return End::Left,
        }
        if tokio::time::timeout(AGAIN, stopped.changed()).await.is_ok() {
            return End::Left;
        }
    }
}

/// Returns whether the same may go well later, without anybody's help.
fn passes(error: &GoOnError) -> bool {
    let error = match error {
        GoOnError::Drive(DriveError::Store(error) | DriveError::Load(LoadError::Store(error)))
        | GoOnError::Service(ServiceError::Store(error) | ServiceError::Load(LoadError::Store(error))) => {
            error
        }
        GoOnError::Drive(_) | GoOnError::Service(_) => return false,
    };
    !matches!(error, StoreError::Damaged { .. } | StoreError::Unreadable { .. })
}

/// Looks again and again for runs that servers have started and that nobody drives, and goes on with them, until the server ends.
pub(crate) async fn look_out<H: House>(house: Arc<H>, mut closing: watch::Receiver<bool>) {
    let mut pause = Duration::ZERO;
    operations::forget_removed(&*house).await;
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = closed(&mut closing) => return,
        }
        pause = match look(&house).await {
            Ok(()) => LOOK,
            Err(()) => {
                // Until the stores answer, nobody can take anything up.
                while house.ready().await.is_err() {
                    tokio::select! {
                        () = tokio::time::sleep(AGAIN) => {}
                        () = closed(&mut closing) => return,
                    }
                }
                COME_BACK
            }
        };
    }
}

/// Looks once at every run that is not over, and at every session that has something to do.
async fn look<H: House>(house: &Arc<H>) -> Result<(), ()> {
    let mut open: HashSet<RunId> = HashSet::new();
    let mut last: Option<OpenStart> = None;
    loop {
        let page = house.starts().open(last.as_ref(), AT_ONCE).await.map_err(drop)?;
        take_up(house, &page).await?;
        open.extend(page.iter().filter_map(|start| RunId::parse(&start.run)));
        if page.len() < AT_ONCE {
            break;
        }
        last = page.last().cloned();
    }
    lock(&house.fleet().left).retain(|id, _| open.contains(id));
    // Sessions are found in the same way: they have something to do, and nobody has their lease.
    house.talks().look().await.map_err(drop)
}

/// Goes on with those of these runs that nobody drives, and forgets those that never began.
async fn take_up<H: House>(house: &Arc<H>, page: &[OpenStart]) -> Result<(), ()> {
    let others: HashSet<RunId> = house.fleet().others(page);
    if others.is_empty() {
        return Ok(());
    }
    let asked: Vec<RunId> = others.iter().cloned().collect();
    let standings = house.driver().standings(&asked).await.map_err(drop)?;
    for found in standings.iter().filter(|found| found.is_free) {
        if house.fleet().is_left(&found.run, found.events) {
            continue;
        }
        if let Some(head) = house.driver().store().head(found.run.as_str()).await.map_err(drop)? {
            house.not_before(head.changed_at);
        }
        start(house, found.run.clone(), Reason::Found, None, String::new());
    }
    let begun: HashSet<&RunId> = standings.iter().map(|found| &found.run).collect();
    for old in page.iter().filter(|start| start.at < house.now() - NEVER_BEGAN) {
        let never_began =
            RunId::parse(&old.run).is_none_or(|id| others.contains(&id) && !begun.contains(&id));
        if never_began {
            house.starts().over(&old.run).await.map_err(drop)?;
        }
    }
    Ok(())
}

/// Leaves every run: those that wait at once, the others when they wait or are over, and all of them when the time is over.
pub(crate) async fn leave<H: House>(house: &H, grace: Duration) {
    let deadline = tokio::time::Instant::now() + grace;
    while house.fleet().leave(tokio::time::Instant::now() >= deadline) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
