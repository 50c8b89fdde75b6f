//! The files of sessions, in a table of the database.

use crate::PgStore;
use crate::events::{signed, unsigned};
use abide_core::capability::FilePath;
use abide_core::event::Timestamp;
use abide_engine::port::{
    Condition, Ends, FileInfo, FilesError, Later, NewFile, Quota, SessionFiles, SessionId, Transfer, Written,
};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, PgExecutor, Row as _};

/// Why something was not done.
enum Problem {
    Files(FilesError),
    Database(sqlx::Error),
}

impl From<FilesError> for Problem {
    fn from(error: FilesError) -> Self {
        Self::Files(error)
    }
}

impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<Problem> for FilesError {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Files(error) => error,
            Problem::Database(error) => unreachable_files(error),
        }
    }
}

fn unreachable_files(error: impl std::error::Error) -> FilesError {
    FilesError::Unreachable(error.to_string())
}

const COLUMNS: &str = "path, bytes IS NULL, readonly, size, created_at, updated_at";

fn info(row: &PgRow) -> Result<FileInfo, Problem> {
    let path: String = row.try_get(0)?;
    let path = FilePath::parse(&path).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(FileInfo {
        path,
        is_directory: row.try_get(1)?,
        is_readonly: row.try_get(2)?,
        size_bytes: unsigned(row.try_get(3)?),
        created_at: Timestamp(row.try_get(4)?),
        updated_at: Timestamp(row.try_get(5)?),
    })
}

async fn find<'a>(
    executor: impl PgExecutor<'a>,
    session: &SessionId,
    path: &FilePath,
) -> Result<Option<FileInfo>, Problem> {
    if path.is_root() {
        return Ok(Some(FileInfo::root()));
    }
    let sql = format!("SELECT {COLUMNS} FROM session_files WHERE session = $1 AND path = $2");
    let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session.as_str()).bind(path.as_str());
    found.fetch_optional(executor).await?.as_ref().map(info).transpose()
}

/// Holds the files of a session until the transaction ends: a quota counts all of them.
async fn hold(connection: &mut PgConnection, session: &SessionId) -> Result<(), Problem> {
    let held = sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 1))").bind(session.as_str());
    held.execute(connection).await?;
    Ok(())
}

async fn insert(
    connection: &mut PgConnection,
    session: &SessionId,
    path: &FilePath,
    (bytes, readonly, now): (Option<&[u8]>, bool, i64),
) -> Result<(), Problem> {
    let sql =
        "INSERT INTO session_files (session, path, folder, size, readonly, created_at, updated_at, bytes)
               VALUES ($1, $2, $3, $4, $5, $6, $6, $7)
               ON CONFLICT (session, path) DO UPDATE SET
                   size = excluded.size, readonly = excluded.readonly, updated_at = excluded.updated_at,
                   bytes = excluded.bytes";
    let folder = path.parent().unwrap_or_else(FilePath::root);
    sqlx::query(sql)
        .bind(session.as_str())
        .bind(path.as_str())
        .bind(folder.as_str())
        .bind(signed(bytes.map_or(0, |bytes| bytes.len() as u64)))
        .bind(readonly)
        .bind(now)
        .bind(bytes)
        .execute(connection)
        .await?;
    Ok(())
}

async fn write(
    connection: &mut PgConnection,
    session: &SessionId,
    file: &NewFile,
    (quota, condition): (Quota, Condition),
    now: i64,
) -> Result<Written, Problem> {
    if file.path.is_root() {
        return Err(FilesError::Root.into());
    }
    hold(&mut *connection, session).await?;
    let before = find(&mut *connection, session, &file.path).await?;
    match &before {
        Some(found) if found.is_directory => return Err(FilesError::IsDirectory(file.path.clone()).into()),
        Some(found) if found.is_readonly => return Err(FilesError::Readonly(file.path.clone()).into()),
        _ => {}
    }
    condition.holds(&file.path, before.as_ref())?;
    let now = before.as_ref().map_or(now, |found| now.max(found.updated_at.0 + 1));
    let mut new_folders = Vec::new();
    for above in file.path.ancestors() {
        match find(&mut *connection, session, &above).await? {
            None => new_folders.push(above),
            Some(found) if !found.is_directory => return Err(FilesError::NotDirectory(above).into()),
            Some(_) => {}
        }
    }
    let (total, entries) = extent(&mut *connection, session).await?;
    let used = total - before.as_ref().map_or(0, |found| found.size_bytes);
    let more = new_folders.len() as u64 + u64::from(before.is_none());
    quota.holds(file.bytes.len() as u64, used, entries + more)?;
    for path in &new_folders {
        insert(&mut *connection, session, path, (None, false, now)).await?;
    }
    insert(connection, session, &file.path, (Some(&file.bytes), file.readonly, now)).await?;
    Ok(if before.is_some() { Written::Replaced } else { Written::Created })
}

