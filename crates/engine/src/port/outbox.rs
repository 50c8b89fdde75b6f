//! What webhooks are to be told, kept until they have been told it: so that a server that is killed in between still does.

use super::Later;

/// How much may wait for one webhook.
pub const MOST_UNDELIVERED: usize = 10_000;
/// For how long it is known that something was told, in milliseconds: 30 days.
pub const DELIVERIES_KEPT: i64 = 30 * 24 * 60 * 60 * 1_000;

/// Something that a webhook is to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The name of the webhook.
    pub webhook: String,
    /// What it is called; the same thing has the same id, whoever posts it and how often.
    pub id: String,
    /// What is told, as JSON text.
    pub body: String,
    /// When it is posted, in milliseconds since 1970.
    pub at: i64,
    /// When it is given up.
    pub until: i64,
}

/// What came of posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PostedDeliveries {
    /// How many were not known before.
    pub new: usize,
    /// How many were not taken, because too much waits for their webhook.
    pub full: usize,
}

/// Something that is to be told now, by whoever has taken it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The name of the webhook.
    pub webhook: String,
    /// What it is called.
    pub id: String,
    /// What is told.
    pub body: String,
    /// The how manieth attempt this is, from 1.
    pub attempt: u32,
    /// When it is given up.
    pub until: i64,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempted {
    /// It was told.
    Delivered,
    /// It was not, and is tried again at this time.
    Again(i64, String),
    /// It was not, and is not tried again.
    GivenUp(String),
}

/// What waits for a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// The name of the webhook.
    pub webhook: String,
    /// How much.
    pub count: u64,
    /// When the oldest of it was posted.
    pub oldest: i64,
}

/// What keeps what is to be told does not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what webhooks are to be told cannot be reached: {0}")]
pub struct OutboxError(pub String);

/// Keeps what webhooks are to be told.
///
/// Contract:
/// - What is posted with a webhook and an id that are known changes nothing, also when it has been told already; that is known for
///   [`DELIVERIES_KEPT`]. What was given up is known in the same way.
/// - For one webhook at most [`MOST_UNDELIVERED`] wait; what comes beyond that is not taken, and counted.
/// - What is taken is nobody else's until the time that was named, whatever process asks; then, or when it is settled as
///   [`Attempted::Again`], it is due again. So something may be told twice, and nothing is forgotten.
/// - Only the last one who has taken it settles it.
/// - What has returned without an error outlives a crash.
pub trait Outbox: Send + Sync + 'static {
    /// Keeps what is to be told; all of it, or after an error nothing.
    fn post(&self, deliveries: Vec<NewDelivery>) -> Later<Result<PostedDeliveries, OutboxError>>;

    /// Takes what is due, the longest due first, until a time.
    fn take(
        &self,
        webhook: &str,
        now: i64,
        until: i64,
        most: usize,
    ) -> Later<Result<Vec<Delivery>, OutboxError>>;

    /// Says what became of an attempt; returns whether it was still the caller's to say.
    fn settle(&self, delivery: &Delivery, now: i64, attempted: Attempted)
    -> Later<Result<bool, OutboxError>>;

    /// Returns when the next thing of a webhook is due.
    fn due(&self, webhook: &str) -> Later<Result<Option<i64>, OutboxError>>;

    /// Returns what waits, by the names of webhooks.
    fn undelivered(&self) -> Later<Result<Vec<Undelivered>, OutboxError>>;
}
