//! The keys of a server.

use super::SqliteRegistry;
use abide_engine::keys::{ApiKey, Scope};
use abide_engine::port::{Keys, KeysError, Later, MOST_KEYS};
use rusqlite::{OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

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