/// Returns how many bytes the files of a session have, and how many files and folders there are.
async fn extent(connection: &mut PgConnection, session: &SessionId) -> Result<(u64, u64), Problem> {
    let sql = "SELECT coalesce(sum(size), 0)::bigint, count(*) FROM session_files WHERE session = $1";
    let all = sqlx::query(sql).bind(session.as_str()).fetch_one(connection).await?;
    Ok((unsigned(all.try_get(0)?), unsigned(all.try_get(1)?)))
}

/// Moves or copies a file, or a folder with all that is in it.
async fn transfer(
    connection: &mut PgConnection,
    session: &SessionId,
    asked: &Transfer,
    quota: Quota,
    now: i64,
) -> Result<u64, Problem> {
    hold(&mut *connection, session).await?;
    let sql = format!(
        "SELECT {COLUMNS} FROM session_files WHERE session = $1 AND (path = $2 OR path > $3 AND path < $4) ORDER BY path"
    );
    let moved = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session.as_str()).bind(asked.from.as_str());
    let moved = moved.bind(format!("{}/", asked.from)).bind(format!("{}0", asked.from));
    let moved = moved.fetch_all(&mut *connection).await?;
    let moved: Vec<FileInfo> = moved.iter().map(info).collect::<Result<_, _>>()?;
    let there = find(&mut *connection, session, &asked.to).await?;
    let mut above = Vec::new();
    for path in asked.to.ancestors() {
        let found = find(&mut *connection, session, &path).await?;
        above.push((path, found));
    }
    let (used, entries) = extent(&mut *connection, session).await?;
    let ends = Ends { moved: &moved, there: there.as_ref(), above: &above, used, entries };
    let steps = asked.steps(&ends, quota)?;
    for path in &steps.folders {
        insert(&mut *connection, session, path, (None, false, now)).await?;
    }
    let sql = if asked.keep {
        "INSERT INTO session_files (session, path, folder, size, readonly, created_at, updated_at, bytes)
         SELECT session, $3, $4, size, false, $5, $5, bytes FROM session_files WHERE session = $1 AND path = $2"
    } else {
        "UPDATE session_files SET path = $3, folder = $4, updated_at = greatest(updated_at, $5) WHERE session = $1 AND path = $2"
    };
    for (old, new) in &steps.paths {
        let folder = new.parent().unwrap_or_else(FilePath::root);
        let done = sqlx::query(sql).bind(session.as_str()).bind(old.as_str()).bind(new.as_str());
        done.bind(folder.as_str()).bind(now).execute(&mut *connection).await?;
    }
    Ok(steps.paths.len() as u64)
}

async fn delete(
    connection: &mut PgConnection,
    session: &SessionId,
    path: &FilePath,
    (recursive, condition): (bool, Condition),
) -> Result<u64, Problem> {
    if path.is_root() {
        return Err(FilesError::Root.into());
    }
    hold(&mut *connection, session).await?;
    let Some(found) = find(&mut *connection, session, path).await? else {
        return Err(FilesError::Missing(path.clone()).into());
    };
    condition.holds(path, Some(&found))?;
    // Everything below `/d` sorts between `/d/` and `/d0`, the byte after the slash.
    let (from, to) = (format!("{path}/"), format!("{path}0"));
    let those = "FROM session_files WHERE session = $1 AND (path = $2 OR path > $3 AND path < $4)";
    let sql = format!("SELECT count(*), min(CASE WHEN readonly THEN path END) {those}");
    let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session.as_str()).bind(path.as_str());
    let found = found.bind(&from).bind(&to).fetch_one(&mut *connection).await?;
    let (count, readonly): (i64, Option<String>) = (found.try_get(0)?, found.try_get(1)?);
    if count > 1 && !recursive {
        return Err(FilesError::NotEmpty(path.clone()).into());
    }
    if let Some(readonly) = readonly {
        let readonly = FilePath::parse(&readonly).unwrap_or_else(|_| path.clone());
        return Err(FilesError::Readonly(readonly).into());
    }
    let gone = sqlx::query(sqlx::AssertSqlSafe(format!("DELETE {those}"))).bind(session.as_str());
    let gone = gone.bind(path.as_str()).bind(&from).bind(&to).execute(connection).await?;
    Ok(gone.rows_affected())
}

