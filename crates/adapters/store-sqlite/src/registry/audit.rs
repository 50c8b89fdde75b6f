//! What was changed, by whom: rows that no statement changes.

use super::{SqliteRegistry, Unreached};
use abide_engine::port::{Audit, AuditError, End, Later, NewNote, Stored};
use rusqlite::{Connection, OptionalExtension as _, params};

pub(super) const TABLE: &str = "
CREATE TABLE audit (
    seq       INTEGER PRIMARY KEY,
    at        INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    data      TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash      TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit only grows'); END;
CREATE TRIGGER audit_is_never_removed BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit only grows'); END;
";

/// Writes a note within a transaction; returns its position.
pub(super) fn append(connection: &Connection, note: &NewNote) -> Result<u64, rusqlite::Error> {
    let end = connection
        .prepare_cached("SELECT seq, hash, at FROM audit ORDER BY seq DESC LIMIT 1")?
        .query_row((), |row| Ok(End { seq: row.get(0)?, hash: row.get(1)?, at: row.get(2)? }))
        .optional()?;
    let stored = note.chained(end.as_ref());
    let sql = "INSERT INTO audit (seq, at, kind, data, prev_hash, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection.prepare_cached(sql)?.execute(params![
        stored.seq,
        stored.at,
        stored.kind,
        stored.data,
        stored.previous,
        stored.hash
    ])?;
    Ok(stored.seq)
}

impl Unreached for AuditError {
    fn unreached(why: String) -> Self {
        Self(why)
    }
}

impl Audit for SqliteRegistry {
    fn note(&self, note: NewNote) -> Later<Result<u64, AuditError>> {
        self.change(note.detail.len(), move |connection| Ok(append(connection, &note)?))
    }

    fn list(&self, after: u64, most: usize) -> Later<Result<Vec<Stored>, AuditError>> {
        self.look(|connection| {
            let sql =
                "SELECT seq, at, kind, data, prev_hash, hash FROM audit WHERE seq > ?1 ORDER BY seq LIMIT ?2";
            let mut found = connection.prepare_cached(sql)?;
            let rows = found.query_map(params![after, most], |row| {
                Ok(Stored {
                    seq: row.get(0)?,
                    at: row.get(1)?,
                    kind: row.get(2)?,
                    data: row.get(3)?,
                    previous: row.get(4)?,
                    hash: row.get(5)?,
                })
            })?;
            rows.collect()
        })
    }
}
