//! What SQLite says, as the port's errors: with the file, the reason and what to do.

use abide_engine::port::StoreError;
use rusqlite::{Error, ErrorCode};
use std::fmt::Display;

/// Why a change stopped inside its transaction.
pub(crate) enum Stop {
    /// It may not happen, and has written nothing: the rest of the transaction goes on.
    Refused(StoreError),
    /// It may not happen, and has written something: the transaction is undone.
    Spoiled(StoreError),
    /// The database could not do it.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Stop {
    /// Returns why a change did not happen.
    pub(crate) fn of_write(self, place: &str) -> StoreError {
        match self {
            Self::Refused(error) | Self::Spoiled(error) => error,
            Self::Failed(error) => of_write(place, &error),
        }
    }

    /// Returns why something could not be read.
    pub(crate) fn of_read(self, place: &str) -> StoreError {
        match self {
            Self::Refused(error) | Self::Spoiled(error) => error,
            Self::Failed(error) => of_read(place, &error),
        }
    }
}

const DAMAGED: &str =
    "the file is damaged; move it away to start with an empty log, or put a copy in its place";
const LOCKED: &str = "another process has kept it locked for too long";

/// Returns why a change did not happen.
pub(crate) fn of_write(place: &str, error: &Error) -> StoreError {
    let unwritable = |reason: String| StoreError::Unwritable { place: place.to_owned(), reason };
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => unwritable("the disk is full".to_owned()),
        Some(ErrorCode::ReadOnly) => unwritable("the file or its folder is read-only".to_owned()),
        Some(
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied,
        ) => unwritable(format!("the file cannot be opened: {error}")),
        Some(ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed) => {
            unwritable(error.to_string())
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => unwritable(LOCKED.to_owned()),
        _ => of_read(place, error),
    }
}

/// Returns why something could not be read.
pub(crate) fn of_read(place: &str, error: &Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(place, error),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => unreadable(
            place,
            format!(
                "{error}; the file must be readable, and its folder writable (SQLite keeps a -shm file there)"
            ),
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => other(place, LOCKED),
        _ => other(place, error),
    }
}

/// Returns whether a connection that met this is better closed and opened again.
pub(crate) fn spoils_connection(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::CannotOpen
                | ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
        )
    )
}

/// Returns that the file as a whole is damaged, and in which way.
pub(crate) fn damaged(place: &str, how: impl Display) -> StoreError {
    unreadable(place, format!("{DAMAGED} ({how})"))
}

pub(crate) fn unreadable(place: &str, reason: impl Display) -> StoreError {
    StoreError::Unreadable { place: place.to_owned(), reason: reason.to_string() }
}

pub(crate) fn other(place: &str, reason: impl Display) -> StoreError {
    StoreError::Other { place: place.to_owned(), reason: reason.to_string() }
}

pub(crate) fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
