//! The files of sessions, in a SQLite file of their own.
//!
//! They are not in the log's file: what agents write is large and is thrown away with the session, and the log is
//! neither.

use crate::error::{of_read, of_write};
use crate::file::{Clock, make};
use abide_core::capability::FilePath;
use abide_core::event::Timestamp;
use abide_engine::port::{
    Condition, Ends, FileInfo, FilesError, Later, NewFile, Quota, SessionFiles, SessionId, StoreError,
    Transfer, Written,
};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Marks a file as ours (`abdf`).
const APPLICATION: i32 = 0x6162_6466;
const VERSION: i32 = 1;

/// `folder` is the path of the folder that an entry is in, so that a list is one range of an index; the bytes of a path
/// sort like the core sorts paths. The root has no row.
const SCHEMA: &str = "
CREATE TABLE session_files (
    session    TEXT NOT NULL,
    path       TEXT NOT NULL,
    folder     TEXT NOT NULL,
    size       INTEGER NOT NULL,
    readonly   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    bytes      BLOB,
    PRIMARY KEY (session, path)
) STRICT;
CREATE INDEX session_files_by_folder ON session_files (session, folder, path);
";

/// Keeps the files of sessions in one SQLite file.
pub struct SqliteSessionFiles {
    connection: Mutex<Connection>,
    clock: Clock,
}

impl SqliteSessionFiles {
    /// Opens the file, and makes it, with its folder, if it is not there.
    pub fn open(path: &Path, clock: Clock) -> Result<Self, StoreError> {
        let place = path.display().to_string();
        make(path)?;
        let mut connection = Connection::open(path).map_err(|error| of_read(&place, &error))?;
        if prepare(&mut connection).map_err(|error| of_write(&place, &error))? {
            return Ok(Self { connection: Mutex::new(connection), clock });
        }
        let reason = "it is not a file of sessions that this abide knows".to_owned();
        Err(StoreError::Unreadable { place, reason })
    }

    // A transaction that is not committed is undone when it is dropped, so that a panic leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one transaction on the caller's thread: it is a few rows of one session.
    fn within<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Problem>,
    ) -> Later<Result<T, FilesError>> {
        let mut connection = self.lock();
        let done =
            connection.transaction_with_behavior(behavior).map_err(Problem::from).and_then(|transaction| {
                let value = work(&transaction)?;
                transaction.commit()?;
                Ok(value)
            });
        let answer = done.map_err(|problem| match problem {
            Problem::Files(error) => error,
            Problem::Sqlite(error) => FilesError::Unreachable(error.to_string()),
        });
        Box::pin(std::future::ready(answer))
    }
}

/// Makes the table in a file that is new, and tells whether the file is one of ours; another is left as it is. A second
/// process may be doing the same.
fn prepare(connection: &mut Connection) -> Result<bool, rusqlite::Error> {
    connection.busy_timeout(Duration::from_secs(5))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let empty: bool =
        transaction.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", (), |row| row.get(0))?;
    if empty {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    let header = |name: &str| transaction.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let ours = header("application_id")? == APPLICATION && header("user_version")? == VERSION;
    transaction.commit()?;
    if ours {
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
    }
    Ok(ours)
}

enum Problem {
    Files(FilesError),
    Sqlite(rusqlite::Error),
}

impl From<FilesError> for Problem {
    fn from(error: FilesError) -> Self {
        Self::Files(error)
    }
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

const COLUMNS: &str = "path, bytes IS NULL, readonly, size, created_at, updated_at";

fn info(row: &Row<'_>) -> Result<FileInfo, rusqlite::Error> {
    let path: String = row.get(0)?;
    let path = FilePath::parse(&path).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })?;
    Ok(FileInfo {
        path,
        is_directory: row.get(1)?,
        is_readonly: row.get(2)?,
        size_bytes: row.get(3)?,
        created_at: Timestamp(row.get(4)?),
        updated_at: Timestamp(row.get(5)?),
    })
}

fn find(
    transaction: &Transaction<'_>,
    session: &SessionId,
    path: &FilePath,
) -> Result<Option<FileInfo>, Problem> {
    if path.is_root() {
        return Ok(Some(FileInfo::root()));
    }
    let sql = format!("SELECT {COLUMNS} FROM session_files WHERE session = ?1 AND path = ?2");
    Ok(transaction.prepare_cached(&sql)?.query_row((session.as_str(), path.as_str()), info).optional()?)
}

