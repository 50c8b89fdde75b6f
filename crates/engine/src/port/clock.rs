//! Time, and new names.

use abide_core::event::{RunId, Timestamp};
use std::future::Future;

/// Tells the time, waits for a moment, and makes ids that nobody else has.
///
/// Contract: `now` may go back (clocks are set), and nothing but waiting depends on it; `sleep_until` of a moment
/// that has passed returns at once.
pub trait Clock: Send + Sync + 'static {
    /// Returns what time it is.
    fn now(&self) -> Timestamp;

    /// Waits until a moment.
    fn sleep_until(&self, moment: Timestamp) -> impl Future<Output = ()> + Send;

    /// Returns an id that is new, and that sorts after earlier ones.
    fn new_run(&self) -> RunId;
}
