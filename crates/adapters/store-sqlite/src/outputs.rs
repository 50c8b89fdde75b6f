//! Outputs, kept in pieces: a range is found without reading what is before it, and memory stays bounded.

use crate::error::{Stop, unreadable};
use crate::events::{exists, unknown};
use abide_engine::port::OutputKey;
use rusqlite::{Connection, OptionalExtension as _};
use std::ops::Range;

/// How long a piece is at most.
const LONGEST: usize = 64 * 1024;
/// Up to this length the last piece grows, so that a step that writes a line at a time does not make a row of each.
const SHORT: usize = 4 * 1024;

/// Appends bytes to an output.
pub(crate) fn write(connection: &Connection, key: &OutputKey, bytes: &[u8]) -> Result<(), Stop> {
    let OutputKey { stream, attempt, channel } = key;
    if !exists(connection, stream)? {
        return Err(unknown(stream));
    }
    if bytes.is_empty() {
        return Ok(());
    }
    let last: Option<(u64, usize)> = connection
        .prepare_cached(
            "SELECT position, length(bytes) FROM outputs WHERE stream = ?1 AND attempt = ?2 AND channel = ?3
             ORDER BY position DESC LIMIT 1",
        )?
        .query_row((stream, attempt, channel), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((position, length)) = last
        && length + bytes.len() <= SHORT
    {
        let mut piece: Vec<u8> = connection
            .prepare_cached(
                "SELECT bytes FROM outputs WHERE stream = ?1 AND attempt = ?2 AND channel = ?3 AND position = ?4",
            )?
            .query_row((stream, attempt, channel, position), |row| row.get(0))?;
        piece.extend_from_slice(bytes);
        connection
            .prepare_cached(
                "UPDATE outputs SET bytes = ?5
                 WHERE stream = ?1 AND attempt = ?2 AND channel = ?3 AND position = ?4",
            )?
            .execute((stream, attempt, channel, position, piece))?;
        return Ok(());
    }
    let mut position = last.map_or(0, |(position, length)| position + length as u64);
    let mut insert = connection.prepare_cached(
        "INSERT INTO outputs (stream, attempt, channel, position, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for piece in bytes.chunks(LONGEST) {
        insert.execute((stream, attempt, channel, position, piece))?;
        position += piece.len() as u64;
    }
    Ok(())
}

/// Reads the bytes of an output in a range, as far as there are any.
pub(crate) fn read(
    connection: &Connection,
    place: &str,
    key: &OutputKey,
    range: Range<u64>,
) -> Result<Vec<u8>, Stop> {
    let OutputKey { stream, attempt, channel } = key;
    let end = range.end.min(i64::MAX as u64);
    if range.start >= end {
        return Ok(Vec::new());
    }
    let first: Option<u64> = connection
        .prepare_cached(
            "SELECT max(position) FROM outputs
             WHERE stream = ?1 AND attempt = ?2 AND channel = ?3 AND position <= ?4",
        )?
        .query_row((stream, attempt, channel, range.start), |row| row.get(0))?;
    let Some(first) = first else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT position, bytes FROM outputs
         WHERE stream = ?1 AND attempt = ?2 AND channel = ?3 AND position >= ?4 AND position < ?5
         ORDER BY position",
    )?;
    let mut rows = statement.query((stream, attempt, channel, first, end))?;
    let mut bytes = Vec::new();
    let mut next = first;
    while let Some(row) = rows.next()? {
        let position: u64 = row.get(0)?;
        let piece = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        if position != next {
            let reason =
                format!("the {channel} of {attempt} in {stream} lacks the bytes from {next} to {position}");
            return Err(Stop::Refused(unreadable(place, reason)));
        }
        next = position + piece.len() as u64;
        bytes.extend_from_slice(&piece[within(piece, position, range.start)..within(piece, position, end)]);
    }
    Ok(bytes)
}

/// Returns where a position of the output is in a piece; before it is its start, behind it is its end.
fn within(piece: &[u8], position: u64, wanted: u64) -> usize {
    usize::try_from(wanted.saturating_sub(position)).unwrap_or(usize::MAX).min(piece.len())
}
