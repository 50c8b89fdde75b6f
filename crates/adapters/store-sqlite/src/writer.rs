//! Who writes, and how many changes share a commit.
//!
//! One thread does: while a commit waits for the disk, further changes queue up, and the next transaction takes all of
//! them. On a quick disk with nobody else writing, whoever asks commits right there instead: to hand a change to a thread and to
//! be woken by it takes longer than the commit does.
//!
//! A change that is refused has written nothing and does not disturb the others. When the transaction itself fails, each
//! change is tried alone, so that a change fails only for a reason of its own.

use crate::error::{Stop, is_busy, other, spoils_connection};
use crate::file::File;
use crate::readers::Idle;
use crate::watch::{Known, Watch};
use abide_engine::port::StoreError;
use rusqlite::{Connection, Error, FileControl};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// How many changes may queue before callers wait in line.
const QUEUE: usize = 256;
/// How many changes, and how many bytes of them, share a transaction at most.
const MOST_CHANGES: usize = 1024;
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// How long a commit may take, and how large a change may be, for a task to wait for it in place: what else it has to do waits
/// as long.
const QUICK: Duration = Duration::from_micros(500);
const SMALL: usize = 64 * 1024;
/// After how many commits in a row that took longer the disk counts as slow. One says little: on a machine that has other things
/// to do, any commit waits for its turn now and then.
const SLOW: u32 = 3;

/// What a change is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The log: it is on the disk when it is answered, and wakes who follows the stream.
    Log,
    /// What is kept beside it: a power cut may undo the last of it, a crash of the process may not.
    Beside,
}

/// Something to be done in a transaction, and who waits for it.
struct Change<T, W> {
    stream: String,
    reach: Reach,
    /// About how many bytes it writes.
    bytes: usize,
    /// How often others had changed something when it was asked for, and how long the stream is after it, if it says so.
    looks: u64,
    length: fn(&T) -> Option<u64>,
    /// What is done; it may be done twice if the first transaction fails, and refuses before it writes.
    work: W,
    outcome: Option<Result<T, StoreError>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

/// A [`Change`] of any kind.
trait Job: Send {
    fn durable(&self) -> bool;
    fn bytes(&self) -> usize;
    fn run(&mut self, connection: &Connection) -> Result<(), Stop>;
    /// Answers after the commit, or with why there was none.
    fn settle(self: Box<Self>, failure: Option<StoreError>, watch: &Watch);
}

impl<T: Send, W: FnMut(&Connection) -> Result<T, Stop> + Send> Job for Change<T, W> {
    fn durable(&self) -> bool {
        self.reach == Reach::Log
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn run(&mut self, connection: &Connection) -> Result<(), Stop> {
        self.outcome = match (self.work)(connection) {
            Ok(done) => Some(Ok(done)),
            Err(Stop::Refused(error)) => Some(Err(error)),
            Err(stop) => return Err(stop),
        };
        Ok(())
    }

    fn settle(self: Box<Self>, failure: Option<StoreError>, watch: &Watch) {
        let Change { stream, reach, looks, length, outcome, answer, .. } = *self;
        let outcome = match failure {
            Some(error) => Err(error),
            None => outcome.unwrap_or_else(|| Err(other(&stream, "the change was not tried"))),
        };
        // Before the answer: whoever asked may follow the stream again at once, and knows of this change.
        if let (Reach::Log, Ok(done)) = (reach, &outcome) {
            watch.wake(&stream, length(done).map(|length| Known { length, looks }));
        }
        // Who asked may have stopped waiting; the change stands all the same.
        let _ = answer.send(outcome);
    }
}

/// The way to what writes. The thread starts with the first change that is not made in place.
pub(crate) struct Writer {
    place: String,
    readers: Arc<dyn Idle>,
    watch: Arc<Watch>,
    work: Arc<Mutex<Work>>,
    thread: Mutex<Option<Thread>>,
}

struct Thread {
    queue: mpsc::Sender<Box<dyn Job>>,
    handle: JoinHandle<()>,
}

impl Writer {
    /// Takes a connection that has just made the file, if there is one: then the first change need not open another.
    pub(crate) fn new(
        file: File,
        connection: Option<Connection>,
        readers: Arc<dyn Idle>,
        watch: Arc<Watch>,
    ) -> Self {
        let place = file.place.clone();
        let work = Work {
            file,
            readers: Arc::clone(&readers),
            watch: Arc::clone(&watch),
            // Whoever has just made the file has waited for its disk in place.
            slow: if connection.is_some() { 0 } else { SLOW },
            connection,
            durable: true,
        };
        Self { place, readers, watch, work: Arc::new(Mutex::new(work)), thread: Mutex::new(None) }
    }

