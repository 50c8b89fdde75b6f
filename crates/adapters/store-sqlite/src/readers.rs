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

/// The connections that nobody is reading with.
pub(crate) struct Readers {
    file: File,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(crate) fn new(file: File, first: Connection) -> Self {
        Self { file, idle: Mutex::new(vec![first]) }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads something in a transaction: all of it at one moment.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Stop>) -> Result<T, StoreError> {
        self.look(|connection| in_transaction(connection, work))
    }

    /// Reads something with one statement, which is a moment of its own.
    pub(crate) fn look<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Stop>) -> Result<T, StoreError> {
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.file.reader().map_err(|error| of_read(&self.file.place, &error))?,
        };
        let result = work(&connection);
        let spoiled = matches!(&result, Err(Stop::Failed(error)) if spoils_connection(error));
        // One that is still in a transaction would see that moment for ever.
        if !spoiled && connection.is_autocommit() {
            let mut idle = self.idle();
            if idle.len() < KEPT {
                idle.push(connection);
            }
        }
        result.map_err(|stop| stop.of_read(&self.file.place))
    }
}

impl Readers {
    /// Closes the connections that nobody is reading with.
    ///
    /// SQLite shares what it knows about the file between all connections of a process: a disk that was read-only
    /// stays so until the last of them is closed.
    pub(crate) fn close_idle(&self) {
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
