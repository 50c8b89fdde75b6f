//! What the database says, as the errors of the port.

use abide_engine::port::StoreError;
use sqlx::Error;
use sqlx::error::ErrorKind;

/// Why a change stopped.
pub(crate) enum Stop {
    /// The port's rules are against it.
    Refused(StoreError),
    /// The database is.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Stop {
    /// Returns whether the same may work later.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Failed(error) if is_passing(error))
    }

    /// Returns why a reading did not work.
    pub(crate) fn of_read(self, place: &str) -> StoreError {
        match self {
            Self::Refused(error) => error,
            Self::Failed(error) => other(place, reason(&error)),
        }
    }

    /// Returns why a change that was not committed did not work: nothing was written.
    pub(crate) fn of_write(self, place: &str) -> StoreError {
        match self {
            Self::Refused(error) => error,
            Self::Failed(error) if is_passing(&error) => {
                StoreError::Unwritable { place: place.to_owned(), reason: reason(&error) }
            }
            Self::Failed(error) => other(place, reason(&error)),
        }
    }
}

/// Returns why a commit did not work: whether it has happened is known only when the database itself says no.
pub(crate) fn of_commit(place: &str, error: Error) -> StoreError {
    match &error {
        Error::Database(_) => Stop::Failed(error).of_write(place),
        _ => other(place, format!("nobody knows whether the change was made: {}", reason(&error))),
    }
}

pub(crate) fn other(place: &str, reason: impl Into<String>) -> StoreError {
    StoreError::Other { place: place.to_owned(), reason: reason.into() }
}

pub(crate) fn unreadable(place: &str, reason: impl Into<String>) -> StoreError {
    StoreError::Unreadable { place: place.to_owned(), reason: reason.into() }
}

/// Returns whether a row is there already that should not be.
pub(crate) fn is_taken(error: &Error) -> bool {
    matches!(error, Error::Database(said) if said.kind() == ErrorKind::UniqueViolation)
}

/// Returns whether the same may work later: no connection, no room, a read-only stand-by.
fn is_passing(error: &Error) -> bool {
    match error {
        // A protocol that is not kept is what a connection looks like that is cut while it is made: no word is whole.
        Error::Io(_)
        | Error::Protocol(_)
        | Error::PoolTimedOut
        | Error::PoolClosed
        | Error::Tls(_)
        | Error::WorkerCrashed => true,
        Error::Database(said) => said.code().is_some_and(|code| {
            // Connections, rollbacks, resources and operators; and a server that only reads.
            ["08", "40", "53", "57", "58"].iter().any(|class| code.starts_with(class)) || code == "25006"
        }),
        _ => false,
    }
}

fn reason(error: &Error) -> String {
    match error {
        Error::Database(said) => said.message().to_owned(),
        Error::PoolTimedOut => "no connection was free or could be made in time".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_is_cut_while_it_is_made_passes() {
        let cut = || Error::Protocol("unexpected response from SSLRequest: 0x00".to_owned());
        assert!(Stop::Failed(cut()).is_passing());
        assert!(matches!(Stop::Failed(cut()).of_write("here"), StoreError::Unwritable { .. }));
        // After a commit was sent nobody knows.
        assert!(matches!(of_commit("here", cut()), StoreError::Other { .. }));
        assert!(!Stop::Failed(Error::RowNotFound).is_passing());
    }
}
