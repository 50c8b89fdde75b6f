//! The runs that this server drives: each by a task of its own, until it is over, waits for a human's decision, or the server ends.

use crate::house::House;
use abide_core::event::{Event, LossDecision, RunId};
use abide_core::run::{Run, RunStatus};
use abide_engine::driver::{DriveError, Observer};
use abide_engine::port::{Line, Signal, StoreError};
use abide_engine::service::{self, GoOnError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How soon it is tried again to drive a run that another process is at, or whose log could not be used.
const AGAIN: Duration = Duration::from_secs(1);
/// How often that is done when the log could not be used.
const MOST_TRIES: u32 = 60;
/// How many runs are taken up when a server comes back.
const MOST_TAKEN_UP: usize = 10_000;
/// How many followers' channels are kept for runs that nobody drives here.
const MOST_FOLLOWED: usize = 4_096;

/// The runs that are driven here.
#[derive(Default)]
pub struct Fleet {
    driven: Mutex<HashMap<RunId, Driven>>,
    /// Counts what steps write, for those who follow it.
    written: Mutex<HashMap<RunId, watch::Sender<u64>>>,
}

struct Driven {
    stop: watch::Sender<Option<Signal>>,
    /// Whether it waits for a human or a moment, so that nothing is cut short when it is left.
    waits: bool,
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

impl Fleet {
    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Driven>> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn written(&self) -> MutexGuard<'_, HashMap<RunId, watch::Sender<u64>>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, run: &Run) {
        if let Some(driven) = self.lock().get_mut(&run.id) {
            driven.waits = matches!(run.status(), RunStatus::Waiting | RunStatus::AwaitingPlan);
        }
    }

    /// Returns whether a run is driven here.
    pub(crate) fn drives(&self, id: &RunId) -> bool {
        self.lock().contains_key(id)
    }

    /// Returns what changes when a step of a run writes something here.
    pub(crate) fn follow(&self, id: &RunId) -> watch::Receiver<u64> {
        let mut written = self.written();
        if written.len() >= MOST_FOLLOWED {
            written.retain(|_, sender| sender.receiver_count() > 0);
        }
        written.entry(id.clone()).or_insert_with(|| watch::channel(0).0).subscribe()
    }

    /// Asks drivers to leave: those whose run waits, or all of them; returns whether one is still at it.
    fn leave(&self, all: bool) -> bool {
        let driven = self.lock();
        for run in driven.values().filter(|run| all || run.waits) {
            run.stop.send_replace(Some(Signal::Ask));
        }
        !driven.is_empty()
    }
}

/// Drives a run beside everything else, unless it is driven here already.
pub(crate) fn drive<H: House>(house: &Arc<H>, id: RunId, decision: Option<LossDecision>, by: String) {
    let (stop, stopped) = watch::channel(None);
    {
        let mut driven = house.fleet().lock();
        if driven.contains_key(&id) {
            return;
        }
        driven.insert(id.clone(), Driven { stop, waits: false });
    }
    let house = Arc::clone(house);
    tokio::spawn(async move {
        let over = go_on(&*house, &id, stopped, decision, &by).await;
        house.fleet().written().remove(&id);
        house.fleet().lock().remove(&id);
        if over {
            // If this cannot be written, the next start of a server finds that the run is over.
            let _ = house.starts().over(id.as_str()).await;
        }
        house.settle(&id, over).await;
    });
}

/// Drives a run for as long as it can be driven here; returns whether it is over.
async fn go_on<H: House>(
    house: &H,
    id: &RunId,
    mut stopped: watch::Receiver<Option<Signal>>,
    decision: Option<LossDecision>,
    by: &str,
) -> bool {
    let mut tries = 0;
    loop {
        let end = service::go_on(house.driver(), id, stopped.clone(), decision, by).await;
        match end {
            Ok(status) => return status.is_final(),
            // Another process has it: it may be gone before the run is over.
            Err(GoOnError::Drive(DriveError::Store(StoreError::Held { .. }))) => {}
            Err(GoOnError::Drive(DriveError::Store(_) | DriveError::Load(_))) if tries < MOST_TRIES => {
                tries += 1;
            }
            // It lacks a secret that only memory held, or is damaged: whoever resumes it is told.
            Err(_) => return false,
        }
        if tokio::time::timeout(AGAIN, stopped.changed()).await.is_ok() {
            return false;
        }
    }
}

/// Goes on with every run that was started here and is not over.
pub(crate) async fn take_up<H: House>(house: &Arc<H>) -> Result<(), String> {
    use abide_engine::port::Store as _;
    let open = house.starts().open(MOST_TAKEN_UP).await.map_err(|error| error.to_string())?;
    for run in open {
        let head = house.driver().store().head(&run).await.map_err(|error| error.to_string())?;
        match (head, RunId::parse(&run)) {
            (Some(head), Some(id)) => {
                house.not_before(head.changed_at);
                drive(house, id, None, String::new());
            }
            // It never began, or was forgotten.
            _ => house.starts().over(&run).await.map_err(|error| error.to_string())?,
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
