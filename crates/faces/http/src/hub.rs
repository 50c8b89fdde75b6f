//! Who hears what models say while they say it, in this process.
//!
//! What is said piece by piece is stored nowhere: the answer is, as a whole, when there is one. Each piece carries how many events
//! the log of its session had, so that whoever is told both never hears a piece after the answer that it belongs to, and how much of
//! the answer was said before, so that they know when they missed some.

use abide_engine::talk::Listening;
use abide_engine::turn::Heard;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// How many pieces wait for whoever is slow; then they miss some, and have the answer.
const MOST_WAITING: usize = 256;
/// How many sessions are listened to before those are looked for that nobody listens to any more.
const MANY: usize = 1_024;

/// A piece of what a model says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// How many events the log had.
    pub(crate) after: u64,
    /// How many characters of the answer were said before.
    pub(crate) at: u64,
    /// The piece; without one, what was heard of this answer does not count, and it is said again.
    pub(crate) text: Option<String>,
}

/// Who hears what models say.
#[derive(Default)]
pub struct Hub(Mutex<HashMap<String, broadcast::Sender<Piece>>>);

impl Hub {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, broadcast::Sender<Piece>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is told by whoever drives sessions.
    pub fn listening(self: &Arc<Self>) -> Listening {
        let hub = Arc::clone(self);
        Arc::new(move |session, stands, heard| {
            let text = match heard {
                Heard::Text(text) => Some(text),
                Heard::Again { .. } => None,
                Heard::Thought(_) | Heard::Calling(_) | Heard::Happened(_) => return,
            };
            if let Some(sender) = hub.lock().get(session) {
                // Nobody may be left.
                let _ = sender.send(Piece { after: stands.events, at: stands.said, text: text.cloned() });
            }
        })
    }

    /// Returns what is said in a session from now on.
    pub(crate) fn hear(&self, session: &str) -> broadcast::Receiver<Piece> {
        let mut all = self.lock();
        if all.len() >= MANY {
            all.retain(|_, sender| sender.receiver_count() > 0);
        }
        all.entry(session.to_owned()).or_insert_with(|| broadcast::channel(MOST_WAITING).0).subscribe()
    }
}