impl SessionFiles for SqliteSessionFiles {
    fn read(&self, session: &SessionId, path: &FilePath) -> Later<Result<Vec<u8>, FilesError>> {
        self.within(TransactionBehavior::Deferred, |transaction| {
            match find(transaction, session, path)? {
                None => return Err(FilesError::Missing(path.clone()).into()),
                Some(found) if found.is_directory => return Err(FilesError::IsDirectory(path.clone()).into()),
                Some(_) => {}
            }
            let sql = "SELECT bytes FROM session_files WHERE session = ?1 AND path = ?2";
            let place = (session.as_str(), path.as_str());
            Ok(transaction.prepare_cached(sql)?.query_row(place, |row| row.get(0))?)
        })
    }

    fn write_when(
        &self,
        session: &SessionId,
        file: NewFile,
        quota: Quota,
        condition: Condition,
    ) -> Later<Result<Written, FilesError>> {
        let now = (self.clock)();
        self.within(TransactionBehavior::Immediate, |transaction| {
            write(transaction, session, &file, (quota, condition), now)
        })
    }

    fn transfer(&self, session: &SessionId, asked: Transfer, quota: Quota) -> Later<Result<u64, FilesError>> {
        let now = (self.clock)();
        self.within(TransactionBehavior::Immediate, |transaction| {
            transfer(transaction, session, &asked, quota, now)
        })
    }

