//! For tests of what a crash leaves: ends this process without a word right after an event is in the log.
//!
//! `ABIDE_TEST_EXIT_AFTER_EVENT=n` aborts after the n-th event that this process appends or sees, those of child
//! runs included. Nothing else looks at it, and without it nothing here is active.

use crate::session::Session;
use abide_core::event::{Event, RunId};
use abide_core::run::Run;
use abide_engine::driver::Observer;
use abide_engine::port::Line;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

struct Crash {
    observer: Arc<dyn Observer>,
    left: AtomicU64,
}

/// Puts the crash before an observer, where the environment asks for one.
pub(super) fn armed(session: &Session<'_>, observer: Arc<dyn Observer>) -> Arc<dyn Observer> {
    let asked = session.surroundings.variable("ABIDE_TEST_EXIT_AFTER_EVENT");
    match asked.and_then(|count| count.parse().ok()) {
        Some(count) => Arc::new(Crash { observer, left: AtomicU64::new(count) }),
        None => observer,
    }
}

impl Observer for Crash {
    fn begun(&self, run: &Run) {
        self.observer.begun(run);
    }

    fn driving(&self, run: &Run) {
        self.observer.driving(run);
    }

    fn event(&self, run: &Run, event: &Event) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::abort();
        }
        self.observer.event(run, event);
    }

    fn output(&self, run: &RunId, key: &str, line: &Line) {
        self.observer.output(run, key, line);
    }
}
