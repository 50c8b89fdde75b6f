//! Sessions that were made over the API, for every process that shares the database.

use crate::PgStore;
use crate::events::signed;
use abide_engine::port::{Later, SessionRow, Sessions, SessionsError};
use sqlx::Row as _;
use sqlx::postgres::PgRow;

fn failed(error: impl std::error::Error) -> SessionsError {
    SessionsError(error.to_string())
}

const COLUMNS: &str = "id, agent, title, owner, created_at, updated_at";

fn session(row: &PgRow) -> Result<SessionRow, sqlx::Error> {
    Ok(SessionRow {
        id: row.try_get(0)?,
        agent: row.try_get(1)?,
        title: row.try_get(2)?,
        by: row.try_get(3)?,
        created_at: row.try_get(4)?,
        updated_at: row.try_get(5)?,
    })
}

impl Sessions for PgStore {
    fn add(&self, session: SessionRow) -> Later<Result<(), SessionsError>> {
        let pool = self.pool();
        Box::pin(async move {
            let sql = format!("INSERT INTO sessions ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)");
            let added = sqlx::query(sqlx::AssertSqlSafe(sql))
                .bind(session.id)
                .bind(session.agent)
                .bind(session.title)
                .bind(session.by)
                .bind(session.created_at)
                .bind(session.updated_at);
            added.execute(pool.ready().await.map_err(failed)?).await.map(drop).map_err(failed)
        })
    }

    fn find(&self, id: &str) -> Later<Result<Option<SessionRow>, SessionsError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id = $1 AND NOT is_removed");
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id);
            let found = found.fetch_optional(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.as_ref().map(session).transpose().map_err(failed)
        })
    }

    fn list(
        &self,
        after: Option<&str>,
        agent: Option<&str>,
        most: usize,
    ) -> Later<Result<Vec<SessionRow>, SessionsError>> {
        let (pool, after) = (self.pool(), after.unwrap_or_default().to_owned());
        let agent = agent.map(str::to_owned);
        Box::pin(async move {
            let sql = format!(
                "SELECT {COLUMNS} FROM sessions WHERE id > $1 AND ($2::text IS NULL OR agent = $2) AND NOT is_removed ORDER BY id LIMIT $3"
            );
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(after).bind(agent);
            let found = found.bind(signed(most as u64));
            let found = found.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.iter().map(session).collect::<Result<_, _>>().map_err(failed)
        })
    }

    fn retitle(
        &self,
        id: &str,
        title: Option<String>,
        at: i64,
    ) -> Later<Result<Option<SessionRow>, SessionsError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            let sql = format!(
                "UPDATE sessions SET title = $2, updated_at = greatest(updated_at, $3) WHERE id = $1 AND NOT is_removed
                 RETURNING {COLUMNS}"
            );
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id).bind(title).bind(at);
            let found = found.fetch_optional(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.as_ref().map(session).transpose().map_err(failed)
        })
    }

    fn remove(&self, id: &str) -> Later<Result<bool, SessionsError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            let sql = "WITH gone AS (UPDATE sessions SET is_removed = true WHERE id = $1 AND NOT is_removed RETURNING id)
                       SELECT pg_notify($2, $3 || id) FROM gone";
            let gone = sqlx::query(sql).bind(id).bind(crate::listen::CHANNEL).bind(crate::listen::MESSAGES);
            let gone = gone.fetch_optional(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            Ok(gone.is_some())
        })
    }

    fn removed(&self, most: usize) -> Later<Result<Vec<String>, SessionsError>> {
        let pool = self.pool();
        Box::pin(async move {
            let found = sqlx::query("SELECT id FROM sessions WHERE is_removed ORDER BY id LIMIT $1");
            let found = found.bind(signed(most as u64));
            let found = found.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(failed)
        })
    }

    fn forget(&self, id: &str) -> Later<Result<(), SessionsError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            // Its messages go with it.
            let gone = sqlx::query("DELETE FROM sessions WHERE id = $1 AND is_removed").bind(id);
            gone.execute(pool.ready().await.map_err(failed)?).await.map(drop).map_err(failed)
        })
    }
}
