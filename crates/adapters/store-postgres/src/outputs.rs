//! Outputs, kept in pieces: a range is found without reading what is before it, and memory stays bounded.

use crate::error::{Stop, unreadable};
use crate::events::{length, signed, unknown, unsigned};
use abide_engine::port::OutputKey;
use sqlx::{PgConnection, PgPool, Row as _};
use std::ops::Range;

/// How long a piece is at most.
const LONGEST: usize = 64 * 1024;
/// Up to this length the last piece grows, so that a step that writes a line at a time does not make a row of each.
const SHORT: i64 = 4 * 1024;

/// Returns where an output ends.
pub(crate) async fn end<'a>(executor: impl sqlx::PgExecutor<'a>, key: &OutputKey) -> Result<i64, Stop> {
    Ok(last(executor, key).await?.map_or(0, |(position, length)| position + length))
}

/// Returns where the last piece of an output begins, and how long it is.
async fn last<'a>(executor: impl sqlx::PgExecutor<'a>, key: &OutputKey) -> Result<Option<(i64, i64)>, Stop> {
    let row = sqlx::query(
        "SELECT position, length(bytes)::bigint FROM outputs WHERE stream = $1 AND attempt = $2 AND channel = $3
         ORDER BY position DESC LIMIT 1",
    )
    .bind(&key.stream)
    .bind(&key.attempt)
    .bind(key.channel)
    .fetch_optional(executor)
    .await?;
    Ok(match row {
        Some(row) => Some((row.try_get(0)?, row.try_get(1)?)),
        None => None,
    })
}

/// Appends bytes to an output; returns where it then ends.
pub(crate) async fn write(connection: &mut PgConnection, key: &OutputKey, bytes: &[u8]) -> Result<i64, Stop> {
    let OutputKey { stream, attempt, channel } = key;
    if length(&mut *connection, stream).await?.is_none() {
        return Err(unknown(stream));
    }
    let last = last(&mut *connection, key).await?;
    let end = last.map_or(0, |(position, length)| position + length);
    if bytes.is_empty() {
        return Ok(end);
    }
    if let Some((position, length)) = last
        && length + signed(bytes.len() as u64) <= SHORT
    {
        sqlx::query(
            "UPDATE outputs SET bytes = bytes || $5
             WHERE stream = $1 AND attempt = $2 AND channel = $3 AND position = $4",
        )
        .bind(stream)
        .bind(attempt)
        .bind(channel)
        .bind(position)
        .bind(bytes)
        .execute(connection)
        .await?;
        return Ok(end + signed(bytes.len() as u64));
    }
    let mut position = end;
    for piece in bytes.chunks(LONGEST) {
        sqlx::query(
            "INSERT INTO outputs (stream, attempt, channel, position, bytes) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(stream)
        .bind(attempt)
        .bind(channel)
        .bind(position)
        .bind(piece)
        .execute(&mut *connection)
        .await?;
        position += signed(piece.len() as u64);
    }
    Ok(position)
}

/// Reads the bytes of an output in a range, as far as there are any.
pub(crate) async fn read(
    pool: &PgPool,
    place: &str,
    key: &OutputKey,
    range: Range<u64>,
) -> Result<Vec<u8>, Stop> {
    let OutputKey { stream, attempt, channel } = key;
    let (start, end) = (signed(range.start), signed(range.end));
    if start >= end {
        return Ok(Vec::new());
    }
    // The piece that the range begins in, and those that begin inside of it, as one moment saw them.
    let rows = sqlx::query(
        "SELECT position, bytes FROM outputs
         WHERE stream = $1 AND attempt = $2 AND channel = $3 AND position < $5 AND position >= (
             SELECT max(position) FROM outputs
             WHERE stream = $1 AND attempt = $2 AND channel = $3 AND position <= $4)
         ORDER BY position",
    )
    .bind(stream)
    .bind(attempt)
    .bind(channel)
    .bind(start)
    .bind(end)
    .fetch_all(pool)
    .await?;
    let mut bytes = Vec::new();
    let mut next: Option<u64> = None;
    for row in rows {
        let (position, piece) = (unsigned(row.try_get(0)?), row.try_get::<&[u8], _>(1)?);
        if let Some(next) = next.filter(|next| *next != position) {
            let reason =
                format!("the {channel} of {attempt} in {stream} lacks the bytes from {next} to {position}");
            return Err(Stop::Refused(unreadable(place, reason)));
        }
        let skipped = usize::try_from(range.start.saturating_sub(position)).unwrap_or(usize::MAX);
        let wanted = usize::try_from(range.end.saturating_sub(position)).unwrap_or(usize::MAX);
        bytes.extend_from_slice(piece.get(skipped..wanted.min(piece.len())).unwrap_or_default());
        next = Some(position + piece.len() as u64);
    }
    Ok(bytes)
}
