//! Leases: who may drive a stream. A row stays when its lease is given back, so that generations only grow.

use crate::error::Stop;
use crate::events::unsigned;
use abide_engine::port::{Holder, Lease, LeaseRow, Standing, StoreError, Taken, take_lease};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, PgPool, Row as _};

/// What is asked of [`take`].
pub(crate) struct Taking<'a> {
    pub(crate) stream: &'a str,
    pub(crate) holder: &'a Holder,
    pub(crate) now: i64,
    pub(crate) until: i64,
    /// A lease whose holder is known to be dead.
    pub(crate) dead: Option<&'a Lease>,
}

async fn row(connection: &mut PgConnection, stream: &str) -> Result<Option<LeaseRow>, Stop> {
    let found = sqlx::query("SELECT holder, process, generation, until FROM leases WHERE stream = $1")
        .bind(stream)
        .fetch_optional(connection)
        .await?;
    found.as_ref().map(|found| of(found, 0)).transpose()
}

/// Reads the columns of a lease, from one of them on.
fn of(found: &PgRow, first: usize) -> Result<LeaseRow, Stop> {
    let (name, process): (Option<String>, i64) = (found.try_get(first)?, found.try_get(first + 1)?);
    // Both were made from these types.
    let holder = name.map(|name| Holder { name, process: u32::try_from(process).unwrap_or(0) });
    let generation = unsigned(found.try_get(first + 2)?);
    Ok(LeaseRow { holder, generation, until: found.try_get(first + 3)? })
}

/// Returns how long streams are, and who has their leases, as one moment saw them.
pub(crate) async fn standings(pool: &PgPool, streams: &[String]) -> Result<Vec<Standing>, Stop> {
    let rows = sqlx::query(
        "SELECT s.stream, s.seq, l.holder, l.process, l.generation, l.until
         FROM streams s LEFT JOIN leases l ON l.stream = s.stream AND l.holder IS NOT NULL
         WHERE s.stream = ANY($1)",
    )
    .bind(streams)
    .fetch_all(pool)
    .await?;
    let standing = |found: &PgRow| {
        let stream: String = found.try_get(0)?;
        let is_held = found.try_get::<Option<String>, _>(2)?.is_some();
        let lease = if is_held { of(found, 2)?.into_lease(&stream) } else { None };
        Ok(Standing { seq: unsigned(found.try_get(1)?), lease, stream })
    };
    rows.iter().map(standing).collect()
}

/// Refuses an append whose lease is not the newest.
pub(crate) async fn check(connection: &mut PgConnection, stream: &str, lease: &Lease) -> Result<(), Stop> {
    let row = row(connection, stream).await?;
    if lease.stream == stream && row.is_some_and(|row| row.is_of(lease)) {
        return Ok(());
    }
    Err(Stop::Refused(StoreError::LeaseLost(stream.to_owned())))
}

/// Takes or renews a lease.
pub(crate) async fn take(connection: &mut PgConnection, asked: &Taking<'_>) -> Result<Taken, Stop> {
    let Taking { stream, holder, now, until, dead } = *asked;
    let row = row(connection, stream).await?;
    let taken = take_lease(row.as_ref(), stream, holder, now, until, dead);
    if let Taken::Yes(lease) = &taken {
        sqlx::query(
            "INSERT INTO leases (stream, holder, process, generation, until) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (stream) DO UPDATE SET holder = $2, process = $3, generation = $4, until = $5",
        )
        .bind(stream)
        .bind(&holder.name)
        .bind(i64::from(holder.process))
        .bind(crate::events::signed(lease.generation))
        .bind(until)
        .execute(connection)
        .await?;
    }
    Ok(taken)
}

/// Gives a lease back, if it is still the newest.
pub(crate) async fn release(connection: &mut PgConnection, lease: &Lease) -> Result<(), Stop> {
    sqlx::query(
        "UPDATE leases SET holder = NULL, until = 0 WHERE stream = $1 AND holder = $2 AND generation = $3",
    )
    .bind(&lease.stream)
    .bind(&lease.holder.name)
    .bind(crate::events::signed(lease.generation))
    .execute(connection)
    .await?;
    Ok(())
}
