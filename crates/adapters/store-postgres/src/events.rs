//! Events, heads and snapshots: what is done to them inside a transaction.

use crate::error::{Stop, is_taken};
use crate::leases;
use abide_engine::port::{
    Appended, End, Extent, HeadPlace, Lease, NO_HASH, NewEvent, StoreError, Stored, StreamHead, chained,
    verify,
};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, PgPool, Row as _};
use std::ops::Range;

/// Returns a number as the database keeps it; what is beyond its range is the greatest there is.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns a number as it was before the database kept it: none is less than zero.
pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(crate) fn unknown(stream: &str) -> Stop {
    Stop::Refused(StoreError::Unknown(stream.to_owned()))
}

fn damaged(stream: &str, seq: u64, what: &str) -> Stop {
    Stop::Refused(StoreError::Damaged { stream: stream.to_owned(), seq, what: what.to_owned() })
}

fn text(row: &PgRow, column: usize, stream: &str, seq: u64) -> Result<String, Stop> {
    let bytes: Vec<u8> = row.try_get(column)?;
    String::from_utf8(bytes).map_err(|_| damaged(stream, seq, "it is not text"))
}

/// Holds a stream until the transaction ends; one that does not exist yet can be held too. Returns whether the database is a stand-by,
/// which only reads, and may not yet show what has been committed.
pub(crate) async fn hold(connection: &mut PgConnection, stream: &str) -> Result<bool, Stop> {
    let row = sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0)), pg_is_in_recovery()")
        .bind(stream)
        .fetch_one(connection)
        .await?;
    Ok(row.try_get(1)?)
}

async fn end(connection: &mut PgConnection, stream: &str) -> Result<Option<End>, Stop> {
    let row = sqlx::query("SELECT seq, hash, changed_at FROM streams WHERE stream = $1")
        .bind(stream)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(End { seq: unsigned(row.try_get(0)?), hash: row.try_get(1)?, at: row.try_get(2)? }))
}

/// What is asked of [`append`].
pub(crate) struct Append<'a> {
    /// What its stream is: that of a run, or of a session.
    pub(crate) family: &'static str,
    pub(crate) stream: &'a str,
    pub(crate) expected: u64,
    pub(crate) lease: Option<&'a Lease>,
    pub(crate) events: &'a [NewEvent],
    pub(crate) summary: &'a str,
}

