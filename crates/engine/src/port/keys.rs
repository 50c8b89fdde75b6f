//! The keys of a server: who may ask it for what.
//!
//! What a key is made of and whether a text opens it is in [`crate::keys`]; here is only how keys are kept.

use super::Later;
use crate::keys::ApiKey;

/// Why something cannot be done with keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// There is no such key.
    #[error("there is no key {0}")]
    Missing(String),
    /// There are too many already.
    #[error("there are {0} keys that are not revoked, and no more may be")]
    Full(u64),
    /// What keeps the keys does not work.
    #[error("the keys cannot be reached: {0}")]
    Unreachable(String),
}

/// How many keys there may be that are not revoked.
pub const MOST_KEYS: u64 = 10_000;

/// Keeps the keys of a server.
///
/// Contract:
/// - What has returned without an error outlives a crash, and every process that looks after that sees it: a key that is
///   revoked opens nothing any more, wherever it was revoked.
/// - Keys are never removed: what they did is in logs by their name. A revoked key stays revoked, since when it was first.
/// - Lists are in the order of creation, and of one moment in the order of ids.
pub trait Keys: Send + Sync + 'static {
    /// Adds a key; the id is new. With [`MOST_KEYS`] that are not revoked it is [`KeysError::Full`].
    fn add(&self, key: ApiKey) -> Later<Result<(), KeysError>>;

    /// Returns a key by its id, revoked or not.
    fn find(&self, id: &str) -> Later<Result<Option<ApiKey>, KeysError>>;

    /// Returns keys after an id in the order of the list, revoked ones too; after none, the first.
    fn list(&self, after: Option<&str>, most: usize) -> Later<Result<Vec<ApiKey>, KeysError>>;

    /// Revokes a key; returns it as it is then.
    fn revoke(&self, id: &str, at: i64) -> Later<Result<ApiKey, KeysError>>;
}
