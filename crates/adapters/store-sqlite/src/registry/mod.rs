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
mod questions;
mod recent;
mod sessions;
mod starts;

use crate::error::{Stop, of_read, of_write};
use crate::file::{File, Settings, make};
use crate::readers::{Idle, Readers};
use crate::writer::{Reach, Writer};
use abide_engine::port::{Later, StoreError};
use bells::Bells;
use recent::Recent;
use rusqlite::{Connection, TransactionBehavior};
use std::future::ready;
use std::path::Path;
use std::sync::Arc;
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
    questions::TABLE,
    // What is configured for the agent, as JSON.
    "
ALTER TABLE agent_capabilities ADD COLUMN configuration TEXT;
",
];

/// Keeps what a server needs beside the log in one SQLite file.
///
/// What is asked for while a commit is under way shares the next one, and reading waits for neither.
#[derive(Clone)]
pub struct SqliteRegistry(Arc<Parts>);

struct Parts {
    bells: Bells,
    readers: Arc<Readers<Recent>>,
    // Dropped last: it then tidies up the file.
    writer: Writer,
}

/// Why a change did not happen.
enum Undone<E> {
    /// It may not, and has written nothing.
    Refused(E),
    /// The database could not do it.
    Failed(rusqlite::Error),
}

impl<E> From<rusqlite::Error> for Undone<E> {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error)
    }
}

/// An error of a port that can say that what keeps things does not work.
trait Unreached: Send + 'static {
    fn unreached(why: String) -> Self;
}

impl SqliteRegistry {
    /// Opens the file, and makes it, with its folder, if it is not there.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // Whoever keeps a row says when that was.
        let file = File::at(path, Settings::new(|| 0))?;
        make(path)?;
        let failed = |error: rusqlite::Error| of_write(&file.place, &error);
        let mut connection = Connection::open(path).map_err(|error| of_read(&file.place, &error))?;
        if !prepare(&mut connection).map_err(failed)? {
            let reason = "it is another program's, or a newer abide has written it".to_owned();
            return Err(StoreError::Unreadable { place: file.place, reason });
        }
        file.set_up_writer(&connection).map_err(failed)?;
        let readers = Arc::new(Readers::new(file.clone(), None));
        let idle = Arc::clone(&readers) as Arc<dyn Idle>;
        let writer = Writer::new(file, Some(connection), idle, Arc::default());
        Ok(Self(Arc::new(Parts { bells: Bells::default(), readers, writer })))
    }

    /// Runs one statement that only looks, on the caller's thread.
    fn look<T: Send + 'static, E: Unreached>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
    ) -> Later<Result<T, E>> {
        self.look_beside(|connection, _| work(connection))
    }

    /// Looks for a row, first among those that were read lately.
    fn look_beside<T: Send + 'static, E: Unreached>(
        &self,
        work: impl FnOnce(&Connection, &mut Recent) -> Result<T, rusqlite::Error>,
    ) -> Later<Result<T, E>> {
        let looked = self.0.readers.look_beside(|connection, recent| Ok(work(connection, recent)?));
        Box::pin(ready(looked.map_err(|error| E::unreached(error.to_string()))))
    }

    /// Changes something in a transaction, which takes the note of this task about it along. The work looks before it writes: it may be done
    /// twice, and what is refused has written nothing.
    fn change<T: Send + 'static, E: Unreached>(
        &self,
        bytes: usize,
        mut work: impl FnMut(&Connection) -> Result<T, Undone<E>> + Send + 'static,
    ) -> Later<Result<T, E>> {
        let parts = Arc::clone(&self.0);
        Box::pin(async move {
            let note = abide_engine::audit::take();
            let taken = note.clone();
            let job = move |connection: &Connection| match work(connection) {
                Ok(value) => {
                    if let Some(note) = &taken {
                        audit::append(connection, note)?;
                    }
                    Ok(Ok(value))
                }
                Err(Undone::Refused(error)) => Ok(Err(error)),
                Err(Undone::Failed(error)) => Err(Stop::Failed(error)),
            };
            let done = parts.writer.change("", Reach::Log, bytes, job).await;
            let refused = match done {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(error)) => error,
                Err(error) => E::unreached(error.to_string()),
            };
            if let Some(note) = note {
                abide_engine::audit::put_back(note);
            }
            Err(refused)
        })
    }

    /// Changes something of a session, and wakes who waits in this process for news of it.
    fn change_session<T: Send + 'static, E: Unreached>(
        &self,
        session: &str,
        bytes: usize,
        work: impl FnMut(&Connection) -> Result<T, Undone<E>> + Send + 'static,
    ) -> Later<Result<T, E>> {
        let (parts, session) = (Arc::clone(&self.0), session.to_owned());
        let changing = self.change(bytes, work);
        Box::pin(async move {
            let changed = changing.await;
            parts.bells.ring(&session);
            changed
        })
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
    Ok(ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_engine::capability::Choice;
    use abide_engine::port::Agents as _;

    #[tokio::test]
    async fn agents_of_a_file_that_knew_no_configuration_have_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.db");
        let known = MIGRATIONS.iter().position(|sql| sql.contains("ADD COLUMN configuration")).unwrap();
        let old = Connection::open(&path).unwrap();
        for migration in &MIGRATIONS[..known] {
            old.execute_batch(migration).unwrap();
        }
        old.pragma_update(None, "application_id", APPLICATION).unwrap();
        old.pragma_update(None, "user_version", known).unwrap();
        old.execute_batch(
            "INSERT INTO agents VALUES ('1', 'a', NULL, 'p', NULL, 'active', 1, 1, 1);
             INSERT INTO agent_capabilities (agent_id, capability_id, position, created_at) VALUES ('1', 'b', 0, 1), ('1', 'a', 1, 1);",
        )
        .unwrap();
        drop(old);
        let registry = SqliteRegistry::open(&path).unwrap();
        let found = registry.find("1").await.unwrap().unwrap();
        assert_eq!(found.capabilities, [Choice::of("b"), Choice::of("a")]);
    }
}
