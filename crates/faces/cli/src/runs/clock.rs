//! The time of this machine, and new ids.
#![expect(clippy::disallowed_methods, reason = "this is where time comes in")]

use abide_core::event::{RunId, Timestamp};
use abide_engine::port::Clock;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The clock of this machine, as one that never goes back.
///
/// When somebody sets the clock back, time passes on at its pace from where it was: a retry that is due in a second is
/// due in a second. A clock that is set forward, or that went on while the machine slept, is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemClock;

/// The latest time that was told, since 1970, and when that was.
static LATEST: Mutex<Option<(Duration, Instant)>> = Mutex::new(None);

impl SystemClock {
    /// Lets time begin no earlier than a moment, such as the last event of a run that is driven on.
    pub(crate) fn not_before(moment: Timestamp) {
        let moment = Duration::from_millis(u64::try_from(moment.0).unwrap_or(0));
        later_of(moment);
    }
}

/// Returns a time, or what the latest one has become by now if that is later.
fn later_of(time: Duration) -> Duration {
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    let passed = latest.map(|(told, at)| told + now.saturating_duration_since(at));
    let time = passed.map_or(time, |passed| passed.max(time));
    *latest = Some((time, now));
    time
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = later_of(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
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
