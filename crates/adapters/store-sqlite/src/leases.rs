//! Leases: who may drive a stream. A row stays when its lease is given back, so that generations only grow.

use crate::error::Stop;
use abide_engine::port::{Holder, Lease, LeaseRow, Standing, StoreError, Taken, take_lease};
use rusqlite::{Connection, Error, OptionalExtension as _};

/// What is asked of [`take`].
pub(crate) struct Taking {
    pub(crate) stream: String,
    pub(crate) holder: Holder,
    pub(crate) now: i64,
    pub(crate) until: i64,
    /// A lease whose holder is known to be dead.
    pub(crate) dead: Option<Lease>,
}

fn row(connection: &Connection, stream: &str) -> Result<Option<LeaseRow>, Error> {
    connection
        .prepare_cached("SELECT holder, process, generation, until FROM leases WHERE stream = ?1")?
        .query_row([stream], |row| {
            let (name, process): (Option<String>, u32) = (row.get(0)?, row.get(1)?);
            let holder = name.map(|name| Holder { name, process });
            Ok(LeaseRow { holder, generation: row.get(2)?, until: row.get(3)? })
        })
        .optional()
}

/// Returns how long streams are, and who has their leases.
pub(crate) fn standings(connection: &Connection, streams: &[String]) -> Result<Vec<Standing>, Stop> {
    let mut found = Vec::new();
    for stream in streams {
        if let Some(seq) = crate::events::length(connection, stream)? {
            let lease = row(connection, stream)?.and_then(|row| row.into_lease(stream));
            found.push(Standing { stream: stream.clone(), seq, lease });
        }
    }
    Ok(found)
}

/// Refuses an append whose lease is not the newest.
pub(crate) fn check(connection: &Connection, stream: &str, lease: &Lease) -> Result<(), Stop> {
    let newest = row(connection, stream)?.is_some_and(|row| row.is_of(lease));
    if newest && lease.stream == stream {
        return Ok(());
    }
    Err(Stop::Refused(StoreError::LeaseLost(stream.to_owned())))
}

/// Takes or renews a lease.
pub(crate) fn take(connection: &Connection, asked: &Taking) -> Result<Taken, Stop> {
    let Taking { stream, holder, now, until, dead } = asked;
    let taken = take_lease(row(connection, stream)?.as_ref(), stream, holder, *now, *until, dead.as_ref());
    let Taken::Yes(lease) = &taken else { return Ok(taken) };
    connection
        .prepare_cached(
            "INSERT INTO leases (stream, holder, process, generation, until) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (stream) DO UPDATE SET holder = ?2, process = ?3, generation = ?4, until = ?5",
        )?
        .execute((stream, &holder.name, holder.process, lease.generation, until))?;
    Ok(taken)
}

/// Gives a lease back, if it is still the newest.
pub(crate) fn release(connection: &Connection, lease: &Lease) -> Result<(), Stop> {
    connection
        .prepare_cached(
            "UPDATE leases SET holder = NULL, until = 0 WHERE stream = ?1 AND holder = ?2 AND generation = ?3",
        )?
        .execute((&lease.stream, &lease.holder.name, lease.generation))?;
    Ok(())
}
