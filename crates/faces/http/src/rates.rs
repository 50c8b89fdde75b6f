//! How often somebody may ask: a bucket per caller that fills at a steady pace.

use crate::bounds::MOST_CALLERS;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The buckets of all callers.
pub(crate) struct Rates {
    /// How many drops a second come in, and how many a bucket holds.
    pace: f64,
    room: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

struct Bucket {
    drops: f64,
    at: Instant,
}

impl Rates {
    pub(crate) fn new(a_second: u32, at_once: u32) -> Self {
        Self { pace: a_second.max(1).into(), room: at_once.max(1).into(), buckets: Mutex::default() }
    }

    /// Takes one drop; the error is how long there will be none.
    pub(crate) fn take(&self, caller: &str) -> Result<(), Duration> {
        let now = Instant::now();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let filled = |bucket: &Bucket| {
            let since = now.saturating_duration_since(bucket.at).as_secs_f64();
            (bucket.drops + since * self.pace).min(self.room)
        };
        if buckets.len() >= MOST_CALLERS && !buckets.contains_key(caller) {
            // A bucket that is full again says nothing. If none is, all of them begin anew: that is kinder than to refuse.
            buckets.retain(|_, bucket| filled(bucket) < self.room);
            if buckets.len() >= MOST_CALLERS {
                buckets.clear();
            }
        }
        let drops = buckets.get(caller).map_or(self.room, filled);
        if drops < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - drops) / self.pace));
        }
        buckets.insert(caller.to_owned(), Bucket { drops: drops - 1.0, at: now });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_bucket_empties_at_once_and_fills_at_its_pace() {
        let rates = Rates::new(2, 3);
        let taken = |caller: &str| (0..10).take_while(|_| rates.take(caller).is_ok()).count();
        assert_eq!(taken("a"), 3);
        assert_eq!(taken("b"), 3, "another caller has a bucket of its own");
        assert_eq!(rates.take("a"), Err(Duration::from_millis(500)));
        tokio::time::advance(Duration::from_millis(500)).await;
        assert_eq!(taken("a"), 1);
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(taken("a"), 3, "no more than the bucket holds");
    }

    #[tokio::test(start_paused = true)]
    async fn there_are_never_too_many_buckets() {
        let rates = Rates::new(1, 2);
        for caller in 0..3 * MOST_CALLERS {
            let _ = rates.take(&caller.to_string());
        }
        assert!(rates.buckets.lock().unwrap().len() <= MOST_CALLERS);
    }
}
