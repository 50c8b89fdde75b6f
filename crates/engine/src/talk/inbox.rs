//! Calls that wait for a human's yes, in this process: asked by a turn, answered by whoever may.

use crate::port::{Clock, Confirm, ConfirmQuestion, Confirmation, Later};
use abide_core::event::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// How long the turn waits; see [`crate::turn`].
const PATIENCE: Duration = Duration::from_mins(1);

/// A call that waits for a human's yes.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolQuestion {
    /// What it is answered by.
    pub id: String,
    /// What is asked.
    pub question: ConfirmQuestion,
    /// Since when.
    pub asked_at: Timestamp,
    /// Until when; silence is a no.
    pub deadline: Timestamp,
}

struct Asked {
    shown: ToolQuestion,
    answer: oneshot::Sender<Confirmation>,
}

type Open = Arc<Mutex<BTreeMap<String, Asked>>>;

/// Is told of each question when it is asked; must return at once.
pub type Asking = Arc<dyn Fn(&ToolQuestion) + Send + Sync>;

/// The questions that are open here.
pub struct Inbox<C> {
    clock: Arc<C>,
    open: Open,
    asking: Option<Asking>,
}

fn lock(open: &Open) -> MutexGuard<'_, BTreeMap<String, Asked>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<C: Clock> Inbox<C> {
    /// Makes an inbox that is empty.
    pub fn new(clock: Arc<C>) -> Self {
        Self { clock, open: Open::default(), asking: None }
    }

    /// Has somebody told of each question.
    #[must_use]
    pub fn telling(self, asking: Asking) -> Self {
        Self { asking: Some(asking), ..self }
    }

    /// Returns what is asked now, in the order of asking.
    pub fn open(&self) -> Vec<ToolQuestion> {
        lock(&self.open).values().map(|asked| asked.shown.clone()).collect()
    }

    /// Returns a question that is open.
    pub fn find(&self, id: &str) -> Option<ToolQuestion> {
        lock(&self.open).get(id).map(|asked| asked.shown.clone())
    }

    /// Answers a question; returns whether somebody still waited for it.
    pub fn answer(&self, id: &str, said: Confirmation) -> bool {
        let asked = lock(&self.open).remove(id);
        asked.is_some_and(|asked| asked.answer.send(said).is_ok())
    }
}

/// Takes a question back when nobody waits for its answer any more.
struct Waiting {
    open: Open,
    id: String,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        lock(&self.open).remove(&self.id);
    }
}

impl<C: Clock> Confirm for Inbox<C> {
    fn confirm(&self, question: ConfirmQuestion) -> Later<Confirmation> {
        let (answer, answered) = oneshot::channel();
        // Ids of runs begin with the time.
        let id = self.clock.new_run().to_string();
        let now = self.clock.now();
        let shown = ToolQuestion { id: id.clone(), question, asked_at: now, deadline: now.after(PATIENCE) };
        let waiting = Waiting { open: Arc::clone(&self.open), id: id.clone() };
        lock(&self.open).insert(id, Asked { shown: shown.clone(), answer });
        if let Some(asking) = &self.asking {
            asking(&shown);
        }
        Box::pin(async move {
            let _waiting = waiting;
            answered.await.unwrap_or(Confirmation::Nobody)
        })
    }
}
