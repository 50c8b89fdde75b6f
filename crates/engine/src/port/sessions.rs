//! Sessions that are made over the API: whose they are, and what people call them. What is said in one is in its log.

use super::Later;

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// A UUID of version 7, in the usual letters; its log has the same name.
    pub id: String,
    /// The agent that talks in it.
    pub agent: String,
    /// What people call it.
    pub title: Option<String>,
    /// Who made it.
    pub by: String,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// When it was changed, or told something.
    pub updated_at: i64,
}

/// What keeps the sessions does not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the sessions cannot be reached: {0}")]
pub struct SessionsError(pub String);

/// Keeps sessions.
///
/// Contract:
/// - Lists are in the order of ids, which is that of creation.
/// - What is removed is seen by nobody from then on, its messages included, and takes no message. It stays known to
///   [`Sessions::removed`] until it is forgotten, so that a crash does not keep its log and its files for ever.
/// - `updated_at` never decreases.
/// - What has returned without an error outlives a crash.
pub trait Sessions: Send + Sync + 'static {
    /// Adds a session with a new id.
    fn add(&self, session: SessionRow) -> Later<Result<(), SessionsError>>;

    /// Returns a session.
    fn find(&self, id: &str) -> Later<Result<Option<SessionRow>, SessionsError>>;

    /// Returns sessions after an id; with an agent, only its own.
    fn list(
        &self,
        after: Option<&str>,
        agent: Option<&str>,
        most: usize,
    ) -> Later<Result<Vec<SessionRow>, SessionsError>>;

    /// Calls a session something else; returns it, if there is one.
    fn retitle(
        &self,
        id: &str,
        title: Option<String>,
        at: i64,
    ) -> Later<Result<Option<SessionRow>, SessionsError>>;

    /// Removes a session; returns whether there was one.
    fn remove(&self, id: &str) -> Later<Result<bool, SessionsError>>;

    /// Returns the ids of sessions that were removed and are not forgotten.
    fn removed(&self, most: usize) -> Later<Result<Vec<String>, SessionsError>>;

    /// Forgets a session that was removed; one that was not stays.
    fn forget(&self, id: &str) -> Later<Result<(), SessionsError>>;
}
