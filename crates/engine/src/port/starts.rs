//! Which runs a server has started: so that a request that comes twice starts one, and a server that comes back goes on.

use super::Later;

/// For how long after its start a run is found by its idempotency key, in milliseconds: a week.
pub const REMEMBERED: i64 = 7 * 24 * 60 * 60 * 1_000;

/// A run that is about to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStart {
    /// The id that the run will have.
    pub run: String,
    /// Who starts it.
    pub owner: String,
    /// What the owner calls this request, so that it counts once.
    pub once: Option<String>,
    /// What is asked for, without any secret.
    pub digest: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
}

/// What became of a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noted {
    /// It is the first of its kind.
    New,
    /// The same owner has asked with the same `once` before.
    Known {
        /// The run that was to be started then.
        run: String,
        /// What was asked for then.
        digest: String,
    },
}

/// A run that is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenStart {
    /// The run.
    pub run: String,
    /// When its start was noted, in milliseconds since 1970; it may not have begun.
    pub at: i64,
}

/// What keeps the starts does not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the starts of runs cannot be reached: {0}")]
pub struct StartsError(pub String);

/// Remembers the runs that a server starts.
///
/// Contract:
/// - A start is noted before its run is written, so a run that a crash kept from beginning is known by its id, and begins under it.
/// - Of two with the same owner and the same `once`, whatever process asks, exactly one is [`Noted::New`].
/// - What is over is forgotten when it is older than [`REMEMBERED`]; what is not over never is.
/// - What has returned without an error outlives a crash.
pub trait Starts: Send + Sync + 'static {
    /// Notes a start, unless it is known.
    fn note(&self, start: NewStart) -> Later<Result<Noted, StartsError>>;

    /// Returns runs that are not over, the oldest first, after one that an earlier call returned.
    fn open(&self, after: Option<&OpenStart>, most: usize) -> Later<Result<Vec<OpenStart>, StartsError>>;

    /// Notes that a run is over, or never began; one that is not known is nobody's loss.
    fn over(&self, run: &str) -> Later<Result<(), StartsError>>;
}
