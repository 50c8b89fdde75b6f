//! The keys of a server, for every process that shares the database.

use crate::PgStore;
use abide_engine::keys::{ApiKey, Scope};
use abide_engine::port::{Keys, KeysError, Later, MOST_KEYS};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

const COLUMNS: &str = "id, name, scopes, digest, created_at, created_by, revoked_at";

/// Keeps two from adding the last key at once.
const LOCK: i64 = 0x6162_646b;

fn failed(error: impl std::error::Error) -> KeysError {
    KeysError::Unreachable(error.to_string())
}

fn key(row: &PgRow) -> Result<ApiKey, sqlx::Error> {
    let scopes: String = row.try_get("scopes")?;
    let digest: Vec<u8> = row.try_get("digest")?;
    Ok(ApiKey {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        // A scope that this version does not know allows nothing here.
        scopes: scopes.split(' ').filter_map(Scope::parse).collect(),
        digest: digest
            .try_into()
            .map_err(|_| sqlx::Error::Protocol("a digest of another length".to_owned()))?,
        created_at: row.try_get("created_at")?,
        created_by: row.try_get("created_by")?,
        revoked_at: row.try_get("revoked_at")?,
    })
}

async fn add(connection: &mut PgConnection, key: &ApiKey) -> Result<Option<u64>, sqlx::Error> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *connection).await?;
    let there = sqlx::query("SELECT count(*) AS there FROM api_keys WHERE revoked_at IS NULL");
    let there: i64 = there.fetch_one(&mut *connection).await?.try_get("there")?;
    let there = u64::try_from(there).unwrap_or(0);
    if there >= MOST_KEYS {
        return Ok(Some(there));
    }
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.word()).collect();
    let sql = "INSERT INTO api_keys (id, name, scopes, digest, created_at, created_by, revoked_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    sqlx::query(sql)
        .bind(&key.id)
        .bind(&key.name)
        .bind(scopes.join(" "))
        .bind(&key.digest[..])
        .bind(key.created_at)
        .bind(&key.created_by)
        .bind(key.revoked_at)
        .execute(connection)
        .await?;
    Ok(None)
}

impl Keys for PgStore {
    fn add(&self, key: ApiKey) -> Later<Result<(), KeysError>> {
        let pool = self.pool();
        Box::pin(async move {
            let mut transaction = pool.ready().await.map_err(failed)?.begin().await.map_err(failed)?;
            if let Some(there) = add(&mut transaction, &key).await.map_err(failed)? {
                return Err(KeysError::Full(there));
            }
            crate::audit::commit(transaction).await.map_err(failed)
        })
    }

    fn find(&self, id: &str) -> Later<Result<Option<ApiKey>, KeysError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            let sql = format!("SELECT {COLUMNS} FROM api_keys WHERE id = $1");
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id);
            let found = found.fetch_optional(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.as_ref().map(key).transpose().map_err(failed)
        })
    }

    fn list(&self, after: Option<&str>, most: usize) -> Later<Result<Vec<ApiKey>, KeysError>> {
        let (pool, after) = (self.pool(), after.map(str::to_owned));
        Box::pin(async move {
            let sql = format!(
                "SELECT {COLUMNS} FROM api_keys
                 WHERE $1::text IS NULL OR (created_at, id) > (SELECT created_at, id FROM api_keys WHERE id = $1)
                 ORDER BY created_at, id LIMIT $2"
            );
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(after);
            let found = found.bind(i64::try_from(most).unwrap_or(i64::MAX));
            let found = found.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.iter().map(key).collect::<Result<_, _>>().map_err(failed)
        })
    }

    fn revoke(&self, id: &str, at: i64) -> Later<Result<ApiKey, KeysError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            let sql = format!(
                "UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING {COLUMNS}"
            );
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(&id).bind(at);
            let found = found.fetch_optional(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            let found = found.as_ref().map(key).transpose().map_err(failed)?;
            found.ok_or(KeysError::Missing(id))
        })
    }
}
