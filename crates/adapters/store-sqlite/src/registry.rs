//! What a server keeps beside the log, in a SQLite file of its own: its keys.
//!
//! It is not in the log's file: hooks and `abide status` open that one, and need nothing of this.

use crate::error::{of_read, of_write};
use abide_engine::keys::{ApiKey, Scope};
use abide_engine::port::{Keys, KeysError, Later, MOST_KEYS, StoreError};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Marks a file as ours (`abdr`).
const APPLICATION: i32 = 0x6162_6472;

/// Each migration makes the next version. One that has been released is never changed.
const MIGRATIONS: &[&str] = &["
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
"];

/// Keeps what a server needs beside the log in one SQLite file.
#[derive(Clone)]
pub struct SqliteRegistry {
    connection: Arc<Mutex<Connection>>,
}

impl SqliteRegistry {
    /// Opens the file, and makes it, with its folder, if it is not there.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let place = path.display().to_string();
        let failed = |reason: std::io::Error| StoreError::Unwritable {
            place: place.clone(),
            reason: reason.to_string(),
        };
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        }
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Err(reason) if reason.kind() != std::io::ErrorKind::AlreadyExists => return Err(failed(reason)),
            _ => {}
        }
        let mut connection = Connection::open(path).map_err(|error| of_read(&place, &error))?;
        if prepare(&mut connection).map_err(|error| of_write(&place, &error))? {
            return Ok(Self { connection: Arc::new(Mutex::new(connection)) });
        }
        let reason = "it is another program's, or a newer abide has written it".to_owned();
        Err(StoreError::Unreadable { place, reason })
    }

    /// Runs one transaction on the caller's thread: it is a few rows.
    fn within<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        // A transaction that is not committed is undone when it is dropped, so that a panic leaves nothing half done.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(behavior)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
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

/// Why something was not done.
enum Problem {
    Keys(KeysError),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn later<T: Send + 'static>(done: Result<T, Problem>) -> Later<Result<T, KeysError>> {
    let done = done.map_err(|problem| match problem {
        Problem::Keys(error) => error,
        Problem::Sqlite(error) => KeysError::Unreachable(error.to_string()),
    });
    Box::pin(std::future::ready(done))
}

const COLUMNS: &str = "id, name, scopes, digest, created_at, created_by, revoked_at";

fn key(row: &Row<'_>) -> Result<ApiKey, rusqlite::Error> {
    let scopes: String = row.get(2)?;
    Ok(ApiKey {
        id: row.get(0)?,
        name: row.get(1)?,
        // A scope that this version does not know allows nothing here.
        scopes: scopes.split(' ').filter_map(Scope::parse).collect(),
        digest: row.get(3)?,
        created_at: row.get(4)?,
        created_by: row.get(5)?,
        revoked_at: row.get(6)?,
    })
}

fn find(transaction: &Transaction<'_>, id: &str) -> Result<Option<ApiKey>, rusqlite::Error> {
    let sql = format!("SELECT {COLUMNS} FROM api_keys WHERE id = ?1");
    transaction.prepare_cached(&sql)?.query_row([id], key).optional()
}

impl Keys for SqliteRegistry {
    fn add(&self, key: ApiKey) -> Later<Result<(), KeysError>> {
        later(self.within(TransactionBehavior::Immediate, |transaction| {
            let sql = "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL";
            let there: u64 = transaction.query_row(sql, (), |row| row.get(0))?;
            if there >= MOST_KEYS {
                return Err(Problem::Keys(KeysError::Full(there)));
            }
            let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.word()).collect();
            transaction.execute(
                &format!("INSERT INTO api_keys ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"),
                params![
                    key.id,
                    key.name,
                    scopes.join(" "),
                    key.digest,
                    key.created_at,
                    key.created_by,
                    key.revoked_at
                ],
            )?;
            Ok(())
        }))
    }

    fn find(&self, id: &str) -> Later<Result<Option<ApiKey>, KeysError>> {
        later(self.within(TransactionBehavior::Deferred, |transaction| Ok(find(transaction, id)?)))
    }

    fn list(&self, after: Option<&str>, most: usize) -> Later<Result<Vec<ApiKey>, KeysError>> {
        later(self.within(TransactionBehavior::Deferred, |transaction| {
            let sql = format!(
                "SELECT {COLUMNS} FROM api_keys
                 WHERE ?1 IS NULL OR (created_at, id) > (SELECT created_at, id FROM api_keys WHERE id = ?1)
                 ORDER BY created_at, id LIMIT ?2"
            );
            let mut found = transaction.prepare_cached(&sql)?;
            let rows = found.query_map(params![after, most], key)?;
            Ok(rows.collect::<Result<_, _>>()?)
        }))
    }

    fn revoke(&self, id: &str, at: i64) -> Later<Result<ApiKey, KeysError>> {
        later(self.within(TransactionBehavior::Immediate, |transaction| {
            let sql = "UPDATE api_keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
            transaction.execute(sql, params![id, at])?;
            find(transaction, id)?.ok_or_else(|| Problem::Keys(KeysError::Missing(id.to_owned())))
        }))
    }
}
