//! The keys of a server.

use super::{SqliteRegistry, Undone, Unreached};
use abide_engine::keys::{ApiKey, Scope};
use abide_engine::port::{Keys, KeysError, Later, MOST_KEYS};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

impl Unreached for KeysError {
    fn unreached(why: String) -> Self {
        Self::Unreachable(why)
    }
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

fn find(connection: &Connection, id: &str) -> Result<Option<ApiKey>, rusqlite::Error> {
    let sql = format!("SELECT {COLUMNS} FROM api_keys WHERE id = ?1");
    connection.prepare_cached(&sql)?.query_row([id], key).optional()
}

impl Keys for SqliteRegistry {
    fn add(&self, key: ApiKey) -> Later<Result<(), KeysError>> {
        self.change(0, move |connection| {
            let sql = "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL";
            let there: u64 = connection.query_row(sql, (), |row| row.get(0))?;
            if there >= MOST_KEYS {
                return Err(Undone::Refused(KeysError::Full(there)));
            }
            let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.word()).collect();
            connection.execute(
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
        })
    }

    fn find(&self, id: &str) -> Later<Result<Option<ApiKey>, KeysError>> {
        self.look_beside(|connection, recent| {
            let bytes = |key: &ApiKey| key.name.len() + key.created_by.len() + size_of::<ApiKey>();
            recent.current(connection)?.keys().find(id, bytes, || find(connection, id))
        })
    }

    fn list(&self, after: Option<&str>, most: usize) -> Later<Result<Vec<ApiKey>, KeysError>> {
        self.look(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM api_keys
                 WHERE ?1 IS NULL OR (created_at, id) > (SELECT created_at, id FROM api_keys WHERE id = ?1)
                 ORDER BY created_at, id LIMIT ?2"
            );
            let mut found = connection.prepare_cached(&sql)?;
            let rows = found.query_map(params![after, most], key)?;
            rows.collect()
        })
    }

    fn revoke(&self, id: &str, at: i64) -> Later<Result<ApiKey, KeysError>> {
        let id = id.to_owned();
        self.change(0, move |connection| {
            let sql = "UPDATE api_keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
            connection.execute(sql, params![id, at])?;
            find(connection, &id)?.ok_or_else(|| Undone::Refused(KeysError::Missing(id.clone())))
        })
    }
}