    /// Does something in a transaction and returns what came of it once it is committed.
    pub(crate) async fn change<T, W>(
        &self,
        stream: &str,
        reach: Reach,
        bytes: usize,
        work: W,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, Stop> + Send + 'static,
    {
        self.change_to(stream, reach, bytes, |_| None, work).await
    }

    /// Does the same, where what comes of it says how long the stream is now.
    pub(crate) async fn change_to<T, W>(
        &self,
        stream: &str,
        reach: Reach,
        bytes: usize,
        length: fn(&T) -> Option<u64>,
        work: W,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, Stop> + Send + 'static,
    {
        let (answer, mut answered) = oneshot::channel();
        let looks = self.watch.looks();
        let stream = stream.to_owned();
        let change = Change { stream, reach, bytes, looks, length, work, outcome: None, answer };
        let ended = || other(&self.place, "the thread that writes has ended");
        let mut batch: Vec<Box<dyn Job>> = vec![Box::new(change)];
        if bytes <= SMALL
            && let Some(mut work) = self.quick()
            && work.commit_at_once(&mut batch)
        {
            drop(work);
            return answered.try_recv().map_err(|_| ended())?;
        }
        let queue = self.queue()?;
        for change in batch {
            queue.send(change).await.map_err(|_| ended())?;
        }
        drop(queue);
        answered.await.map_err(|_| ended())?
    }

    /// Returns what writes, if nobody does and the disk is quick.
    fn quick(&self) -> Option<MutexGuard<'_, Work>> {
        let work = match self.work.try_lock() {
            Ok(work) => work,
            // Whoever panicked has left no connection, and so nothing half done.
            Err(TryLockError::Poisoned(work)) => work.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        (work.slow < SLOW && work.connection.is_some()).then_some(work)
    }

    fn queue(&self) -> Result<mpsc::Sender<Box<dyn Job>>, StoreError> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = &*thread {
            return Ok(thread.queue.clone());
        }
        let (queue, jobs) = mpsc::channel(QUEUE);
        let work = Arc::clone(&self.work);
        let handle = std::thread::Builder::new()
            .name("log-writer".to_owned())
            .spawn(move || until_closed(&work, jobs))
            .map_err(|reason| other(&self.place, format!("cannot start a thread: {reason}")))?;
        *thread = Some(Thread { queue: queue.clone(), handle });
        Ok(queue)
    }
}

impl Drop for Writer {
    /// Waits until everything that was asked for is done; closing then moves the write-ahead log into the main
    /// file, which makes the next opening cheap.
    fn drop(&mut self) {
        // Only the last connection to close tidies up.
        self.readers.close_idle();
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Thread { queue, handle }) = thread {
            drop(queue);
            let _ = handle.join();
        }
    }
}

/// What whoever writes has in hand.
struct Work {
    file: File,
    readers: Arc<dyn Idle>,
    watch: Arc<Watch>,
    connection: Option<Connection>,
    /// What the connection is set to.
    durable: bool,
    /// How many commits in a row that the disk was waited for took long.
    slow: u32,
}

/// Does what comes in, until nobody can ask any more.
fn until_closed(work: &Mutex<Work>, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
    while let Some(job) = jobs.blocking_recv() {
        let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = job.bytes();
        let mut batch = vec![job];
        while batch.len() < MOST_CHANGES
            && bytes < MOST_BYTES
            && let Ok(job) = jobs.try_recv()
        {
            bytes += job.bytes();
            batch.push(job);
        }
        work.commit_all(batch);
    }
}

impl Work {
    /// Commits without waiting for other processes; `false` if that would have to be done, and nothing is.
    fn commit_at_once(&mut self, batch: &mut Vec<Box<dyn Job>>) -> bool {
        let result = self.commit(batch, File::begin_at_once);
        if matches!(&result, Err(Stop::Failed(error)) if is_busy(error)) {
            return false;
        }
        self.settle(std::mem::take(batch), result);
        true
    }

    fn commit_all(&mut self, mut batch: Vec<Box<dyn Job>>) {
        let result = self.commit(&mut batch, File::begin);
        self.settle(batch, result);
    }

    /// Answers those who asked; what failed together is tried apart.
    fn settle(&mut self, mut batch: Vec<Box<dyn Job>>, result: Result<(), Stop>) {
        match result {
            Ok(()) => batch.into_iter().for_each(|job| job.settle(None, &self.watch)),
            Err(_) if batch.len() > 1 => batch.into_iter().for_each(|job| self.commit_all(vec![job])),
            Err(stop) => {
                if self.connection.is_none() {
                    self.readers.close_idle();
                    self.watch.reopen();
                }
                let error = stop.of_write(&self.file.place);
                if let Some(job) = batch.pop() {
                    job.settle(Some(error), &self.watch);
                }
            }
        }
    }

    /// Does the jobs in one transaction; an error means that nothing of it is there.
    fn commit(
        &mut self,
        batch: &mut [Box<dyn Job>],
        begin: fn(&File, &Connection) -> Result<(), Error>,
    ) -> Result<(), Stop> {
        let durable = batch.iter().any(|job| job.durable());
        let connection = self.connect(durable)?;
        let from = now();
        let result = begin(&self.file, &connection).map_err(Stop::from).and_then(|()| {
            batch.iter_mut().try_for_each(|job| job.run(&connection))?;
            Ok(connection.prepare_cached("COMMIT")?.execute(()).map(drop)?)
        });
        // Some errors have ended the transaction already; if it cannot be undone, closing undoes it.
        let undone = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
        let spoiled = matches!(&result, Err(Stop::Failed(error)) if spoils_connection(error));
        if undone && !spoiled {
            self.connection = Some(connection);
        }
        if durable {
            let is_quick = result.is_ok() && from.elapsed() <= QUICK;
            self.slow = if is_quick { 0 } else { self.slow.saturating_add(1) };
        }
        result
    }

    /// Returns the connection, opened and set for a transaction.
    fn connect(&mut self, durable: bool) -> Result<Connection, Stop> {
        let connection = match self.connection.take() {
            Some(connection) if !has_moved(&connection)? => connection,
            _ => {
                self.durable = true;
                self.file.writer()?
            }
        };
        if durable != self.durable {
            // A commit that syncs also syncs all commits before it that did not.
            connection.pragma_update(None, "synchronous", if durable { "full" } else { "normal" })?;
            self.durable = durable;
        }
        Ok(connection)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long the disk took decides who waits for it, and nothing else"
)]
fn now() -> Instant {
    Instant::now()
}

/// Returns whether the file has been moved or removed: what is written to it then would be lost.
fn has_moved(connection: &Connection) -> Result<bool, Error> {
    let mut moved = 0;
    connection.file_control(None::<&str>, FileControl::HasMoved(&mut moved))?;
    Ok(moved != 0)
}
