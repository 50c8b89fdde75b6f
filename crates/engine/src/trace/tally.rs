//! How many spans were told to whoever collects them, and how many were not.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many spans became what, since the process started.
#[derive(Debug, Default)]
pub struct Tally {
    exported: AtomicU64,
    rejected: AtomicU64,
    dropped: AtomicU64,
    lost: AtomicU64,
}

/// What became of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The collector has taken them.
    Exported,
    /// The collector was told of them and did not want them.
    Rejected,
    /// There was no room for them, or the collector could not be reached for too long.
    Dropped,
}

impl Fate {
    /// Every fate.
    pub const ALL: [Self; 3] = [Self::Exported, Self::Rejected, Self::Dropped];

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exported => "exported",
            Self::Rejected => "rejected",
            Self::Dropped => "dropped",
        }
    }
}

impl Tally {
    fn of(&self, fate: Fate) -> &AtomicU64 {
        match fate {
            Fate::Exported => &self.exported,
            Fate::Rejected => &self.rejected,
            Fate::Dropped => &self.dropped,
        }
    }

    /// Counts spans.
    pub fn add(&self, fate: Fate, spans: u64) {
        self.of(fate).fetch_add(spans, Ordering::Relaxed);
    }

    /// Returns how many spans had a fate.
    pub fn count(&self, fate: Fate) -> u64 {
        self.of(fate).load(Ordering::Relaxed)
    }

    /// Counts a trace that could not be put together, or that nobody had the time for.
    pub fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many traces that happened to.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}
