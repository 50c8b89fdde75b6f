//! What a server keeps beside the log, in a SQLite file of its own: its keys, the runs that it started, agents, sessions with
//! their messages, and what webhooks are to be told.
//!
//! It is not in the log's file: hooks and `abide status` open that one, and need nothing of this.

mod agents;
mod audit;
mod bells;
mod keys;
mod messages;
mod outbox;
mod sessions;
mod starts;

use crate::error::{of_read, of_write};
use crate::file::make;
use abide_engine::port::StoreError;
use bells::Bells;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Marks a file as ours (`abdr`).
const APPLICATION: i32 = 0x6162_6472;

/// Each migration makes the next version. One that has been released is never changed.
const MIGRATIONS: &[&str] = &[
    "
CREATE TABLE api_keys (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    scopes     TEXT NOT NULL,
    digest     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX api_keys_in_order ON api_keys (created_at, id);
",
    "
CREATE TABLE starts (
    run     TEXT NOT NULL PRIMARY KEY,
    owner   TEXT NOT NULL,
    once    TEXT,
    digest  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    is_over INTEGER NOT NULL DEFAULT 0,
    UNIQUE (owner, once)
) STRICT;
CREATE INDEX starts_open ON starts (at, run) WHERE NOT is_over;
",
    "
CREATE TABLE agents (
    id            TEXT NOT NULL PRIMARY KEY,
    name          TEXT NOT NULL,
    description   TEXT,
    system_prompt TEXT NOT NULL,
    model         TEXT,
    status        TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    version       INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE TABLE agent_capabilities (
    id            INTEGER PRIMARY KEY,
    agent_id      TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    capability_id TEXT NOT NULL,
    position      INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    UNIQUE (agent_id, capability_id)
) STRICT;
CREATE INDEX idx_agent_capabilities_agent_id ON agent_capabilities (agent_id);
CREATE INDEX idx_agent_capabilities_position ON agent_capabilities (agent_id, position);
",
    audit::TABLE,
    "
CREATE TABLE sessions (
    id         TEXT NOT NULL PRIMARY KEY,
    agent      TEXT NOT NULL,
    title      TEXT,
    owner      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    messages   INTEGER NOT NULL DEFAULT 0,
    is_removed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_agent ON sessions (agent, id);
CREATE INDEX sessions_removed ON sessions (id) WHERE is_removed;

CREATE TABLE session_messages (
    id           TEXT NOT NULL PRIMARY KEY,
    session      TEXT NOT NULL,
    number       INTEGER NOT NULL,
    text         TEXT NOT NULL,
    owner        TEXT NOT NULL,
    when_busy    TEXT NOT NULL,
    once         TEXT,
    cancelled_by TEXT,
    created_at   INTEGER NOT NULL,
    status       TEXT,
    answer       TEXT,
    error        TEXT,
    ended_at     INTEGER,
    UNIQUE (session, number),
    UNIQUE (session, owner, once)
) STRICT;
CREATE INDEX session_messages_open ON session_messages (session, number) WHERE status IS NULL;
",
    outbox::TABLE,
];

/// Keeps what a server needs beside the log in one SQLite file.
#[derive(Clone)]
pub struct SqliteRegistry {
    connection: Arc<Mutex<Connection>>,
    bells: Arc<Bells>,
}

impl SqliteRegistry {
    /// Opens the file, and makes it, with its folder, if it is not there.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let place = path.display().to_string();
        make(path)?;
        let mut connection = Connection::open(path).map_err(|error| of_read(&place, &error))?;
        if prepare(&mut connection).map_err(|error| of_write(&place, &error))? {
            return Ok(Self { connection: Arc::new(Mutex::new(connection)), bells: Arc::default() });
        }
        let reason = "it is another program's, or a newer abide has written it".to_owned();
        Err(StoreError::Unreadable { place, reason })
    }

    /// Runs one statement that only looks, on the caller's thread.
    fn look<T, E: From<rusqlite::Error>>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        work(&self.connection.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Wakes who waits for news of a session in this process.
    fn ring(&self, session: &str) {
        self.bells.ring(session);
    }

    /// Runs one transaction on the caller's thread: it is a few rows.
    fn within<T, E: From<rusqlite::Error>>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        // A transaction that is not committed is undone when it is dropped, so that a panic leaves nothing half done.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(behavior)?;
        let value = work(&transaction)?;
        // What is changed for a task takes the note about it along.
        let writes = matches!(behavior, TransactionBehavior::Immediate);
        let Some(note) = writes.then(abide_engine::audit::take).flatten() else {
            transaction.commit()?;
            return Ok(value);
        };
        match audit::append(&transaction, &note).and_then(|_| transaction.commit()) {
            Ok(()) => Ok(value),
            Err(error) => {
                abide_engine::audit::put_back(note);
                Err(error.into())
            }
        }
    }
}

/// Brings a file to the present version, and tells whether it is one of ours; another is left as it is.
fn prepare(connection: &mut Connection) -> Result<bool, rusqlite::Error> {
    connection.busy_timeout(Duration::from_secs(5))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let empty: bool =
        transaction.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", (), |row| row.get(0))?;
    let header = |name: &str| transaction.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let version = usize::try_from(header("user_version")?).unwrap_or(usize::MAX);
    let ours = empty || (header("application_id")? == APPLICATION && version <= MIGRATIONS.len());
    if ours && version < MIGRATIONS.len() {
        for migration in &MIGRATIONS[version..] {
            transaction.execute_batch(migration)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", MIGRATIONS.len())?;
    }
    transaction.commit()?;
    if ours {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
    }
    Ok(ours)
}
