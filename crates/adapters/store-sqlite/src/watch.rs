//! Waking who follows a stream.
//!
//! Changes of this process wake at once. Those of other processes are found by a thread that looks at
//! `data_version`, which costs a look at shared memory; it only looks while somebody waits, and less often the
//! longer nothing happens.

use crate::error::other;
use crate::file::File;
use abide_engine::port::StoreError;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Who waits for which stream.
#[derive(Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    /// Somebody waits.
    awaited: Condvar,
    closing: Condvar,
    /// Whether the connection that looks is better closed; see `Readers::close_idle`.
    stale: AtomicBool,
}

/// How long a stream is, as whoever appended to it last knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) length: u64,
    /// What [`Watch::looks`] was before: it holds as long as that is so.
    pub(crate) looks: u64,
}

/// Of how many streams it is kept how long they are.
const KNOWN: usize = 64;

#[derive(Default)]
struct State {
    waiting: HashMap<String, Vec<oneshot::Sender<()>>>,
    known: HashMap<String, Known>,
    /// How often others may have changed something.
    looks: u64,
    /// Whether the thread that looks sleeps until somebody waits.
    parked: bool,
    closed: bool,
}

impl Watch {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how often others may have changed something, which is found out some time after they did.
    pub(crate) fn looks(&self) -> u64 {
        self.state().looks
    }

    /// Wakes who waits for a stream that was changed here, in the order of the commits.
    pub(crate) fn wake(&self, stream: &str, known: Option<Known>) {
        let mut state = self.state();
        match (known, state.known.get_mut(stream)) {
            (Some(known), Some(before)) => *before = known,
            (Some(known), None) => {
                if state.known.len() >= KNOWN {
                    state.known.clear();
                }
                state.known.insert(stream.to_owned(), known);
            }
            (None, _) => drop(state.known.remove(stream)),
        }
        let waiting = state.waiting.remove(stream);
        drop(state);
        for waiter in waiting.into_iter().flatten() {
            let _ = waiter.send(());
        }
    }

    /// Lets the next look open the file again.
    pub(crate) fn reopen(&self) {
        self.stale.store(true, Ordering::Relaxed);
    }

    fn wake_all(&self) {
        let mut state = self.state();
        state.looks += 1;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for waiter in waiting.into_values().flatten() {
            let _ = waiter.send(());
        }
    }

    fn wait(&self, stream: &str) -> (oneshot::Receiver<()>, Option<u64>) {
        let (waiter, woken) = oneshot::channel();
        let mut state = self.state();
        let looks = state.looks;
        let known = state.known.get(stream).filter(|known| known.looks == looks).map(|known| known.length);
        let waiters = state.waiting.entry(stream.to_owned()).or_default();
        waiters.retain(|waiter| !waiter.is_closed());
        waiters.push(waiter);
        // A thread that is only resting finds out by itself; waking it for every step would cost more than it does.
        if state.parked {
            self.awaited.notify_one();
        }
        (woken, known)
    }
}

/// The thread that looks for changes of other processes; it starts with the first who waits.
pub(crate) struct Poller {
    file: File,
    watch: Arc<Watch>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Poller {
    pub(crate) fn new(file: File, watch: Arc<Watch>) -> Self {
        Self { file, watch, thread: Mutex::new(None) }
    }

    /// Returns what resolves when a stream may have changed after this call, or before it by others; and how long it is by the
    /// last change that was made here, unless others may have made one since.
    pub(crate) fn wait(&self, stream: &str) -> Result<(oneshot::Receiver<()>, Option<u64>), StoreError> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let (file, watch) = (self.file.clone(), self.watch.clone());
            let started = std::thread::Builder::new()
                .name("log-watch".to_owned())
                .spawn(move || watch.look_until_closed(&file))
                .map_err(|reason| other(&self.file.place, format!("cannot start a thread: {reason}")))?;
            *thread = Some(started);
        }
        Ok(self.watch.wait(stream))
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.watch.state().closed = true;
        self.watch.awaited.notify_all();
        self.watch.closing.notify_all();
        if let Some(handle) = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = handle.join();
        }
    }
}

impl Watch {
    fn look_until_closed(&self, file: &File) {
        let mut connection = None;
        let mut seen = None;
        let mut pause = SHORTEST_PAUSE;
        while self.somebody_waits(pause) {
            if self.stale.swap(false, Ordering::Relaxed) {
                connection = None;
            }
            // The first look, and one that fails, count as a change: waking too often is harmless.
            let version = data_version(&mut connection, file);
            if version.is_none() || version != seen {
                seen = version;
                pause = SHORTEST_PAUSE;
                self.wake_all();
            } else {
                pause = (pause * 5 / 4).min(LONGEST_PAUSE);
            }
        }
    }

    /// Waits for the pause to pass with somebody waiting; returns false when the store is closed.
    fn somebody_waits(&self, pause: Duration) -> bool {
        let mut state = self.state();
        let mut rested = false;
        loop {
            state.waiting.retain(|_, waiters| {
                waiters.retain(|waiter| !waiter.is_closed());
                !waiters.is_empty()
            });
            if state.closed {
                return false;
            }
            let nobody = state.waiting.is_empty();
            if rested && !nobody {
                return true;
            }
            state = if nobody && rested {
                state.parked = true;
                state = self.awaited.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.parked = false;
                state
            } else {
                rested = true;
                self.closing.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }
}

fn data_version(connection: &mut Option<Connection>, file: &File) -> Option<i64> {
    if connection.is_none() {
        *connection = file.reader().ok();
    }
    let version = connection.as_ref().and_then(|connection| {
        let mut statement = connection.prepare_cached("PRAGMA data_version").ok()?;
        statement.query_row((), |row| row.get(0)).ok()
    });
    if version.is_none() {
        *connection = None;
    }
    version
}
