//! Which runs a server has started, beside its keys.

use super::{SqliteRegistry, Unreached};
use abide_engine::port::{Later, NewStart, Noted, OpenStart, REMEMBERED, Starts, StartsError};
use rusqlite::{OptionalExtension as _, params};

impl Unreached for StartsError {
    fn unreached(why: String) -> Self {
        Self(why)
    }
}

impl Starts for SqliteRegistry {
    fn note(&self, start: NewStart) -> Later<Result<Noted, StartsError>> {
        self.change(0, move |connection| {
            connection.execute(
                "DELETE FROM starts WHERE is_over AND at < ?1",
                [start.at.saturating_sub(REMEMBERED)],
            )?;
            let known = connection
                .query_row(
                    "SELECT run, digest FROM starts WHERE owner = ?1 AND once = ?2",
                    params![start.owner, start.once],
                    |row| Ok(Noted::Known { run: row.get(0)?, digest: row.get(1)? }),
                )
                .optional()?;
            if let Some(known) = known {
                return Ok(known);
            }
            connection.execute(
                "INSERT INTO starts (run, owner, once, digest, at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![start.run, start.owner, start.once, start.digest, start.at],
            )?;
            Ok(Noted::New)
        })
    }

    fn open(&self, after: Option<&OpenStart>, most: usize) -> Later<Result<Vec<OpenStart>, StartsError>> {
        self.look(|connection| {
            let sql = "SELECT run, at FROM starts
                       WHERE NOT is_over AND (?2 IS NULL OR (at, run) > (?2, ?3)) ORDER BY at, run LIMIT ?1";
            let (at, run) = (after.map(|after| after.at), after.map(|after| &after.run));
            let mut found = connection.prepare_cached(sql)?;
            let start = |row: &rusqlite::Row<'_>| Ok(OpenStart { run: row.get(0)?, at: row.get(1)? });
            found.query_map(params![most, at, run], start)?.collect()
        })
    }

    fn over(&self, run: &str) -> Later<Result<(), StartsError>> {
        let run = run.to_owned();
        self.change(0, move |connection| {
            connection.execute("UPDATE starts SET is_over = 1 WHERE run = ?1", [&run])?;
            Ok(())
        })
    }
}
