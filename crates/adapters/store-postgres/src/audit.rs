//! What was changed, by whom, for every process that shares the database: rows that no statement changes.

use crate::PgStore;
use abide_engine::audit::{put_back, take};
use abide_engine::port::{Audit, AuditError, End, Later, NewNote, Stored};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Postgres, Row as _, Transaction};

/// Lets notes come one after the other.
const LOCK: i64 = 0x6162_6175;

pub(crate) const TABLE: &str = r"
CREATE TABLE audit (
    seq       bigint PRIMARY KEY,
    at        bigint NOT NULL,
    kind      text   NOT NULL,
    data      bytea  NOT NULL,
    prev_hash text   NOT NULL,
    hash      text   NOT NULL
);
CREATE FUNCTION audit_only_grows() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
    RAISE EXCEPTION 'the audit only grows';
END $f$;
CREATE TRIGGER audit_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_only_grows();
";

fn failed(error: impl std::error::Error) -> AuditError {
    AuditError(error.to_string())
}

async fn append(connection: &mut PgConnection, note: &NewNote) -> Result<u64, sqlx::Error> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *connection).await?;
    let last = sqlx::query("SELECT seq, hash, at FROM audit ORDER BY seq DESC LIMIT 1");
    let end = match last.fetch_optional(&mut *connection).await? {
        None => None,
        Some(row) => Some(End { seq: position(&row)?, hash: row.try_get("hash")?, at: row.try_get("at")? }),
    };
    let stored = note.chained(end.as_ref());
    let sql = "INSERT INTO audit (seq, at, kind, data, prev_hash, hash) VALUES ($1, $2, $3, $4, $5, $6)";
    sqlx::query(sql)
        .bind(i64::try_from(stored.seq).unwrap_or(i64::MAX))
        .bind(stored.at)
        .bind(&stored.kind)
        .bind(stored.data.as_bytes())
        .bind(&stored.previous)
        .bind(&stored.hash)
        .execute(&mut *connection)
        .await?;
    Ok(stored.seq)
}

fn position(row: &PgRow) -> Result<u64, sqlx::Error> {
    let seq: i64 = row.try_get("seq")?;
    Ok(u64::try_from(seq).unwrap_or(0))
}

fn stored(row: &PgRow) -> Result<Stored, sqlx::Error> {
    let data: Vec<u8> = row.try_get("data")?;
    Ok(Stored {
        seq: position(row)?,
        at: row.try_get("at")?,
        kind: row.try_get("kind")?,
        data: String::from_utf8_lossy(&data).into_owned(),
        previous: row.try_get("prev_hash")?,
        hash: row.try_get("hash")?,
    })
}

/// Commits a change, with the note of this task if it has one.
pub(crate) async fn commit(mut transaction: Transaction<'_, Postgres>) -> Result<(), sqlx::Error> {
    let Some(note) = take() else { return transaction.commit().await };
    let done = match append(&mut transaction, &note).await {
        Ok(_) => transaction.commit().await,
        Err(error) => Err(error),
    };
    if done.is_err() {
        put_back(note);
    }
    done
}

impl Audit for PgStore {
    fn note(&self, note: NewNote) -> Later<Result<u64, AuditError>> {
        let pool = self.pool();
        Box::pin(async move {
            let mut transaction = pool.ready().await.map_err(failed)?.begin().await.map_err(failed)?;
            let seq = append(&mut transaction, &note).await.map_err(failed)?;
            transaction.commit().await.map_err(failed)?;
            Ok(seq)
        })
    }

    fn list(&self, after: u64, most: usize) -> Later<Result<Vec<Stored>, AuditError>> {
        let pool = self.pool();
        Box::pin(async move {
            let sql =
                "SELECT seq, at, kind, data, prev_hash, hash FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2";
            let found = sqlx::query(sql)
                .bind(i64::try_from(after).unwrap_or(i64::MAX))
                .bind(i64::try_from(most).unwrap_or(i64::MAX))
                .fetch_all(pool.ready().await.map_err(failed)?)
                .await
                .map_err(failed)?;
            found.iter().map(stored).collect::<Result<_, _>>().map_err(failed)
        })
    }
}
