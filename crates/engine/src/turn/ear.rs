//! Who hears, in this process, what happens in sessions: what is measured and traced of models and tools.
//!
//! Sessions are opened in many places and by several stores, and all of them are heard by the same one: so it is said once, for
//! the whole process. An ear learns of what is in the log already; it decides nothing and can hold nothing up.

use crate::port::SessionId;
use abide_core::turn::{Conversation, TurnEvent};
use std::sync::{Arc, OnceLock};

/// Hears what happens in sessions.
pub trait Ear: Send + Sync + 'static {
    /// Something happened and is in the log of the session, whose conversation has taken it in. Must return at once.
    fn happened(&self, session: &SessionId, conversation: &Conversation, event: &TurnEvent);
}

/// Several ears, each told everything in turn.
pub struct Ears(pub Vec<Arc<dyn Ear>>);

impl Ear for Ears {
    fn happened(&self, session: &SessionId, conversation: &Conversation, event: &TurnEvent) {
        self.0.iter().for_each(|one| one.happened(session, conversation, event));
    }
}

static EAR: OnceLock<Arc<dyn Ear>> = OnceLock::new();

/// Lets one hear every session of this process from now on; returns whether nobody did before.
pub fn listen(ear: Arc<dyn Ear>) -> bool {
    EAR.set(ear).is_ok()
}

pub(super) fn tell(session: &SessionId, conversation: &Conversation, events: &[TurnEvent]) {
    if let Some(ear) = EAR.get() {
        for event in events {
            ear.happened(session, conversation, event);
        }
    }
}
