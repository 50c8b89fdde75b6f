//! A store that is slow, full, or broken when the weather is bad, as one program sees it.

use super::host::Host;
use super::stage::Stage;
use crate::store::MemoryStore;
use abide_engine::port::{
    Appended, Extent, HeadPlace, Holder, Lease, NewEvent, OutputKey, Standing, Store, StoreError, Stored,
    StreamHead,
};
use std::ops::Range;
use std::sync::Arc;

/// How the store is at the moment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Weather {
    /// How many of a hundred calls fail.
    pub(super) broken: u64,
    /// How many of a hundred calls take long.
    pub(super) slow: u64,
    /// Whether nothing can be written.
    pub(super) full: bool,
}

/// What happens to one call.
struct Fate {
    before: u64,
    fails_before: bool,
    fails_after: bool,
    after: u64,
}

/// The store as one program sees it: what a program that is gone asks for never happens.
#[derive(Clone)]
pub(super) struct FaultyStore {
    inner: MemoryStore,
    stage: Arc<Stage>,
    host: Arc<Host>,
}

fn broken(reason: &str) -> StoreError {
    StoreError::Other { place: "memory".to_owned(), reason: reason.to_owned() }
}

impl FaultyStore {
    pub(super) fn new(stage: &Arc<Stage>, host: &Arc<Host>) -> Self {
        Self { inner: stage.store.clone(), stage: Arc::clone(stage), host: Arc::clone(host) }
    }

    fn fate(&self) -> Fate {
        let weather = self.stage.weather();
        let mut chance = self.stage.chance();
        let mut wait = |slow: u64| {
            if !chance.percent(slow) {
                0
            } else if chance.percent(90) {
                chance.within(1..60)
            } else {
                chance.within(60..25_000)
            }
        };
        let (before, after) = (wait(weather.slow), wait(weather.slow));
        let fails = chance.percent(weather.broken);
        let took_effect = chance.percent(50);
        Fate { before, fails_before: fails && !took_effect, fails_after: fails && took_effect, after }
    }

    /// Lets a call happen as the weather has it.
    async fn call<T>(
        &self,
        writes: bool,
        call: impl FnOnce(&MemoryStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.happen(&self.fate(), writes, call).await
    }

    async fn happen<T>(
        &self,
        fate: &Fate,
        writes: bool,
        call: impl FnOnce(&MemoryStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.pass(fate.before).await;
        if writes && self.stage.weather().full {
            return Err(StoreError::Unwritable {
                place: "memory".to_owned(),
                reason: "the disk is full".into(),
            });
        }
        if fate.fails_before {
            return Err(broken("it did not happen"));
        }
        let done = call(&self.inner);
        self.pass(fate.after).await;
        if fate.fails_after { Err(broken("nobody knows whether it happened")) } else { done }
    }

    /// Waits; a program that is gone by then waits for ever.
    async fn pass(&self, time: u64) {
        if time > 0 {
            self.stage.clock.sleep(time).await;
        }
        if self.host.is_gone() {
            std::future::pending::<()>().await;
        }
    }
}

/// Finishes a future of the store in memory, which never waits.
fn now<T>(work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    match work.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(done) => done,
        std::task::Poll::Pending => unreachable!("a store in memory does not wait"),
    }
}

impl Store for FaultyStore {
    async fn append(
        &self,
        stream: &str,
        expected: u64,
        lease: Option<&Lease>,
        events: Vec<NewEvent>,
        summary: String,
    ) -> Result<Appended, StoreError> {
        let decided = self.host.decided_at().unwrap_or(self.stage.clock.shown().now());
        // A store that answers before it has written: what a crash then takes with it was promised.
        if self.stage.sabotage == super::Sabotage::AnswersBeforeItWrites && expected > 0 {
            let sent = self.clone();
            let (stream, lease, count) = (stream.to_owned(), lease.cloned(), events.len() as u64);
            let promised = Appended { seq: expected + count, hash: String::new() };
            tokio::spawn(async move {
                sent.pass(40).await;
                let _ = sent.write(&stream, expected, lease.as_ref(), events, summary, decided);
            });
            return Ok(promised);
        }
        self.call(true, |_| self.write(stream, expected, lease, events, summary, decided)).await
    }

    async fn read(&self, stream: &str, positions: Range<u64>) -> Result<Vec<Stored>, StoreError> {
        self.call(false, |inner| now(inner.read(stream, positions))).await
    }

    async fn head(&self, stream: &str) -> Result<Option<StreamHead>, StoreError> {
        self.call(false, |inner| now(inner.head(stream))).await
    }

    async fn heads(&self, after: Option<&HeadPlace>, most: usize) -> Result<Vec<StreamHead>, StoreError> {
        self.call(false, |inner| now(inner.heads(after, most))).await
    }

    async fn extent(&self) -> Result<Extent, StoreError> {
        self.call(false, |inner| now(inner.extent())).await
    }

    async fn forget(&self, stream: &str) -> Result<(), StoreError> {
        self.call(true, |inner| now(inner.forget(stream))).await
    }

    async fn save_snapshot(&self, stream: &str, seq: u64, data: String) -> Result<(), StoreError> {
        self.call(true, |inner| now(inner.save_snapshot(stream, seq, data))).await
    }

    async fn snapshot(&self, stream: &str) -> Result<Option<(u64, String)>, StoreError> {
        self.call(false, |inner| now(inner.snapshot(stream))).await
    }

    async fn write_output(&self, key: &OutputKey, bytes: Vec<u8>) -> Result<(), StoreError> {
        self.call(true, |inner| now(inner.write_output(key, bytes))).await
    }

    async fn read_output(&self, key: &OutputKey, range: Range<u64>) -> Result<Vec<u8>, StoreError> {
        self.call(false, |inner| now(inner.read_output(key, range))).await
    }

    async fn lease(
        &self,
        stream: &str,
        holder: &Holder,
        at: i64,
        until: i64,
        is_dead: &(dyn Fn(&Holder) -> bool + Send + Sync),
    ) -> Result<Lease, StoreError> {
        // What time it is belongs to the decision: a clock that is set between the two is more than a lease can stand.
        let fate = Fate { before: 0, ..self.fate() };
        self.happen(&fate, true, |inner| now(inner.lease(stream, holder, at, until, is_dead))).await
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        self.call(true, |inner| now(inner.release(lease))).await
    }

    async fn standings(&self, streams: &[String]) -> Result<Vec<Standing>, StoreError> {
        self.call(false, |inner| now(inner.standings(streams))).await
    }

    async fn changed(&self, stream: &str, seq: u64) -> Result<(), StoreError> {
        let early = {
            let weather = self.stage.weather();
            let mut chance = self.stage.chance();
            chance.percent(weather.slow / 4).then(|| chance.within(1..2_000))
        };
        // It may always tell that something could have changed when nothing has.
        let early = async {
            match early {
                Some(early) => self.stage.clock.sleep(early).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            changed = self.inner.changed(stream, seq) => changed?,
            () = early => {}
        }
        self.call(false, |_| Ok(())).await
    }
}

impl FaultyStore {
    fn write(
        &self,
        stream: &str,
        expected: u64,
        lease: Option<&Lease>,
        events: Vec<NewEvent>,
        summary: String,
        decided: i64,
    ) -> Result<Appended, StoreError> {
        let copy = events.clone();
        let lease = lease.filter(|_| self.stage.sabotage != super::Sabotage::LeasesMeanNothing);
        let appended = now(self.inner.append(stream, expected, lease, events, summary))?;
        self.stage.ledger().wrote(stream, decided, &copy);
        Ok(appended)
    }
}
