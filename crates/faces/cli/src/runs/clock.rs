//! The time of this machine, and new ids.
#![expect(clippy::disallowed_methods, reason = "this is where time comes in")]

use abide_core::event::{RunId, Timestamp};
use abide_engine::port::Clock;
use std::time::SystemTime;

/// The clock of this machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    async fn sleep_until(&self, moment: Timestamp) {
        tokio::time::sleep(moment.since(self.now())).await;
    }

    fn new_run(&self) -> RunId {
        let id = uuid::Uuid::now_v7().to_string();
        // A UUID is letters, digits and hyphens.
        RunId::parse(&id).unwrap_or_else(|| unreachable!("a UUID is an id: {id}"))
    }
}