/// Returns the hash of an event, if it is there.
pub(crate) async fn hash(pool: &PgPool, stream: &str, seq: u64) -> Result<Option<String>, Stop> {
    let row = sqlx::query("SELECT hash FROM events WHERE stream = $1 AND seq = $2")
        .bind(stream)
        .bind(signed(seq))
        .fetch_optional(pool)
        .await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// Appends events if the caller's lease and its picture of the stream are the newest; the stream is held.
pub(crate) async fn append(
    connection: &mut PgConnection,
    now: i64,
    asked: &Append<'_>,
) -> Result<Appended, Stop> {
    let Append { family, stream, expected, lease, events, summary } = *asked;
    if let Some(lease) = lease {
        leases::check(&mut *connection, stream, lease).await?;
    }
    let end = end(&mut *connection, stream).await?;
    let found = end.as_ref().map_or(0, |end| end.seq);
    if found != expected {
        return Err(Stop::Refused(StoreError::Conflict { stream: stream.to_owned(), expected, found }));
    }
    let hash = end.as_ref().map_or_else(|| NO_HASH.to_owned(), |end| end.hash.clone());
    let events = chained(stream, end.as_ref(), now, events.to_vec());
    let Some(last) = events.last() else { return Ok(Appended { seq: found, hash }) };
    let (last, at) = (Appended { seq: last.seq, hash: last.hash.clone() }, last.at);
    let column = |of: fn(&Stored) -> &str| events.iter().map(of).map(str::to_owned).collect::<Vec<_>>();
    let bytes = |of: fn(&Stored) -> &str| {
        events.iter().map(of).map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>()
    };
    let inserted = sqlx::query(
        "INSERT INTO events (stream, seq, at, kind, data, prev_hash, hash)
         SELECT $1, seq, $3, kind, data, prev_hash, hash
         FROM unnest($2::bigint[], $4::bytea[], $5::bytea[], $6::text[], $7::text[])
              AS new (seq, kind, data, prev_hash, hash)",
    )
    .bind(stream)
    .bind(events.iter().map(|event| signed(event.seq)).collect::<Vec<_>>())
    .bind(at)
    .bind(bytes(|event| &event.kind))
    .bind(bytes(|event| &event.data))
    .bind(column(|event| &event.previous))
    .bind(column(|event| &event.hash))
    .execute(&mut *connection)
    .await;
    match inserted {
        Ok(_) => {}
        // The head says that the stream ends, and yet an event is there: somebody has been at the table.
        Err(error) if is_taken(&error) => {
            let seq = taken(&error).unwrap_or(found + 1);
            return Err(damaged(stream, seq, "it is there, but the stream ends before it"));
        }
        Err(error) => return Err(error.into()),
    }
    sqlx::query(
        "INSERT INTO streams (stream, seq, hash, created_at, changed_at, summary, family) VALUES ($1, $2, $3, $4, $4, $5, $6)
         ON CONFLICT (stream) DO UPDATE SET seq = $2, hash = $3, changed_at = $4, summary = $5",
    )
    .bind(stream)
    .bind(signed(last.seq))
    .bind(&last.hash)
    .bind(at)
    .bind(summary.as_bytes())
    .bind(family)
    .execute(&mut *connection)
    .await?;
    tell(connection, stream).await?;
    Ok(last)
}

/// Returns which event is there already, from what the database says: `Key (stream, seq)=(s, 6) already exists.`
fn taken(error: &sqlx::Error) -> Option<u64> {
    let said = error.as_database_error()?.try_downcast_ref::<sqlx::postgres::PgDatabaseError>()?;
    said.detail()?.rsplit_once(')')?.0.rsplit_once(',')?.1.trim().parse().ok()
}

/// Tells whoever listens that a stream is another one, when the transaction is committed.
async fn tell(connection: &mut PgConnection, stream: &str) -> Result<(), Stop> {
    sqlx::query("SELECT pg_notify($1, $2)")
        .bind(crate::listen::CHANNEL)
        .bind(crate::listen::name(stream))
        .execute(connection)
        .await?;
    Ok(())
}

/// Reads events and checks that they are what was appended.
pub(crate) async fn read(
    pool: &PgPool,
    family: &str,
    stream: &str,
    asked: Range<u64>,
) -> Result<Vec<Stored>, Stop> {
    let start = asked.start.max(1);
    // One statement is one moment: the head, the event before, and the events fit together.
    let rows = sqlx::query(
        "SELECT s.seq, s.hash, (SELECT hash FROM events WHERE stream = $1 AND seq = $2 - 1),
                e.seq, e.at, e.kind, e.data, e.prev_hash, e.hash
         FROM streams s
         LEFT JOIN events e ON e.stream = s.stream AND e.seq >= $2 AND e.seq < $3 AND e.seq <= s.seq
         WHERE s.stream = $1 AND s.family = $4 ORDER BY e.seq",
    )
    .bind(stream)
    .bind(signed(start))
    .bind(signed(asked.end))
    .bind(family)
    .fetch_all(pool)
    .await?;
    let Some(first) = rows.first() else { return Err(unknown(stream)) };
    let end = End { seq: unsigned(first.try_get(0)?), hash: first.try_get(1)?, at: 0 };
    let positions = start..asked.end.min(end.seq + 1);
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let before: Option<String> = first.try_get(2)?;
    let previous = match start - 1 {
        0 => NO_HASH.to_owned(),
        before_it => before.ok_or_else(|| damaged(stream, before_it, "it is missing"))?,
    };
    let mut events = Vec::with_capacity(rows.len());
    for row in &rows {
        let Some(seq) = row.try_get::<Option<i64>, _>(3)?.map(unsigned) else { continue };
        events.push(Stored {
            seq,
            at: row.try_get(4)?,
            kind: text(row, 5, stream, seq)?,
            data: text(row, 6, stream, seq)?,
            previous: row.try_get(7)?,
            hash: row.try_get(8)?,
        });
    }
    verify(stream, &previous, positions.start, &events).map_err(Stop::Refused)?;
    let next = positions.start + events.len() as u64;
    if next < positions.end {
        return Err(damaged(stream, next, "it is missing"));
    }
    if next > end.seq && events.last().is_some_and(|last| last.hash != end.hash) {
        return Err(damaged(stream, end.seq, "it is not the event that the stream ended with"));
    }
    Ok(events)
}

fn stream_head(row: &PgRow) -> Result<StreamHead, Stop> {
    let stream: String = row.try_get(0)?;
    let seq = unsigned(row.try_get(1)?);
    Ok(StreamHead {
        seq,
        created_at: row.try_get(2)?,
        changed_at: row.try_get(3)?,
        summary: text(row, 4, &stream, seq)?,
        stream,
    })
}

pub(crate) async fn head(pool: &PgPool, family: &str, stream: &str) -> Result<Option<StreamHead>, Stop> {
    let sql =
        "SELECT stream, seq, created_at, changed_at, summary FROM streams WHERE stream = $1 AND family = $2";
    let row = sqlx::query(sql).bind(stream).bind(family).fetch_optional(pool).await?;
    row.as_ref().map(stream_head).transpose()
}

/// Returns how many events a stream has, if it is there.
pub(crate) async fn length<'a>(
    executor: impl sqlx::PgExecutor<'a>,
    stream: &str,
) -> Result<Option<u64>, Stop> {
    let row = sqlx::query("SELECT seq FROM streams WHERE stream = $1")
        .bind(stream)
        .fetch_optional(executor)
        .await?;
    Ok(match row {
        Some(row) => Some(unsigned(row.try_get(0)?)),
        None => None,
    })
}

