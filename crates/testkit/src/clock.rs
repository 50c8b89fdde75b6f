//! A clock that moves when it is told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

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
