//! The twin of a store, in memory.

use super::contract::{Subject, Tampering};
use super::fault::Fault;
use super::state::State;
use crate::ManualClock;
use abide_engine::port::{
    Appended, Extent, HeadPlace, Holder, Lease, NewEvent, OutputKey, Standing, Store, StoreError, Stored,
    StreamHead,
};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A store in memory. Clones have the same content, as several processes with one file have.
#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Wakes in the order in which they wait, so that a simulation repeats itself.
    changes: Notify,
    clock: ManualClock,
}

impl MemoryStore {
    /// Returns an empty store with a clock.
    pub fn new(clock: ManualClock) -> Self {
        Self { shared: Arc::new(Shared { state: Mutex::default(), changes: Notify::new(), clock }) }
    }

    /// Lets an append fail: after `after` more of them were tried, counted from the fault that was planned before.
    pub fn fail_append(&self, after: usize, fault: Fault) {
        self.state().faults.plan(after, fault);
    }

    /// Changes an event behind the store's back, as somebody with an editor could.
    pub fn tamper(&self, tampering: &Tampering<'_>) {
        self.state().tamper(tampering);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        self.shared.changes.notify_waiters();
    }
}

impl Store for MemoryStore {
    async fn append(
        &self,
        stream: &str,
        expected: u64,
        lease: Option<&Lease>,
        events: Vec<NewEvent>,
        summary: String,
    ) -> Result<Appended, StoreError> {
        let now = self.shared.clock.now();
        let appended = self.state().append(stream, expected, lease, events, summary, now)?;
        self.wake();
        Ok(appended)
    }

    async fn read(&self, stream: &str, positions: Range<u64>) -> Result<Vec<Stored>, StoreError> {
        self.state().stream(stream)?.read(stream, &positions)
    }

    async fn head(&self, stream: &str) -> Result<Option<StreamHead>, StoreError> {
        Ok(self.state().streams.get(stream).map(|found| found.head(stream)))
    }

    async fn heads(&self, after: Option<&HeadPlace>, most: usize) -> Result<Vec<StreamHead>, StoreError> {
        let is_after = |head: &StreamHead| {
            after.is_none_or(|place| (head.changed_at, &head.stream) < (place.changed_at, &place.stream))
        };
        Ok(self.state().heads().into_iter().filter(is_after).take(most).collect())
    }

    async fn extent(&self) -> Result<Extent, StoreError> {
        let heads = self.state().heads();
        let oldest = heads.iter().map(|head| head.changed_at).min();
        Ok(Extent { streams: heads.len() as u64, oldest })
    }

    async fn forget(&self, stream: &str) -> Result<(), StoreError> {
        self.state().forget(stream)?;
        self.wake();
        Ok(())
    }

    async fn save_snapshot(&self, stream: &str, seq: u64, data: String) -> Result<(), StoreError> {
        let mut state = self.state();
        let found = state.stream(stream)?;
        if seq > found.end.seq {
            let (stream, found) = (stream.to_owned(), found.end.seq);
            return Err(StoreError::Conflict { stream, expected: seq, found });
        }
        if found.snapshot.as_ref().is_none_or(|(newest, _)| *newest <= seq) {
            found.snapshot = Some((seq, data));
        }
        Ok(())
    }

    async fn snapshot(&self, stream: &str) -> Result<Option<(u64, String)>, StoreError> {
        Ok(self.state().streams.get(stream).and_then(|found| found.snapshot.clone()))
    }

    async fn write_output(&self, key: &OutputKey, bytes: Vec<u8>) -> Result<(), StoreError> {
        let mut state = self.state();
        state.stream(&key.stream)?;
        state.outputs.entry(key.clone()).or_default().extend(bytes);
        Ok(())
    }

    async fn read_output(&self, key: &OutputKey, range: Range<u64>) -> Result<Vec<u8>, StoreError> {
        let state = self.state();
        let Some(bytes) = state.outputs.get(key) else { return Ok(Vec::new()) };
        let within = |position: u64| usize::try_from(position).unwrap_or(usize::MAX).min(bytes.len());
        Ok(bytes.get(within(range.start)..within(range.end)).unwrap_or_default().to_vec())
    }

    async fn lease(
        &self,
        stream: &str,
        holder: &Holder,
        now: i64,
        until: i64,
        is_dead: &(dyn Fn(&Holder) -> bool + Send + Sync),
    ) -> Result<Lease, StoreError> {
        self.state().lease(stream, holder, now, until, is_dead)
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        self.state().release(lease);
        Ok(())
    }

    async fn standings(&self, streams: &[String]) -> Result<Vec<Standing>, StoreError> {
        let state = self.state();
        Ok(streams.iter().filter_map(|stream| state.standing(stream)).collect())
    }

    async fn changed(&self, stream: &str, seq: u64) -> Result<(), StoreError> {
        loop {
            let mut changed = std::pin::pin!(self.shared.changes.notified());
            // What changes between the look and the waiting is heard.
            changed.as_mut().enable();
            let length = self.state().streams.get(stream).map(|found| found.end.seq);
            if length.unwrap_or(0) > seq || (length.is_none() && seq > 0) {
                return Ok(());
            }
            changed.await;
        }
    }
}

/// A [`MemoryStore`] under test.
pub struct MemorySubject(MemoryStore);

impl MemorySubject {
    /// Returns an empty one.
    pub fn new(clock: ManualClock) -> Self {
        Self(MemoryStore::new(clock))
    }
}

impl Subject for MemorySubject {
    type Store = MemoryStore;

    fn open(&self) -> MemoryStore {
        self.0.clone()
    }

    fn tamper(&self, tampering: &Tampering<'_>) {
        self.0.tamper(tampering);
    }
}