pub(crate) async fn heads(
    pool: &PgPool,
    family: &str,
    after: Option<&HeadPlace>,
    most: usize,
) -> Result<Vec<StreamHead>, Stop> {
    let rows = sqlx::query(
        "SELECT stream, seq, created_at, changed_at, summary FROM streams
         WHERE family = $4 AND (changed_at, stream) < (coalesce($2::bigint, 9223372036854775807), coalesce($3, '') COLLATE \"C\")
         ORDER BY changed_at DESC, stream DESC LIMIT $1",
    )
    .bind(i64::try_from(most).unwrap_or(i64::MAX))
    .bind(after.map(|place| place.changed_at))
    .bind(after.map(|place| place.stream.as_str()))
    .bind(family)
    .fetch_all(pool)
    .await?;
    rows.iter().map(stream_head).collect()
}

pub(crate) async fn extent(pool: &PgPool, family: &str) -> Result<Extent, Stop> {
    let row = sqlx::query("SELECT count(*), min(changed_at) FROM streams WHERE family = $1");
    let row = row.bind(family).fetch_one(pool).await?;
    Ok(Extent { streams: unsigned(row.try_get(0)?), oldest: row.try_get(1)? })
}

pub(crate) async fn save_snapshot(
    connection: &mut PgConnection,
    stream: &str,
    seq: u64,
    data: String,
) -> Result<(), Stop> {
    let found = length(&mut *connection, stream).await?.ok_or_else(|| unknown(stream))?;
    if seq > found {
        return Err(Stop::Refused(StoreError::Conflict { stream: stream.to_owned(), expected: seq, found }));
    }
    sqlx::query(
        "INSERT INTO snapshots (stream, seq, data) VALUES ($1, $2, $3)
         ON CONFLICT (stream) DO UPDATE SET seq = $2, data = $3 WHERE snapshots.seq <= $2",
    )
    .bind(stream)
    .bind(signed(seq))
    .bind(data.into_bytes())
    .execute(connection)
    .await?;
    Ok(())
}

pub(crate) async fn snapshot(pool: &PgPool, stream: &str) -> Result<Option<(u64, String)>, Stop> {
    let row = sqlx::query("SELECT seq, data FROM snapshots WHERE stream = $1")
        .bind(stream)
        .fetch_optional(pool)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let seq = unsigned(row.try_get(0)?);
    Ok(Some((seq, text(&row, 1, stream, seq)?)))
}

/// Removes a stream with everything that belongs to it, at once.
pub(crate) async fn forget(connection: &mut PgConnection, stream: &str) -> Result<(), Stop> {
    if length(&mut *connection, stream).await?.is_none() {
        return Err(unknown(stream));
    }
    for delete in [
        "DELETE FROM outputs WHERE stream = $1",
        "DELETE FROM snapshots WHERE stream = $1",
        "DELETE FROM leases WHERE stream = $1",
        "DELETE FROM events WHERE stream = $1",
        "DELETE FROM streams WHERE stream = $1",
    ] {
        sqlx::query(delete).bind(stream).execute(&mut *connection).await?;
    }
    tell(connection, stream).await
}
