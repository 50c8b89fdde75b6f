//! Sessions that were made over the API, beside their agents.

use super::{SqliteRegistry, Unreached};
use abide_engine::port::{Later, SessionRow, Sessions, SessionsError};
use rusqlite::{OptionalExtension as _, Row, params};

impl Unreached for SessionsError {
    fn unreached(why: String) -> Self {
        Self(why)
    }
}

const COLUMNS: &str = "id, agent, title, owner, created_at, updated_at";

fn row(row: &Row<'_>) -> Result<SessionRow, rusqlite::Error> {
    Ok(SessionRow {
        id: row.get(0)?,
        agent: row.get(1)?,
        title: row.get(2)?,
        by: row.get(3)?,
        created_at: row.get(4)?,
        updated_at: row.get(5)?,
    })
}

impl Sessions for SqliteRegistry {
    fn add(&self, session: SessionRow) -> Later<Result<(), SessionsError>> {
        self.change(0, move |connection| {
            let sql = format!("INSERT INTO sessions ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
            let SessionRow { id, agent, title, by, created_at, updated_at } = &session;
            connection
                .prepare_cached(&sql)?
                .execute(params![id, agent, title, by, created_at, updated_at])?;
            Ok(())
        })
    }

    fn find(&self, id: &str) -> Later<Result<Option<SessionRow>, SessionsError>> {
        self.look(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1 AND NOT is_removed");
            connection.prepare_cached(&sql)?.query_row([id], row).optional()
        })
    }

    fn list(
        &self,
        after: Option<&str>,
        agent: Option<&str>,
        most: usize,
    ) -> Later<Result<Vec<SessionRow>, SessionsError>> {
        self.look(|connection| {
            let of_agent = if agent.is_some() { "agent = ?2" } else { "?2 IS NULL" };
            let sql = format!(
                "SELECT {COLUMNS} FROM sessions WHERE id > ?1 AND {of_agent} AND NOT is_removed ORDER BY id LIMIT ?3"
            );
            let mut found = connection.prepare_cached(&sql)?;
            found.query_map(params![after.unwrap_or(""), agent, most], row)?.collect()
        })
    }

    fn retitle(
        &self,
        id: &str,
        title: Option<String>,
        at: i64,
    ) -> Later<Result<Option<SessionRow>, SessionsError>> {
        let id = id.to_owned();
        self.change(0, move |connection| {
            let sql = format!(
                "UPDATE sessions SET title = ?2, updated_at = max(updated_at, ?3) WHERE id = ?1 AND NOT is_removed
                 RETURNING {COLUMNS}"
            );
            Ok(connection.prepare_cached(&sql)?.query_row(params![id, title, at], row).optional()?)
        })
    }

    fn remove(&self, id: &str) -> Later<Result<bool, SessionsError>> {
        let session = id.to_owned();
        self.change_session(id, 0, move |connection| {
            let sql = "UPDATE sessions SET is_removed = 1 WHERE id = ?1 AND NOT is_removed";
            Ok(connection.execute(sql, [&session])? == 1)
        })
    }

    fn removed(&self, most: usize) -> Later<Result<Vec<String>, SessionsError>> {
        self.look(|connection| {
            let sql = "SELECT id FROM sessions WHERE is_removed ORDER BY id LIMIT ?1";
            connection.prepare_cached(sql)?.query_map([most], |row| row.get(0))?.collect()
        })
    }

    fn forget(&self, id: &str) -> Later<Result<(), SessionsError>> {
        let id = id.to_owned();
        self.change(0, move |connection| {
            let gone = connection.execute("DELETE FROM sessions WHERE id = ?1 AND is_removed", [&id])?;
            if gone == 1 {
                connection.execute("DELETE FROM session_messages WHERE session = ?1", [&id])?;
            }
            Ok(())
        })
    }
}
