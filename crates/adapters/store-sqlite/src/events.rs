//! Events, heads and snapshots: what is done to them inside a transaction.

use crate::error::Stop;
use crate::leases;
use abide_engine::port::{
    Appended, End, Extent, HeadPlace, Lease, NO_HASH, NewEvent, StoreError, Stored, StreamHead, link, verify,
};
use rusqlite::{Connection, Error, ErrorCode, OptionalExtension as _, Row};
use std::ops::Range;

/// What is asked of [`append`].
pub(crate) struct Append {
    pub(crate) stream: String,
    pub(crate) expected: u64,
    pub(crate) lease: Option<Lease>,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) summary: String,
}

fn end(connection: &Connection, stream: &str) -> Result<Option<End>, Error> {
    connection
        .prepare_cached("SELECT seq, hash, changed_at FROM streams WHERE stream = ?1")?
        .query_row([stream], |row| Ok(End { seq: row.get(0)?, hash: row.get(1)?, at: row.get(2)? }))
        .optional()
}

pub(crate) fn exists(connection: &Connection, stream: &str) -> Result<bool, Error> {
    connection.prepare_cached("SELECT 1 FROM streams WHERE stream = ?1")?.exists([stream])
}

pub(crate) fn unknown(stream: &str) -> Stop {
    Stop::Refused(StoreError::Unknown(stream.to_owned()))
}

/// Appends events if the caller's lease and its picture of the stream are the newest.
pub(crate) fn append(connection: &Connection, now: i64, asked: &Append) -> Result<Appended, Stop> {
    let Append { stream, expected, lease, events, summary } = asked;
    if let Some(lease) = lease {
        leases::check(connection, stream, lease)?;
    }
    let end = end(connection, stream)?;
    let found = end.as_ref().map_or(0, |end| end.seq);
    if found != *expected {
        let (stream, expected) = (stream.clone(), *expected);
        return Err(Stop::Refused(StoreError::Conflict { stream, expected, found }));
    }
    // A clock that was set back does not make an event older than the one before it.
    let at = end.as_ref().map_or(now, |end| end.at.max(now));
    let mut last = Appended { seq: found, hash: end.map_or_else(|| NO_HASH.to_owned(), |end| end.hash) };
    if events.is_empty() {
        return Ok(last);
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO events (stream, seq, at, kind, data, prev_hash, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for NewEvent { kind, data } in events {
        let seq = last.seq + 1;
        let hash = link(&last.hash, stream, seq, at, kind, data);
        insert
            .execute((stream, seq, at, kind, data, &last.hash, &hash))
            .map_err(|error| taken(error, stream, seq))?;
        last = Appended { seq, hash };
    }
    connection
        .prepare_cached(
            "INSERT INTO streams (stream, seq, hash, created_at, changed_at, summary)
             VALUES (?1, ?2, ?3, ?4, ?4, ?5)
             ON CONFLICT (stream) DO UPDATE SET seq = ?2, hash = ?3, changed_at = ?4, summary = ?5",
        )?
        .execute((stream, last.seq, &last.hash, at, summary))?;
    Ok(last)
}

/// The head says that the stream ends, and yet an event is there: somebody has been at the file.
fn taken(error: Error, stream: &str, seq: u64) -> Stop {
    if error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) {
        return Stop::Failed(error);
    }
    let what = "it is there, but the stream ends before it".to_owned();
    Stop::Spoiled(StoreError::Damaged { stream: stream.to_owned(), seq, what })
}

/// Reads events and checks that they are what was appended.
pub(crate) fn read(connection: &Connection, stream: &str, asked: Range<u64>) -> Result<Vec<Stored>, Stop> {
    let end = end(connection, stream)?.ok_or_else(|| unknown(stream))?;
    let positions = asked.start.max(1)..asked.end.min(end.seq + 1);
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let damaged = |seq: u64, what: &str| {
        Stop::Refused(StoreError::Damaged { stream: stream.to_owned(), seq, what: what.to_owned() })
    };
    let before = positions.start - 1;
    let previous = match before {
        0 => NO_HASH.to_owned(),
        _ => connection
            .prepare_cached("SELECT hash FROM events WHERE stream = ?1 AND seq = ?2")?
            .query_row((stream, before), |row| row.get(0))
            .optional()?
            .ok_or_else(|| damaged(before, "it is missing"))?,
    };
    let mut statement = connection.prepare_cached(
        "SELECT seq, at, kind, data, prev_hash, hash FROM events WHERE stream = ?1 AND seq >= ?2 AND seq < ?3
         ORDER BY seq",
    )?;
    let mut rows = statement.query((stream, positions.start, positions.end))?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let event = stored(row).map_err(|error| match error {
            Error::FromSqlConversionFailure(..) | Error::Utf8Error(..) | Error::InvalidColumnType(..) => {
                damaged(positions.start + events.len() as u64, "it is not text")
            }
            error => Stop::Failed(error),
        })?;
        events.push(event);
    }
    verify(stream, &previous, positions.start, &events).map_err(Stop::Refused)?;
    let next = positions.start + events.len() as u64;
    if next < positions.end {
        return Err(damaged(next, "it is missing"));
    }
    if next > end.seq && events.last().is_some_and(|last| last.hash != end.hash) {
        return Err(damaged(end.seq, "it is not the event that the stream ended with"));
    }
    Ok(events)
}

