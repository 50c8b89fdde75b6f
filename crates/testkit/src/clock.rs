//! A clock that moves when it is told to, and one that shows the time of this machine.
#![expect(clippy::disallowed_methods, reason = "this is where time comes into tests that run real processes")]

use abide_core::event::{RunId, Timestamp};
use abide_engine::port::Clock;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::SystemTime;

/// A clock that stands still; clones show the same time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// Returns a clock that shows a time, in milliseconds since 1970.
    pub fn at(now: i64) -> Self {
        Self(Arc::new(AtomicI64::new(now)))
    }

    /// Returns the time that it shows.
    pub fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Sets it, forward or back.
    pub fn set(&self, now: i64) {
        self.0.store(now, Ordering::SeqCst);
    }
}

/// The time of this machine, with ids that are counted.
#[derive(Debug, Default)]
pub struct RealClock {
    runs: AtomicU64,
}

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    async fn sleep_until(&self, moment: Timestamp) {
        tokio::time::sleep(moment.since(self.now())).await;
    }

    fn new_run(&self) -> RunId {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        // The process tells the marks of two test programs apart that run at the same time.
        let id = format!("run-{}-{:x}-{run}", std::process::id(), self.now().0);
        RunId::parse(&id).unwrap_or_else(|| unreachable!("letters, digits and hyphens are an id: {id}"))
    }
}
