//! Sessions of a server: messages are taken from their rows, one turn after the other, and each turn ends once.
//!
//! What was said to a session waits in [`Messages`]; what happens in its turns is in its log. Whoever holds the lease of the log
//! drives the session: it tells the next message, and the turn has the message's id, so that a process that takes over sees what
//! was told and goes on with it. [`Talks::drive`] is called after a message was taken, [`Talks::look`] now and then, for what
//! another process has left behind.

mod inbox;
mod sitting;

pub use inbox::{Asking, Inbox, ToolQuestion};

use crate::port::{
    Clock, Holder, Later, MessageRow, Messages, MessagesError, SessionRow, Sessions, SessionsError, Store,
    StoreError,
};
use crate::turn::{Heard, Seat, SessionError};
use sitting::Sitting;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Why nobody answers a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoSeat {
    /// Nobody can, as things are: the turn ends with this, for whoever reads the session.
    Never(String),
    /// What is needed to know who does not answer at the moment: nothing is told, and it is tried again.
    NotNow(String),
}

impl From<String> for NoSeat {
    fn from(why: String) -> Self {
        Self::Never(why)
    }
}

impl From<&str> for NoSeat {
    fn from(why: &str) -> Self {
        Self::Never(why.to_owned())
    }
}

/// Puts together who talks in a session.
pub trait Host: Send + Sync + 'static {
    /// Puts together who answers a message.
    fn seat(&self, session: &SessionRow, message: &MessageRow) -> Later<Result<Seat, NoSeat>>;

    /// Returns what the model is told; asked until it is known, and not again when its turn goes on: it may run commands.
    fn told(&self, session: &SessionRow, message: &MessageRow) -> Later<Result<String, NoSeat>>;
}

/// Who is told what a model says while it says it: the session, where it stands, and what was heard.
pub type Listening = Arc<dyn Fn(&str, Standing, &Heard) + Send + Sync>;

/// Where a session stands when something is heard of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// How many events its log has.
    pub events: u64,
    /// How many characters of the answer that is being given were heard before.
    pub said: u64,
}

/// How a session is driven on when somebody else has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// It is left to them.
    Leave,
    /// It is waited for, until everything is told.
    Wait,
}

/// What drives sessions.
pub struct Talks<S, C> {
    pub(super) store: Arc<S>,
    pub(super) clock: Arc<C>,
    pub(super) sessions: Arc<dyn Sessions>,
    pub(super) messages: Arc<dyn Messages>,
    pub(super) host: Arc<dyn Host>,
    pub(super) listening: Listening,
    pub(super) holder: Holder,
    pub(super) is_dead: Arc<dyn Fn(&Holder) -> bool + Send + Sync>,
    /// The sessions that are driven here, and whether somebody has asked for one since it was looked at.
    driven: Mutex<HashMap<String, bool>>,
    leaving: watch::Sender<Leaving>,
}

/// How soon sessions are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Leaving {
    /// They are not.
    No,
    /// After the turn that is under way.
    Soon,
    /// At once: the turn goes on elsewhere.
    Now,
}

/// How many sessions are looked at in one go.
const PAGE: usize = 200;
/// How soon it is tried again to drive a session that somebody else has, or whose log does not answer: at first, and at last.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);
/// How often a log that does not answer is tried; then the next look finds the session.
const MOST_TRIES: u32 = 10;

/// What is needed to drive sessions, beside who hosts them.
pub struct Grounds<S, C> {
    /// The logs of sessions.
    pub store: Arc<S>,
    /// The time.
    pub clock: Arc<C>,
    /// The sessions.
    pub sessions: Arc<dyn Sessions>,
    /// What was said to them.
    pub messages: Arc<dyn Messages>,
    /// Who drives them here.
    pub holder: Holder,
    /// Tells whether a holder is known to be dead.
    pub is_dead: Arc<dyn Fn(&Holder) -> bool + Send + Sync>,
}

