//! Connections that read, kept for the next reading.
//!
//! A reading runs where it was asked for and not on a thread of its own: it takes some microseconds, and waking
//! another thread takes longer, on a busy machine by a thousand times. What could take long is read in pieces by
//! the caller, with [`pause`] in between.

use crate::error::{Stop, of_read, spoils_connection};
use crate::file::File;
use abide_engine::port::StoreError;
use rusqlite::Connection;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// How many connections are kept at most.
const KEPT: usize = 4;

/// The connections that nobody is reading with, each with what whoever read with it keeps beside it.
pub(crate) struct Readers<K = ()> {
    file: File,
    idle: Mutex<Vec<(Connection, K)>>,
}

/// Something with connections to the file, as far as whoever writes knows it.
pub(crate) trait Idle: Send + Sync {
    /// Closes the connections that nobody is reading with.
    ///
    /// SQLite shares what it knows about the file between all connections of a process: a disk that was read-only
    /// stays so until the last of them is closed.
    fn close_idle(&self);
}

impl<K: Default> Readers<K> {
    /// Takes a connection that reads, if there is one already.
    pub(crate) fn new(file: File, first: Option<Connection>) -> Self {
        let idle = first.map(|first| (first, K::default()));
        Self { file, idle: Mutex::new(idle.into_iter().collect()) }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Connection, K)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads something in a transaction: all of it at one moment.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Stop>) -> Result<T, StoreError> {
        self.look(|connection| in_transaction(connection, work))
    }

    /// Reads something with one statement, which is a moment of its own.
    pub(crate) fn look<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Stop>) -> Result<T, StoreError> {
        self.look_beside(|connection, _| work(connection))
    }

    /// Reads something with one statement, or finds it in what is kept beside the connection.
    pub(crate) fn look_beside<T>(
        &self,
        work: impl FnOnce(&Connection, &mut K) -> Result<T, Stop>,
    ) -> Result<T, StoreError> {
        let idle = self.idle().pop();
        let (connection, mut kept) = match idle {
            Some(idle) => idle,
            None => (self.file.reader().map_err(|error| of_read(&self.file.place, &error))?, K::default()),
        };
        let result = work(&connection, &mut kept);
        let spoiled = matches!(&result, Err(Stop::Failed(error)) if spoils_connection(error));
        // One that is still in a transaction would see that moment for ever.
        if !spoiled && connection.is_autocommit() {
            let mut idle = self.idle();
            if idle.len() < KEPT {
                idle.push((connection, kept));
            }
        }
        result.map_err(|stop| stop.of_read(&self.file.place))
    }
}

impl<K: Default + Send> Idle for Readers<K> {
    fn close_idle(&self) {
        self.idle().clear();
    }
}

fn in_transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Stop>,
) -> Result<T, Stop> {
    connection.prepare_cached("BEGIN")?.execute(())?;
    let result = work(connection);
    // There is nothing to keep. Some errors have ended the transaction already.
    if !connection.is_autocommit() {
        connection.prepare_cached("ROLLBACK")?.execute(())?;
    }
    result
}

/// Lets other tasks of this thread come forward.
pub(crate) async fn pause() {
    let mut paused = false;
    poll_fn(|context| {
        if paused {
            return Poll::Ready(());
        }
        paused = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
