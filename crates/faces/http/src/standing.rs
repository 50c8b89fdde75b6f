//! Whether the key of somebody who was let in still opens: a stream outlives the moment in which it was looked up.

use crate::house::House;
use crate::who::Who;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// For how long a key that was looked up is taken to be as it was; a thousand who listen with one key ask once.
const FRESH: Duration = Duration::from_secs(1);
/// How many keys are remembered before those are forgotten that nobody asks about.
const MANY: usize = 1_024;

/// What was found out about keys.
#[derive(Default)]
pub(crate) struct Standings(Mutex<HashMap<String, (Instant, bool)>>);

/// Somebody who was let in.
pub(crate) struct Guest<H> {
    pub(crate) house: Arc<H>,
    pub(crate) standings: Arc<Standings>,
    pub(crate) who: Who,
}

impl<H: House> Guest<H> {
    /// Returns whether they may stay: their key has not been revoked.
    pub(crate) async fn may_stay(&self) -> bool {
        let Who::Key(key) = &self.who else { return true };
        {
            let mut known = self.standings.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_fresh = |(since, opens): &&(Instant, bool)| !*opens || since.elapsed() < FRESH;
            if let Some((_, opens)) = known.get(&key.id).filter(is_fresh) {
                return *opens;
            }
            if known.len() >= MANY {
                known.retain(|_, (since, _)| since.elapsed() < FRESH);
            }
            // Whoever asks meanwhile need not ask the store, too.
            known.insert(key.id.clone(), (Instant::now(), true));
        }
        // A store that does not answer says nothing about the key, and has nothing to tell either.
        let Ok(found) = self.house.keys().find(&key.id).await else { return true };
        let opens = found.is_some_and(|key| key.revoked_at.is_none());
        if !opens {
            let mut known = self.standings.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(key.id.clone(), (Instant::now(), false));
        }
        opens
    }
}
