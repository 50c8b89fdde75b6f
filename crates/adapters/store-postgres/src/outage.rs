//! A database that goes away for a while: it is started anew, another one takes its place, a cable is pulled.
//!
//! A driver has something under way that would be lost with it, so what it writes waits. A commit whose answer never came is
//! neither done again nor given up: the log itself is asked whether it was made.

use crate::error::other;
use crate::listen::AGAIN;
use crate::store::{PgStore, Reach};
use crate::{events, outputs};
use abide_engine::port::{Appended, OutputKey, StoreError};
use std::time::Duration;
use tokio::time::Instant;

/// Whether a change that failed can have been made all the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IsCommitted {
    No,
    Perhaps,
}

impl IsCommitted {
    /// A change that came as far as its commit may have been made.
    pub(crate) fn of<T>(written: Option<&T>) -> Self {
        if written.is_some() { Self::Perhaps } else { Self::No }
    }
}

/// How long a database that has gone away is waited for.
pub(crate) struct Outage {
    ends: Instant,
}

impl Outage {
    pub(crate) fn of(longest: Duration) -> Self {
        Self { ends: Instant::now() + longest }
    }

    /// Waits a little if the same may work later; returns whether it should be tried again.
    pub(crate) async fn goes_on(&self, error: &StoreError, is_committed: IsCommitted) -> bool {
        let passes = match error {
            StoreError::Unwritable { .. } => true,
            StoreError::Other { .. } => is_committed == IsCommitted::Perhaps,
            _ => false,
        };
        if !passes || Instant::now() + AGAIN >= self.ends {
            return false;
        }
        tokio::time::sleep(AGAIN).await;
        true
    }
}

impl PgStore {
    /// Appends; returns also what is in the log if it could be committed, whether or not anybody knows that it was.
    pub(crate) async fn try_append(
        &self,
        now: i64,
        asked: &events::Append<'_>,
    ) -> (Option<Appended>, Result<Appended, StoreError>) {
        let mut held = match self.hold(asked.stream, Reach::Log).await {
            Ok(held) => held,
            Err(error) => return (None, Err(error)),
        };
        let done = events::append(&mut held, now, asked).await;
        let written = done.as_ref().ok().cloned();
        (written, self.commit(held, done).await)
    }

    /// Returns whether an event that may have been appended is in the log.
    pub(crate) async fn is_there(
        &self,
        stream: &str,
        written: &Appended,
        outage: &Outage,
    ) -> Result<bool, StoreError> {
        loop {
            let pool = self.ready().await?;
            match events::hash(pool, stream, written.seq).await {
                Ok(hash) => return Ok(hash.as_deref() == Some(&*written.hash)),
                Err(stop) => {
                    let error = stop.of_write(self.place());
                    if !outage.goes_on(&error, IsCommitted::No).await {
                        return Err(self.unknown_end(&error));
                    }
                }
            }
        }
    }

    /// Writes output, unless it ends where an earlier try would have made it end: an attempt has one writer. Returns also where the
    /// output ends if it could be committed.
    pub(crate) async fn try_output(
        &self,
        key: &OutputKey,
        bytes: &[u8],
        perhaps: Option<i64>,
    ) -> (Option<i64>, Result<(), StoreError>) {
        let mut held = match self.hold(&key.stream, Reach::Beside).await {
            Ok(held) => held,
            Err(error) => return (None, Err(error)),
        };
        let done = match perhaps {
            None => outputs::write(&mut held, key, bytes).await,
            Some(perhaps) => match outputs::end(&mut *held, key).await {
                Ok(end) if end == perhaps => Ok(end),
                Ok(_) => outputs::write(&mut held, key, bytes).await,
                Err(stop) => Err(stop),
            },
        };
        let end = done.as_ref().ok().copied();
        (end, self.commit(held, done).await.map(drop))
    }

    fn unknown_end(&self, error: &StoreError) -> StoreError {
        other(self.place(), format!("nobody knows whether the change was made: {error}"))
    }
}
