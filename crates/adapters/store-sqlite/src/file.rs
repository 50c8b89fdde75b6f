//! The file: made for its owner's eyes only, and opened as a reader or as the writer.

use crate::error::{self, is_busy, of_read, of_write};
use crate::schema::{self, Version};
use abide_engine::port::StoreError;
use rusqlite::{Connection, Error, FileControl, OpenFlags};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Tells the time in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// What a store is told when it is opened.
#[derive(Clone)]
pub struct Settings {
    /// Where the times of events come from.
    pub clock: Clock,
    /// How long a change waits for other processes that are writing; five seconds unless told.
    pub patience: Duration,
    /// How large the file may become, in bytes; a change that would need more fails as on a full disk.
    pub largest: Option<u64>,
}

impl Settings {
    /// Returns the usual settings with a clock.
    pub fn new(clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), patience: Duration::from_secs(5), largest: None }
    }
}

/// How many bytes of the write-ahead log are kept on the disk once they are in the main file.
const LOG_KEPT: u64 = 16 * 1024 * 1024;
const PAGE: u64 = 4096;

/// Where the log is and how it is opened.
#[derive(Clone)]
pub(crate) struct File {
    path: PathBuf,
    /// The path as errors name it.
    pub(crate) place: String,
    pub(crate) settings: Settings,
}

impl File {
    /// Names a file; an absolute path is no URI, and stays the same when the process changes its folder.
    pub(crate) fn at(path: &Path, settings: Settings) -> Result<Self, StoreError> {
        let path = std::path::absolute(path).map_err(|reason| StoreError::Unwritable {
            place: path.display().to_string(),
            reason: reason.to_string(),
        })?;
        Ok(Self { place: path.display().to_string(), path, settings })
    }

    pub(crate) fn exists(&self) -> Result<bool, StoreError> {
        self.path.try_exists().map_err(|reason| error::unreadable(&self.place, reason))
    }

    /// Makes the folder and an empty file, unless they are there.
    pub(crate) fn create(&self) -> Result<(), StoreError> {
        make(&self.path)
    }

    /// Opens a connection that reads, bringing the file to the present version if it is not; returns the one that wrote then, too.
    pub(crate) fn open(&self) -> Result<(Connection, Option<Connection>), StoreError> {
        // Twice: while another process moves its write-ahead log into the file, the file grows.
        if self.is_cut_off() && self.is_cut_off() {
            return Err(error::damaged(&self.place, "its end is missing"));
        }
        let reader = self.reader().map_err(|error| of_read(&self.place, &error))?;
        // At one moment: another process may be making the file just now.
        let transaction = reader.unchecked_transaction().map_err(|error| of_read(&self.place, &error))?;
        let version = schema::version(&reader, &self.place)?;
        drop(transaction);
        match version {
            Version::Present => Ok((reader, None)),
            Version::Older(_) => {
                drop(reader);
                let writer = self.migrate()?;
                let reader = self.reader().map_err(|error| of_read(&self.place, &error))?;
                Ok((reader, Some(writer)))
            }
        }
    }

    /// Tells whether the file has fewer pages than it says, which SQLite notices only once it reads what is missing.
    ///
    /// Whatever cannot be read here is left to SQLite to tell. Pages may still be in the write-ahead log.
    fn is_cut_off(&self) -> bool {
        let mut header = [0; 100];
        let Ok(mut file) = std::fs::File::open(&self.path) else { return false };
        let Ok(length) = file.metadata().map(|metadata| metadata.len()) else { return false };
        if file.read_exact(&mut header).is_err() || !header.starts_with(b"SQLite format 3\0") {
            return false;
        }
        let number =
            |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        // The number of pages counts only if it was written with the last change.
        let counts = number(24) == number(92);
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        let logged = Path::new(&log).metadata().is_ok_and(|metadata| metadata.len() > 0);
        counts && !logged && u64::from(number(28)) * PAGE > length
    }

    fn migrate(&self) -> Result<Connection, StoreError> {
        let mut writer = self.writer().map_err(|error| of_write(&self.place, &error))?;
        schema::migrate(&mut writer, &self.place, |connection| self.begin(connection))?;
        Ok(writer)
    }

    /// Opens a connection that only reads.
    pub(crate) fn reader(&self) -> Result<Connection, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(self.settings.patience)?;
        Ok(connection)
    }

    /// Opens the connection that writes.
    pub(crate) fn writer(&self) -> Result<Connection, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        self.set_up_writer(&connection)?;
        Ok(connection)
    }

    /// Sets a connection up to be the one that writes.
    pub(crate) fn set_up_writer(&self, connection: &Connection) -> Result<(), Error> {
        connection.busy_timeout(Duration::ZERO)?; // `patiently` waits in smaller steps
        connection.set_prepared_statement_cache_capacity(64);
        self.patiently(|| connection.pragma_update(None, "journal_mode", "wal"))?;
        connection.pragma_update(None, "synchronous", "full")?;
        // The next process need not make the -wal file, nor sync its folder for it.
        connection.file_control(None::<&str>, FileControl::PersistWal(&mut 1))?;
        connection.pragma_update(None, "journal_size_limit", LOG_KEPT)?;
        if let Some(largest) = self.settings.largest {
            connection.pragma_update(None, "max_page_count", largest / PAGE)?;
        }
        Ok(())
    }

    /// Begins a transaction that writes, waiting for other processes.
    pub(crate) fn begin(&self, connection: &Connection) -> Result<(), Error> {
        self.patiently(|| self.begin_at_once(connection))
    }

    /// Begins one if no other process is in the way.
    #[expect(clippy::unused_self, reason = "it stands for `begin`, which needs it")]
    pub(crate) fn begin_at_once(&self, connection: &Connection) -> Result<(), Error> {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute(()).map(drop)
    }

    /// Does something again while another process is in the way.
    ///
    /// SQLite's own waiting soon sleeps for 100 ms at a time, and would rarely catch a busy process between two
    /// commits.
    fn patiently<T>(&self, mut work: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
        let mut slept = Duration::ZERO;
        let mut pause = Duration::from_micros(50);
        loop {
            match work() {
                Err(error) if is_busy(&error) && slept < self.settings.patience => {
                    std::thread::sleep(pause);
                    slept += pause;
                    pause = (pause * 2).min(Duration::from_millis(2));
                }
                result => return result,
            }
        }
    }
}

/// Makes the folder and an empty file, unless they are there; both are for their owner's eyes only.
pub(crate) fn make(path: &Path) -> Result<(), StoreError> {
    let failed = |place: &Path, reason: std::io::Error| StoreError::Unwritable {
        place: place.display().to_string(),
        reason: reason.to_string(),
    };
    if let Some(folder) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|reason| failed(folder, reason))?;
    }
    // SQLite gives its -wal and -shm files the mode of the main file.
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(reason) if reason.kind() != ErrorKind::AlreadyExists => Err(failed(path, reason)),
        _ => Ok(()),
    }
}
