//! Wakes who waits in this process for news of a session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;

/// How many bells there are before those are looked for that nobody hears any more.
const MANY: usize = 64;

/// A bell for each session that somebody waits for.
#[derive(Default)]
pub(super) struct Bells(Mutex<HashMap<String, Weak<Notify>>>);

impl Bells {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bell of a session.
    pub(super) fn follow(&self, session: &str) -> Arc<Notify> {
        let mut bells = self.lock();
        if let Some(bell) = bells.get(session).and_then(Weak::upgrade) {
            return bell;
        }
        if bells.len() >= MANY {
            bells.retain(|_, bell| bell.strong_count() > 0);
        }
        let bell = Arc::new(Notify::new());
        bells.insert(session.to_owned(), Arc::downgrade(&bell));
        bell
    }

    /// Wakes who waits for a session.
    pub(super) fn ring(&self, session: &str) {
        let bell = self.lock().get(session).and_then(Weak::upgrade);
        if let Some(bell) = bell {
            bell.notify_waiters();
        }
    }
}
