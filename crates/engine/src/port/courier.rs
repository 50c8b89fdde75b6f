//! What carries a letter to a webhook.

use super::Later;
use std::time::Duration;

/// A request that is signed, and goes to one address.
#[derive(Clone, PartialEq, Eq)]
pub struct Letter {
    /// Where it goes.
    pub url: String,
    /// Whether the name in it may lead into a private network.
    pub private_network: bool,
    /// What is sent beside the body.
    pub headers: Vec<(&'static str, String)>,
    /// What is told, as JSON text.
    pub body: String,
}

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The status of HTTP.
    pub status: u16,
    /// After how long the receiver wants to be asked again.
    pub retry_after: Option<Duration>,
}

/// A letter came to nobody; nothing of its address but the host is said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CourierError(pub String);

/// Carries letters.
///
/// Contract:
/// - A letter goes to its own address: no redirect is followed. A name that leads into a private network is refused unless the
///   letter allows it.
/// - It takes a bounded time, and nothing of what is answered is kept but the status and the wait.
/// - The error holds no part of the address that could be a secret: neither path nor query.
pub trait Courier: Send + Sync + 'static {
    /// Carries a letter, once.
    fn carry(&self, letter: Letter) -> Later<Result<Receipt, CourierError>>;
}