fn stored(row: &Row<'_>) -> Result<Stored, Error> {
    Ok(Stored {
        seq: row.get(0)?,
        at: row.get(1)?,
        kind: row.get(2)?,
        data: row.get(3)?,
        previous: row.get(4)?,
        hash: row.get(5)?,
    })
}

const HEAD: &str = "SELECT stream, seq, created_at, changed_at, summary FROM streams";

fn stream_head(row: &Row<'_>) -> Result<StreamHead, Error> {
    Ok(StreamHead {
        stream: row.get(0)?,
        seq: row.get(1)?,
        created_at: row.get(2)?,
        changed_at: row.get(3)?,
        summary: row.get(4)?,
    })
}

pub(crate) fn head(connection: &Connection, stream: &str) -> Result<Option<StreamHead>, Stop> {
    let mut statement = connection.prepare_cached(&format!("{HEAD} WHERE stream = ?1"))?;
    Ok(statement.query_row([stream], stream_head).optional()?)
}

/// Returns how many events a stream has, if it is there.
pub(crate) fn length(connection: &Connection, stream: &str) -> Result<Option<u64>, Stop> {
    Ok(connection
        .prepare_cached("SELECT seq FROM streams WHERE stream = ?1")?
        .query_row([stream], |row| row.get(0))
        .optional()?)
}

pub(crate) fn heads(
    connection: &Connection,
    after: Option<&HeadPlace>,
    most: usize,
) -> Result<Vec<StreamHead>, Stop> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let order = "ORDER BY changed_at DESC, stream DESC LIMIT ?1";
    let heads = match after {
        None => connection
            .prepare_cached(&format!("{HEAD} {order}"))?
            .query_map([most], stream_head)?
            .collect::<Result<_, _>>()?,
        Some(place) => connection
            .prepare_cached(&format!("{HEAD} WHERE (changed_at, stream) < (?2, ?3) {order}"))?
            .query_map((most, place.changed_at, &place.stream), stream_head)?
            .collect::<Result<_, _>>()?,
    };
    Ok(heads)
}

pub(crate) fn extent(connection: &Connection) -> Result<Extent, Stop> {
    // Both are answered by the index alone.
    Ok(connection
        .prepare_cached("SELECT count(*), (SELECT min(changed_at) FROM streams) FROM streams")?
        .query_row((), |row| Ok(Extent { streams: row.get(0)?, oldest: row.get(1)? }))?)
}

pub(crate) fn save_snapshot(connection: &Connection, stream: &str, seq: u64, data: &str) -> Result<(), Stop> {
    let found = length(connection, stream)?.ok_or_else(|| unknown(stream))?;
    if seq > found {
        let stream = stream.to_owned();
        return Err(Stop::Refused(StoreError::Conflict { stream, expected: seq, found }));
    }
    connection
        .prepare_cached(
            "INSERT INTO snapshots (stream, seq, data) VALUES (?1, ?2, ?3)
             ON CONFLICT (stream) DO UPDATE SET seq = ?2, data = ?3 WHERE seq <= ?2",
        )?
        .execute((stream, seq, data))?;
    Ok(())
}

pub(crate) fn snapshot(connection: &Connection, stream: &str) -> Result<Option<(u64, String)>, Stop> {
    Ok(connection
        .prepare_cached("SELECT seq, data FROM snapshots WHERE stream = ?1")?
        .query_row([stream], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}

/// How far a stream has been forgotten.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forgotten {
    /// There are more outputs to remove before the log goes.
    Partly,
    /// Nothing is left.
    Wholly,
}

/// How many pieces of output are removed in one transaction: others want to write too.
const PIECES: usize = 64;

/// Removes some outputs of a stream, and with the last of them everything else at once.
pub(crate) fn forget(connection: &Connection, stream: &str) -> Result<Forgotten, Stop> {
    if !exists(connection, stream)? {
        return Err(unknown(stream));
    }
    let removed = connection
        .prepare_cached(
            "DELETE FROM outputs WHERE stream = ?1 AND (attempt, channel, position) IN
             (SELECT attempt, channel, position FROM outputs WHERE stream = ?1 LIMIT ?2)",
        )?
        .execute((stream, PIECES))?;
    if removed == PIECES {
        return Ok(Forgotten::Partly);
    }
    for table in ["snapshots", "leases", "events", "streams"] {
        connection.prepare_cached(&format!("DELETE FROM {table} WHERE stream = ?1"))?.execute([stream])?;
    }
    Ok(Forgotten::Wholly)
}