impl SessionFiles for PgStore {
    fn read(&self, session: &SessionId, path: &FilePath) -> Later<Result<Vec<u8>, FilesError>> {
        let (pool, session, path) = (self.pool(), session.clone(), path.clone());
        Box::pin(async move {
            let pool = pool.ready().await.map_err(unreachable_files)?;
            if path.is_root() {
                return Err(FilesError::IsDirectory(path));
            }
            let sql = "SELECT bytes FROM session_files WHERE session = $1 AND path = $2";
            let found =
                sqlx::query(sql).bind(session.as_str()).bind(path.as_str()).fetch_optional(pool).await;
            let Some(found) = found.map_err(unreachable_files)? else {
                return Err(FilesError::Missing(path));
            };
            let bytes: Option<Vec<u8>> = found.try_get(0).map_err(unreachable_files)?;
            bytes.ok_or(FilesError::IsDirectory(path))
        })
    }

    fn write_when(
        &self,
        session: &SessionId,
        file: NewFile,
        quota: Quota,
        condition: Condition,
    ) -> Later<Result<Written, FilesError>> {
        let (pool, session, now) = (self.pool(), session.clone(), self.now());
        Box::pin(async move {
            let pool = pool.ready().await.map_err(unreachable_files)?;
            let mut transaction = pool.begin().await.map_err(unreachable_files)?;
            let written = write(&mut transaction, &session, &file, (quota, condition), now).await?;
            transaction.commit().await.map_err(unreachable_files)?;
            Ok(written)
        })
    }

    fn transfer(&self, session: &SessionId, asked: Transfer, quota: Quota) -> Later<Result<u64, FilesError>> {
        let (pool, session, now) = (self.pool(), session.clone(), self.now());
        Box::pin(async move {
            let pool = pool.ready().await.map_err(unreachable_files)?;
            let mut transaction = pool.begin().await.map_err(unreachable_files)?;
            let transferred = transfer(&mut transaction, &session, &asked, quota, now).await?;
            transaction.commit().await.map_err(unreachable_files)?;
            Ok(transferred)
        })
    }

    fn list(&self, session: &SessionId, path: &FilePath) -> Later<Result<Vec<FileInfo>, FilesError>> {
        let (pool, session, path) = (self.pool(), session.clone(), path.clone());
        Box::pin(async move {
            let pool = pool.ready().await.map_err(unreachable_files)?;
            match find(pool, &session, &path).await? {
                None => return Err(FilesError::Missing(path)),
                Some(found) if !found.is_directory => return Err(FilesError::NotDirectory(path)),
                Some(_) => {}
            }
            let sql = format!(
                "SELECT {COLUMNS} FROM session_files WHERE session = $1 AND folder = $2 ORDER BY path"
            );
            let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session.as_str()).bind(path.as_str());
            let rows = rows.fetch_all(pool).await.map_err(unreachable_files)?;
            rows.iter().map(info).collect::<Result<_, _>>().map_err(FilesError::from)
        })
    }

    fn files(&self, session: &SessionId) -> Later<Result<Vec<FileInfo>, FilesError>> {
        let (pool, session) = (self.pool(), session.clone());
        Box::pin(async move {
            let pool = pool.ready().await.map_err(unreachable_files)?;
            let sql = format!(
                "SELECT {COLUMNS} FROM session_files WHERE session = $1 AND bytes IS NOT NULL ORDER BY path"
            );
            let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session.as_str());
            let rows = rows.fetch_all(pool).await.map_err(unreachable_files)?;
            rows.iter().map(info).collect::<Result<_, _>>().map_err(FilesError::from)
        })
    }

    fn stat(&self, session: &SessionId, path: &FilePath) -> Later<Result<Option<FileInfo>, FilesError>> {
        let (pool, session, path) = (self.pool(), session.clone(), path.clone());
        Box::pin(async move {
            let pool = pool.ready().await.map_err(unreachable_files)?;
            Ok(find(pool, &session, &path).await?)
        })
    }

    fn delete_when(
        &self,
        session: &SessionId,
        path: &FilePath,
        recursive: bool,
        condition: Condition,
    ) -> Later<Result<u64, FilesError>> {
        let (pool, session, path) = (self.pool(), session.clone(), path.clone());
        Box::pin(async move {
            let pool = pool.ready().await.map_err(unreachable_files)?;
            let mut transaction = pool.begin().await.map_err(unreachable_files)?;
            let gone = delete(&mut transaction, &session, &path, (recursive, condition)).await?;
            transaction.commit().await.map_err(unreachable_files)?;
            Ok(gone)
        })
    }

    fn forget(&self, session: &SessionId) -> Later<Result<(), FilesError>> {
        let (pool, session) = (self.pool(), session.clone());
        Box::pin(async move {
            let pool = pool.ready().await.map_err(unreachable_files)?;
            let gone = sqlx::query("DELETE FROM session_files WHERE session = $1").bind(session.as_str());
            gone.execute(pool).await.map(drop).map_err(unreachable_files)
        })
    }
}
