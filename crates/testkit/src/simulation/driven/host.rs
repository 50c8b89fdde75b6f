//! One program on the stage: it has a name, and it may crash.

use abide_core::event::Timestamp;
use abide_engine::port::Holder;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// A program that drives runs, or that people use to answer.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) holder: Holder,
    /// Shared with the processes that it starts, which it can end only while it lives.
    pub(super) crashed: Arc<AtomicBool>,
    /// When what is being appended was decided, if that was not now.
    decided_at: AtomicI64,
}

impl Host {
    pub(super) fn new(number: u32) -> Arc<Self> {
        Arc::new(Self {
            holder: Holder { name: format!("host-{number}"), process: number },
            crashed: Arc::default(),
            decided_at: AtomicI64::new(i64::MIN),
        })
    }

    pub(super) fn crash(&self) {
        self.crashed.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_gone(&self) -> bool {
        self.crashed.load(Ordering::SeqCst)
    }

    /// Says when a human decided what is appended next.
    pub(super) fn decides_at(&self, at: Timestamp) {
        self.decided_at.store(at.0, Ordering::SeqCst);
    }

    pub(super) fn decided_at(&self) -> Option<i64> {
        Some(self.decided_at.load(Ordering::SeqCst)).filter(|at| *at != i64::MIN)
    }
}