    fn list(&self, session: &SessionId, path: &FilePath) -> Later<Result<Vec<FileInfo>, FilesError>> {
        self.within(TransactionBehavior::Deferred, |transaction| {
            match find(transaction, session, path)? {
                None => return Err(FilesError::Missing(path.clone()).into()),
                Some(found) if !found.is_directory => {
                    return Err(FilesError::NotDirectory(path.clone()).into());
                }
                Some(_) => {}
            }
            let sql = format!(
                "SELECT {COLUMNS} FROM session_files WHERE session = ?1 AND folder = ?2 ORDER BY path"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let rows = statement.query_map((session.as_str(), path.as_str()), info)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn files(&self, session: &SessionId) -> Later<Result<Vec<FileInfo>, FilesError>> {
        self.within(TransactionBehavior::Deferred, |transaction| {
            let sql = format!(
                "SELECT {COLUMNS} FROM session_files WHERE session = ?1 AND bytes IS NOT NULL ORDER BY path"
            );
            let mut statement = transaction.prepare_cached(&sql)?;
            let rows = statement.query_map([session.as_str()], info)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn stat(&self, session: &SessionId, path: &FilePath) -> Later<Result<Option<FileInfo>, FilesError>> {
        self.within(TransactionBehavior::Deferred, |transaction| find(transaction, session, path))
    }

    fn delete_when(
        &self,
        session: &SessionId,
        path: &FilePath,
        recursive: bool,
        condition: Condition,
    ) -> Later<Result<u64, FilesError>> {
        self.within(TransactionBehavior::Immediate, |transaction| {
            delete(transaction, session, path, (recursive, condition))
        })
    }

    fn forget(&self, session: &SessionId) -> Later<Result<(), FilesError>> {
        self.within(TransactionBehavior::Immediate, |transaction| {
            transaction.execute("DELETE FROM session_files WHERE session = ?1", [session.as_str()])?;
            Ok(())
        })
    }
}

fn write(
    transaction: &Transaction<'_>,
    session: &SessionId,
    file: &NewFile,
    (quota, condition): (Quota, Condition),
    now: i64,
) -> Result<Written, Problem> {
    if file.path.is_root() {
        return Err(FilesError::Root.into());
    }
    let before = find(transaction, session, &file.path)?;
    match &before {
        Some(found) if found.is_directory => return Err(FilesError::IsDirectory(file.path.clone()).into()),
        Some(found) if found.is_readonly => return Err(FilesError::Readonly(file.path.clone()).into()),
        _ => {}
    }
    condition.holds(&file.path, before.as_ref())?;
    let now = before.as_ref().map_or(now, |found| now.max(found.updated_at.0 + 1));
    let mut new_folders = Vec::new();
    for above in file.path.ancestors() {
        match find(transaction, session, &above)? {
            None => new_folders.push(above),
            Some(found) if !found.is_directory => return Err(FilesError::NotDirectory(above).into()),
            Some(_) => {}
        }
    }
    let (total, entries) = extent(transaction, session)?;
    let used = total - before.as_ref().map_or(0, |found| found.size_bytes);
    let more = new_folders.len() as u64 + u64::from(before.is_none());
    quota.holds(file.bytes.len() as u64, used, entries + more)?;
    for path in &new_folders {
        insert(transaction, session, path, (None, false, now))?;
    }
    insert(transaction, session, &file.path, (Some(&file.bytes), file.readonly, now))?;
    Ok(if before.is_some() { Written::Replaced } else { Written::Created })
}

/// Returns how many bytes the files of a session have, and how many files and folders there are.
fn extent(transaction: &Transaction<'_>, session: &SessionId) -> Result<(u64, u64), Problem> {
    let sql = "SELECT coalesce(sum(size), 0), count(*) FROM session_files WHERE session = ?1";
    let mut found = transaction.prepare_cached(sql)?;
    Ok(found.query_row([session.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Writes a row; without bytes it is a folder.
fn insert(
    transaction: &Transaction<'_>,
    session: &SessionId,
    path: &FilePath,
    (bytes, readonly, now): (Option<&[u8]>, bool, i64),
) -> Result<(), Problem> {
    let sql =
        "INSERT INTO session_files (session, path, folder, size, readonly, created_at, updated_at, bytes)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)
               ON CONFLICT (session, path) DO UPDATE SET
                   size = excluded.size, readonly = excluded.readonly, updated_at = excluded.updated_at,
                   bytes = excluded.bytes";
    let folder = path.parent().unwrap_or_else(FilePath::root);
    let size = bytes.map_or(0, <[u8]>::len);
    let values = params![session.as_str(), path.as_str(), folder.as_str(), size, readonly, now, bytes];
    transaction.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Moves or copies a file, or a folder with all that is in it.
fn transfer(
    transaction: &Transaction<'_>,
    session: &SessionId,
    asked: &Transfer,
    quota: Quota,
    now: i64,
) -> Result<u64, Problem> {
    let sql = format!(
        "SELECT {COLUMNS} FROM session_files WHERE session = ?1 AND (path = ?2 OR path > ?3 AND path < ?4) ORDER BY path"
    );
    let (from, to) = (format!("{}/", asked.from), format!("{}0", asked.from));
    let moved: Vec<FileInfo> = transaction
        .prepare_cached(&sql)?
        .query_map((session.as_str(), asked.from.as_str(), &from, &to), info)?
        .collect::<Result<_, _>>()?;
    let there = find(transaction, session, &asked.to)?;
    let mut above = Vec::new();
    for path in asked.to.ancestors() {
        let found = find(transaction, session, &path)?;
        above.push((path, found));
    }
    let (used, entries) = extent(transaction, session)?;
    let ends = Ends { moved: &moved, there: there.as_ref(), above: &above, used, entries };
    let steps = asked.steps(&ends, quota)?;
    for path in &steps.folders {
        insert(transaction, session, path, (None, false, now))?;
    }
    let sql = if asked.keep {
        "INSERT INTO session_files (session, path, folder, size, readonly, created_at, updated_at, bytes)
         SELECT session, ?3, ?4, size, 0, ?5, ?5, bytes FROM session_files WHERE session = ?1 AND path = ?2"
    } else {
        "UPDATE session_files SET path = ?3, folder = ?4, updated_at = max(updated_at, ?5) WHERE session = ?1 AND path = ?2"
    };
    let mut transferred = transaction.prepare_cached(sql)?;
    for (old, new) in &steps.paths {
        let folder = new.parent().unwrap_or_else(FilePath::root);
        transferred.execute(params![session.as_str(), old.as_str(), new.as_str(), folder.as_str(), now])?;
    }
    Ok(steps.paths.len() as u64)
}

fn delete(
    transaction: &Transaction<'_>,
    session: &SessionId,
    path: &FilePath,
    (recursive, condition): (bool, Condition),
) -> Result<u64, Problem> {
    if path.is_root() {
        return Err(FilesError::Root.into());
    }
    let Some(found) = find(transaction, session, path)? else {
        return Err(FilesError::Missing(path.clone()).into());
    };
    condition.holds(path, Some(&found))?;
    // Everything below `/d` sorts between `/d/` and `/d0`, the byte after the slash.
    let (from, to) = (format!("{path}/"), format!("{path}0"));
    let those = "FROM session_files WHERE session = ?1 AND (path = ?2 OR path > ?3 AND path < ?4)";
    let which = (session.as_str(), path.as_str(), &from, &to);
    let sql = format!("SELECT count(*), min(CASE WHEN readonly THEN path END) {those}");
    let (count, readonly): (u64, Option<String>) =
        transaction.prepare_cached(&sql)?.query_row(which, |row| Ok((row.get(0)?, row.get(1)?)))?;
    if count > 1 && !recursive {
        return Err(FilesError::NotEmpty(path.clone()).into());
    }
    if let Some(readonly) = readonly {
        let readonly = FilePath::parse(&readonly).unwrap_or_else(|_| path.clone());
        return Err(FilesError::Readonly(readonly).into());
    }
    Ok(transaction.prepare_cached(&format!("DELETE {those}"))?.execute(which)? as u64)
}
