//! Which runs servers have started, for every process that shares the database.

use crate::PgStore;
use abide_engine::port::{Later, NewStart, Noted, OpenStart, REMEMBERED, Starts, StartsError};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

fn failed(error: impl std::error::Error) -> StartsError {
    StartsError(error.to_string())
}

async fn note(connection: &mut PgConnection, start: &NewStart) -> Result<Noted, sqlx::Error> {
    sqlx::query("DELETE FROM starts WHERE is_over AND at < $1")
        .bind(start.at.saturating_sub(REMEMBERED))
        .execute(&mut *connection)
        .await?;
    // Whoever comes second waits here until the first is through, and then writes nothing.
    let sql = "INSERT INTO starts (run, owner, once, digest, at) VALUES ($1, $2, $3, $4, $5)
               ON CONFLICT (owner, once) DO NOTHING";
    let written = sqlx::query(sql)
        .bind(&start.run)
        .bind(&start.owner)
        .bind(&start.once)
        .bind(&start.digest)
        .bind(start.at)
        .execute(&mut *connection)
        .await?;
    if written.rows_affected() == 1 {
        return Ok(Noted::New);
    }
    let sql = "SELECT run, digest FROM starts WHERE owner = $1 AND once = $2";
    let row = sqlx::query(sql).bind(&start.owner).bind(&start.once).fetch_one(connection).await?;
    Ok(Noted::Known { run: row.try_get("run")?, digest: row.try_get("digest")? })
}

impl Starts for PgStore {
    fn note(&self, start: NewStart) -> Later<Result<Noted, StartsError>> {
        let pool = self.pool();
        Box::pin(async move {
            let mut transaction = pool.ready().await.map_err(failed)?.begin().await.map_err(failed)?;
            let noted = note(&mut transaction, &start).await.map_err(failed)?;
            transaction.commit().await.map_err(failed)?;
            Ok(noted)
        })
    }

    fn open(&self, after: Option<&OpenStart>, most: usize) -> Later<Result<Vec<OpenStart>, StartsError>> {
        let (pool, after) = (self.pool(), after.cloned());
        Box::pin(async move {
            let sql = "SELECT run, at FROM starts
                       WHERE NOT is_over
                         AND (at, run) > (coalesce($2::bigint, -9223372036854775808), coalesce($3, '') COLLATE \"C\")
                       ORDER BY at, run LIMIT $1";
            let found = sqlx::query(sql)
                .bind(i64::try_from(most).unwrap_or(i64::MAX))
                .bind(after.as_ref().map(|after| after.at))
                .bind(after.as_ref().map(|after| after.run.as_str()))
                .fetch_all(pool.ready().await.map_err(failed)?)
                .await
                .map_err(failed)?;
            let start = |row: &PgRow| Ok(OpenStart { run: row.try_get("run")?, at: row.try_get("at")? });
            found.iter().map(start).collect::<Result<_, sqlx::Error>>().map_err(failed)
        })
    }

    fn over(&self, run: &str) -> Later<Result<(), StartsError>> {
        let (pool, run) = (self.pool(), run.to_owned());
        Box::pin(async move {
            let over = sqlx::query("UPDATE starts SET is_over = true WHERE run = $1").bind(run);
            over.execute(pool.ready().await.map_err(failed)?).await.map(drop).map_err(failed)
        })
    }
}
