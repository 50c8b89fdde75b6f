//! A log in a temporary folder.

use abide_engine::port::{NewEvent, Store, StoreError, link};
use abide_store_sqlite::{Settings, SqliteStore};
use abide_testkit::ManualClock;
use abide_testkit::store::{Subject, Tampering};
use rusqlite::Connection;
use std::path::PathBuf;

pub(crate) struct SqliteSubject {
    folder: tempfile::TempDir,
    clock: ManualClock,
}

#[allow(dead_code, reason = "each test file uses what it needs")]
impl SqliteSubject {
    pub(crate) fn new(clock: ManualClock) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), clock }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("state/abide.db")
    }

    pub(crate) fn settings(&self) -> Settings {
        let clock = self.clock.clone();
        Settings::new(move || clock.now())
    }

    pub(crate) fn try_open(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(&self.path(), self.settings())
    }

    /// Opens the file without the store.
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

impl Subject for SqliteSubject {
    type Store = SqliteStore;

    fn open(&self) -> SqliteStore {
        self.try_open().unwrap()
    }

    fn tamper(&self, tampering: &Tampering<'_>) {
        let connection = self.connect();
        let changed = match *tampering {
            Tampering::Edit { stream, seq, data } => connection
                .execute("UPDATE events SET data = ?3 WHERE stream = ?1 AND seq = ?2", (stream, seq, data)),
            Tampering::Rewrite { stream, seq, data } => {
                let (at, kind, previous): (i64, String, String) = connection
                    .query_row(
                        "SELECT at, kind, prev_hash FROM events WHERE stream = ?1 AND seq = ?2",
                        (stream, seq),
                        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
                    )
                    .unwrap();
                let hash = link(&previous, stream, seq, at, &kind, data);
                connection.execute(
                    "UPDATE events SET data = ?3, hash = ?4 WHERE stream = ?1 AND seq = ?2",
                    (stream, seq, data, hash),
                )
            }
            Tampering::Remove { stream, seq } => {
                connection.execute("DELETE FROM events WHERE stream = ?1 AND seq = ?2", (stream, seq))
            }
            Tampering::Add { stream, seq } => connection.execute(
                "INSERT INTO events (stream, seq, at, kind, data, prev_hash, hash)
                 SELECT stream, ?2, at, kind, data, prev_hash, hash FROM events
                 WHERE stream = ?1 ORDER BY seq DESC LIMIT 1",
                (stream, seq),
            ),
        };
        assert_eq!(changed.unwrap(), 1);
    }
}

#[allow(dead_code, reason = "each test file uses what it needs")]
pub(crate) async fn append(
    store: &impl Store,
    stream: &str,
    expected: u64,
    data: &str,
) -> Result<u64, StoreError> {
    let event = NewEvent { kind: "test".to_owned(), data: data.to_owned() };
    let appended = store.append(stream, expected, None, vec![event], "{}".to_owned()).await?;
    Ok(appended.seq)
}
