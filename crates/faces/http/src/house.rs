//! What the server stands on, put together by the cli.

use abide_engine::port::{Keys, Later};

/// What the server stands on.
pub trait House: Send + Sync + 'static {
    /// Returns the keys that open it.
    fn keys(&self) -> &dyn Keys;

    /// Tells the time, in milliseconds since 1970.
    fn now(&self) -> i64;

    /// Looks whether the stores answer; the error says which does not.
    fn ready(&self) -> Later<Result<(), String>>;
}
