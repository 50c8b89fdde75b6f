//! A few threads that read, each with a connection of its own, so that a caller's thread never waits for the disk.

use crate::error::{Stop, other, spoils_connection};
use crate::file::File;
use abide_engine::port::StoreError;
use rusqlite::Connection;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// How many threads read at most.
const MOST: usize = 4;

type Job = Box<dyn FnOnce(&mut Reader) + Send>;

/// The threads; each starts when a job finds no idle one.
pub(crate) struct Readers {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    file: File,
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    running: usize,
    closed: bool,
    /// Connections that no thread has yet: the one that opening the store made.
    spare: Vec<Connection>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a reading thread owns.
struct Reader {
    file: File,
    connection: Option<Connection>,
}

impl Readers {
    pub(crate) fn new(file: File, first: Connection) -> Self {
        let state = Mutex::new(State { spare: vec![first], ..State::default() });
        let shared = Arc::new(Shared { file, state, woken: Condvar::new() });
        Self { shared, threads: Mutex::new(Vec::new()) }
    }

    /// Reads something in a transaction: all of it at one moment.
    pub(crate) async fn read<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, Stop> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        self.submit(Box::new(move |reader| {
            // Who asked may have stopped waiting.
            let _ = answer.send(reader.read(work));
        }))?;
        answered.await.map_err(|_| other(&self.shared.file.place, "the threads that read have ended"))?
    }

    fn submit(&self, job: Job) -> Result<(), StoreError> {
        let mut state = self.shared.state();
        state.jobs.push_back(job);
        if state.jobs.len() <= state.idle || state.running == MOST {
            self.shared.woken.notify_one();
            return Ok(());
        }
        let shared = self.shared.clone();
        let connection = state.spare.pop();
        let started = std::thread::Builder::new().name("log-reader".to_owned()).spawn(move || {
            let file = shared.file.clone();
            shared.until_closed(Reader { file, connection });
        });
        match started {
            Ok(handle) => {
                state.running += 1;
                self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
                Ok(())
            }
            Err(_) if state.running > 0 => {
                self.shared.woken.notify_one(); // or a busy one takes it later
                Ok(())
            }
            Err(reason) => {
                state.jobs.pop_back();
                Err(other(&self.shared.file.place, format!("cannot start a thread: {reason}")))
            }
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.closed = true;
        state.jobs.clear();
        state.spare.clear();
        drop(state);
        self.shared.woken.notify_all();
        for handle in self.threads.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = handle.join();
        }
    }
}

impl Shared {
    fn until_closed(&self, mut reader: Reader) {
        let mut state = self.state();
        while !state.closed {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job(&mut reader);
                state = self.state();
            } else {
                state.idle += 1;
                state = self.woken.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }
}

impl Reader {
    fn read<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, Stop>) -> Result<T, StoreError> {
        let result = self.connection().map_err(Stop::from).and_then(|connection| {
            // Dropping the transaction ends it; there is nothing to keep.
            let _transaction = connection.unchecked_transaction()?;
            work(connection)
        });
        if let Err(Stop::Failed(error)) = &result
            && spoils_connection(error)
        {
            self.connection = None;
        }
        result.map_err(|stop| stop.of_read(&self.file.place))
    }

    fn connection(&mut self) -> Result<&Connection, rusqlite::Error> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.file.reader()?,
        };
        Ok(self.connection.insert(connection))
    }
}
