//! The store: each method of the port is one change for the writer, or one reading.

use crate::error::other;
use crate::events::{self, Append, Forgotten};
use crate::file::{File, Settings};
use crate::leases::{self, Taking};
use crate::outputs;
use crate::readers::{Readers, pause};
use crate::watch::{Poller, Watch};
use crate::writer::{Reach, Writer};
use abide_engine::port::{
    Appended, Extent, HeadPlace, Holder, Lease, NewEvent, OutputKey, Standing, Store, StoreError, Stored,
    StreamHead, Taken,
};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How much is read before other tasks of the thread come forward.
const EVENTS_AT_ONCE: u64 = 500;
const BYTES_AT_ONCE: u64 = 1024 * 1024;

/// The log in one SQLite file.
///
/// It needs no async runtime. Threads start when something is first written or waited for, so opening one to read a
/// little is cheap. Dropping it waits for what was asked for.
pub struct SqliteStore {
    // The poller is dropped first and the writer, which then tidies up the file, last.
    poller: Poller,
    readers: Arc<Readers>,
    writer: Writer,
    file: File,
}

impl SqliteStore {
    /// Opens the log in a file, and makes it, with the folder, if it is not there.
    pub fn open(path: &Path, settings: Settings) -> Result<Self, StoreError> {
        let file = File::at(path, settings)?;
        if !file.exists()? {
            file.create()?;
        }
        Self::of(file)
    }

    /// Opens the log in a file if there is one; nothing is made.
    pub fn find(path: &Path, settings: Settings) -> Result<Option<Self>, StoreError> {
        let file = File::at(path, settings)?;
        if file.exists()? { Self::of(file).map(Some) } else { Ok(None) }
    }

    fn of(file: File) -> Result<Self, StoreError> {
        let (first, writer) = file.open()?;
        let watch = Arc::new(Watch::default());
        let readers = Arc::new(Readers::new(file.clone(), Some(first)));
        Ok(Self {
            poller: Poller::new(file.clone(), watch.clone()),
            writer: Writer::new(file.clone(), writer, readers.clone(), watch),
            readers,
            file,
        })
    }

    fn one_line(&self, what: &str, text: &str) -> Result<(), StoreError> {
        if text.contains('\n') {
            return Err(other(&self.file.place, format!("the {what} {text:?} must not have a line end")));
        }
        Ok(())
    }
}

impl Store for SqliteStore {
    async fn append(
        &self,
        stream: &str,
        expected: u64,
        lease: Option<&Lease>,
        events: Vec<NewEvent>,
        summary: String,
    ) -> Result<Appended, StoreError> {
        self.one_line("stream", stream)?;
        events.iter().try_for_each(|event| self.one_line("kind", &event.kind))?;
        let bytes = events.iter().map(|event| event.data.len()).sum::<usize>() + summary.len();
        let asked = Append { stream: stream.to_owned(), expected, lease: lease.cloned(), events, summary };
        let clock = self.file.settings.clock.clone();
        let length = |appended: &Appended| Some(appended.seq);
        let work = move |connection: &_| events::append(connection, clock(), &asked);
        self.writer.change_to(stream, Reach::Log, bytes, length, work).await
    }

    async fn read(&self, stream: &str, positions: Range<u64>) -> Result<Vec<Stored>, StoreError> {
        let mut events = Vec::new();
        let mut start = positions.start.max(1);
        loop {
            let end = positions.end.min(start.saturating_add(EVENTS_AT_ONCE));
            let some = self.readers.read(|connection| events::read(connection, stream, start..end))?;
            let read = some.len() as u64;
            events.extend(some);
            if read < EVENTS_AT_ONCE {
                return Ok(events);
            }
            start += read;
            pause().await;
        }
    }

    async fn head(&self, stream: &str) -> Result<Option<StreamHead>, StoreError> {
        self.readers.read(|connection| events::head(connection, stream))
    }

    async fn heads(&self, after: Option<&HeadPlace>, most: usize) -> Result<Vec<StreamHead>, StoreError> {
        self.readers.read(|connection| events::heads(connection, after, most))
    }

    async fn extent(&self) -> Result<Extent, StoreError> {
        self.readers.read(events::extent)
    }

    async fn forget(&self, stream: &str) -> Result<(), StoreError> {
        loop {
            let name = stream.to_owned();
            let work = move |connection: &_| events::forget(connection, &name);
            if self.writer.change(stream, Reach::Log, 0, work).await? == Forgotten::Wholly {
                return Ok(());
            }
        }
    }

    async fn save_snapshot(&self, stream: &str, seq: u64, data: String) -> Result<(), StoreError> {
        let (name, length) = (stream.to_owned(), data.len());
        let work = move |connection: &_| events::save_snapshot(connection, &name, seq, &data);
        self.writer.change(stream, Reach::Beside, length, work).await
    }

    async fn snapshot(&self, stream: &str) -> Result<Option<(u64, String)>, StoreError> {
        self.readers.read(|connection| events::snapshot(connection, stream))
    }

    async fn write_output(&self, key: &OutputKey, bytes: Vec<u8>) -> Result<(), StoreError> {
        let owned = key.clone();
        let length = bytes.len();
        let work = move |connection: &_| outputs::write(connection, &owned, &bytes);
        self.writer.change(&key.stream, Reach::Beside, length, work).await
    }

    async fn read_output(&self, key: &OutputKey, range: Range<u64>) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        let mut start = range.start;
        loop {
            let end = range.end.min(start.saturating_add(BYTES_AT_ONCE));
            let place = &self.file.place;
            let some = self.readers.read(|connection| outputs::read(connection, place, key, start..end))?;
            let read = some.len() as u64;
            bytes.extend(some);
            if read < BYTES_AT_ONCE {
                return Ok(bytes);
            }
            start += read;
            pause().await;
        }
    }

    async fn lease(
        &self,
        stream: &str,
        holder: &Holder,
        now: i64,
        until: i64,
        is_dead: &(dyn Fn(&Holder) -> bool + Send + Sync),
    ) -> Result<Lease, StoreError> {
        let mut dead = None;
        loop {
            let asked = Taking { stream: stream.to_owned(), holder: holder.clone(), now, until, dead };
            let work = move |connection: &_| leases::take(connection, &asked);
            // Not synced: what a power cut undoes, it has also ended the holder of.
            match self.writer.change(stream, Reach::Beside, 0, work).await? {
                Taken::Yes(lease) => return Ok(lease),
                Taken::HeldBy(lease) if is_dead(&lease.holder) => dead = Some(lease),
                Taken::HeldBy(lease) => {
                    return Err(StoreError::Held { stream: stream.to_owned(), holder: lease.holder.name });
                }
            }
        }
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let given = lease.clone();
        let work = move |connection: &_| leases::release(connection, &given);
        self.writer.change(&lease.stream, Reach::Beside, 0, work).await
    }

    async fn standings(&self, streams: &[String]) -> Result<Vec<Standing>, StoreError> {
        self.readers.read(|connection| leases::standings(connection, streams))
    }

    async fn changed(&self, stream: &str, seq: u64) -> Result<(), StoreError> {
        loop {
            let (woken, known) = self.poller.wait(stream)?;
            // Whoever has appended the last event and follows the stream need not ask for it.
            if known != Some(seq) {
                let length = self.readers.look(|connection| events::length(connection, stream))?;
                // A stream that is gone has been forgotten: whoever follows it should look.
                if length.unwrap_or(0) > seq || (length.is_none() && seq > 0) {
                    return Ok(());
                }
            }
            let _ = woken.await;
        }
    }
}
