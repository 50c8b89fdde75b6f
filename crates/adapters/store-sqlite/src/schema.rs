//! What is in the file, and how an older file becomes a present one.
//!
//! Migrations go forward only; `user_version` says how many a file has had.

use crate::error::{of_read, of_write, unreadable};
use abide_engine::port::StoreError;
use rusqlite::{Connection, Error};

/// Marks a file as ours (`abde`), for `file` and against opening somebody else's.
const APPLICATION: i32 = 0x6162_6465;

/// Each migration makes the next version. One that has been released is never changed.
///
/// Snapshots are beside their stream and not in it: a row is rewritten as a whole with every append.
const MIGRATIONS: &[&str] = &["
CREATE TABLE streams (
    stream     TEXT NOT NULL PRIMARY KEY,
    seq        INTEGER NOT NULL,
    hash       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    summary    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX streams_by_change ON streams (changed_at, stream);

CREATE TABLE events (
    stream    TEXT NOT NULL,
    seq       INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    data      TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash      TEXT NOT NULL,
    PRIMARY KEY (stream, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
    stream TEXT NOT NULL PRIMARY KEY,
    seq    INTEGER NOT NULL,
    data   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE outputs (
    stream   TEXT NOT NULL,
    attempt  TEXT NOT NULL,
    channel  TEXT NOT NULL,
    position INTEGER NOT NULL,
    bytes    BLOB NOT NULL,
    PRIMARY KEY (stream, attempt, channel, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
    stream     TEXT NOT NULL PRIMARY KEY,
    holder     TEXT,
    process    INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    until      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"];

/// How old a file is.
pub(crate) enum Version {
    /// As this program writes it.
    Present,
    /// It has had this many migrations, and lacks some; a new one has had none.
    Older(usize),
}

/// Returns the version of a file that is ours or empty; asked inside a transaction.
pub(crate) fn version(connection: &Connection, place: &str) -> Result<Version, StoreError> {
    // These read the header alone; tables are not looked up for them.
    let header = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get(0)).map_err(|error| of_read(place, &error))
    };
    let application: i32 = header("application_id")?;
    let version: i32 = header("user_version")?;
    let known = MIGRATIONS.len();
    match (application, usize::try_from(version).unwrap_or(usize::MAX)) {
        (APPLICATION, found) if found == known => Ok(Version::Present),
        (APPLICATION, found) if found > known => Err(unreadable(
            place,
            format!("a newer abide has written it (format {version}, this one knows {known}); update abide"),
        )),
        (APPLICATION, found) => Ok(Version::Older(found)),
        (0, 0) if is_empty(connection).map_err(|error| of_read(place, &error))? => Ok(Version::Older(0)),
        _ => Err(unreadable(
            place,
            "it is the database of another program; name another file, or move it away",
        )),
    }
}

fn is_empty(connection: &Connection) -> Result<bool, Error> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", (), |row| row.get(0))
}

/// Brings a file to the present version, in one transaction; another process may have been faster.
pub(crate) fn migrate(
    connection: &mut Connection,
    place: &str,
    begin: impl Fn(&Connection) -> Result<(), Error>,
) -> Result<(), StoreError> {
    let failed = |error| of_write(place, &error);
    begin(connection).map_err(failed)?;
    // Dropping the connection on the way out undoes what was begun.
    if let Version::Older(version) = version(connection, place)? {
        for migration in &MIGRATIONS[version..] {
            connection.execute_batch(migration).map_err(failed)?;
        }
        connection.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
        connection.pragma_update(None, "user_version", MIGRATIONS.len()).map_err(failed)?;
    }
    connection.execute_batch("COMMIT").map_err(failed)
}
