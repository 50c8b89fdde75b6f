//! The spans that wait to be sent: a bounded number of them, so that a collector that is down costs no memory.

use abide_engine::trace::{Fate, Span, Tally};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The spans that wait.
pub(crate) struct Queue {
    waiting: Mutex<VecDeque<Span>>,
    most: usize,
    tally: Arc<Tally>,
    /// There is something new.
    pub(crate) news: Notify,
}

impl Queue {
    pub(crate) fn new(most: usize, tally: Arc<Tally>) -> Self {
        Self { waiting: Mutex::default(), most, tally, news: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Span>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes spans as far as there is room; the others are counted, and gone.
    pub(crate) fn give(&self, spans: impl IntoIterator<Item = Span>) {
        let mut dropped = 0;
        {
            let mut waiting = self.lock();
            for span in spans {
                if waiting.len() < self.most {
                    waiting.push_back(span);
                } else {
                    dropped += 1;
                }
            }
        }
        self.tally.add(Fate::Dropped, dropped);
        self.news.notify_one();
    }

    /// Returns how many wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Takes those out that have waited longest.
    pub(crate) fn take(&self, most: usize) -> Vec<Span> {
        let mut waiting = self.lock();
        let count = waiting.len().min(most);
        waiting.drain(..count).collect()
    }

    /// Drops everything that waits, and counts it.
    pub(crate) fn drop_all(&self) {
        let dropped = std::mem::take(&mut *self.lock()).len();
        self.tally.add(Fate::Dropped, dropped as u64);
    }
}