/// Why a session could not be driven on now.
#[derive(Debug, thiserror::Error)]
pub(super) enum TalkError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Sessions(#[from] SessionsError),
    #[error(transparent)]
    Messages(#[from] MessagesError),
    #[error("who answers is not known at the moment: {0}")]
    Host(String),
}

/// Why it could not be looked whether there is something to do.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// What waits cannot be found out.
    #[error(transparent)]
    Messages(#[from] MessagesError),
    /// Who drives what cannot be found out.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<StoreError> for TalkError {
    fn from(error: StoreError) -> Self {
        Self::Session(error.into())
    }
}

impl<S: Store, C: Clock> Talks<S, C> {
    /// Puts it together; nothing is driven yet.
    pub fn new(grounds: Grounds<S, C>, host: Arc<dyn Host>, listening: Listening) -> Arc<Self> {
        let Grounds { store, clock, sessions, messages, holder, is_dead } = grounds;
        Arc::new(Self {
            store,
            clock,
            sessions,
            messages,
            host,
            listening,
            holder,
            is_dead,
            driven: Mutex::default(),
            leaving: watch::channel(Leaving::No).0,
        })
    }

    /// Returns the logs of sessions.
    pub fn store(&self) -> &Arc<S> {
        &self.store
    }

    fn driven(&self) -> MutexGuard<'_, HashMap<String, bool>> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a session is driven here.
    pub fn drives(&self, session: &str) -> bool {
        self.driven().contains_key(session)
    }

    /// Drives a session beside everything else until nothing of it is open.
    pub fn drive(self: &Arc<Self>, session: &str, patience: Patience) {
        if *self.leaving.borrow() != Leaving::No {
            return;
        }
        {
            let mut driven = self.driven();
            if let Some(again) = driven.get_mut(session) {
                // Whoever drives it looks once more before it leaves; what waits patiently does so anyway.
                *again |= patience == Patience::Wait;
                return;
            }
            driven.insert(session.to_owned(), false);
        }
        let (talks, session) = (Arc::clone(self), session.to_owned());
        let leaving = self.leaving.subscribe();
        tokio::spawn(async move {
            let sitting = tokio::spawn({
                let (talks, session) = (Arc::clone(&talks), session.clone());
                async move { talks.sit(&session, patience, leaving).await }
            });
            if sitting.await.is_err() {
                // It panicked: whoever looks next finds the session when its lease has ended.
                talks.driven().remove(&session);
            }
        });
    }

    /// Drives every session that has something open and that nobody drives.
    pub async fn look(self: &Arc<Self>) -> Result<(), LookError> {
        let mut after: Option<String> = None;
        loop {
            let page = self.messages.waiting(after.as_deref(), PAGE).await?;
            let others: Vec<String> = page.iter().filter(|session| !self.drives(session)).cloned().collect();
            let standings =
                if others.is_empty() { Vec::new() } else { self.store.standings(&others).await? };
            let now = self.clock.now().0;
            for session in &others {
                // One in which nothing has happened yet has no standing.
                let lease = standings.iter().find(|standing| standing.stream == *session);
                let lease = lease.and_then(|standing| standing.lease.as_ref());
                if lease.is_none_or(|lease| lease.until <= now || (self.is_dead)(&lease.holder)) {
                    self.drive(session, Patience::Leave);
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.clone()),
                _ => return Ok(()),
            }
        }
    }

    /// Leaves every session: after its turn, or, when the time is over, where it is; whoever drives it next goes on there.
    pub async fn leave(&self, grace: Duration) {
        self.leaving.send_replace(Leaving::Soon);
        let left = async {
            while !self.driven().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(grace, left).await.is_err() {
            self.leaving.send_replace(Leaving::Now);
            while !self.driven().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    async fn sit(
        self: Arc<Self>,
        session: &str,
        mut patience: Patience,
        mut leaving: watch::Receiver<Leaving>,
    ) {
        let (mut pause, mut tries) = (SHORTEST, 0);
        loop {
            let talked = Sitting { talks: &self, id: session, leaving: leaving.clone() }.talk().await;
            let rest = match talked {
                Ok(()) => {
                    pause = SHORTEST;
                    false
                }
                Err(TalkError::Session(SessionError::Store(StoreError::Held { .. }))) => {
                    patience == Patience::Wait
                }
                Err(_) => {
                    tries += 1;
                    tries < MOST_TRIES
                }
            };
            {
                let mut driven = self.driven();
                let again = driven.get_mut(session).is_some_and(std::mem::take);
                if again {
                    patience = Patience::Wait;
                }
                let ends = *leaving.borrow() != Leaving::No || !(rest || again);
                if ends {
                    driven.remove(session);
                    return;
                }
            }
            if rest {
                let _ = tokio::time::timeout(pause, leaving.changed()).await;
                pause = (pause * 2).min(LONGEST);
            }
        }
    }
}
