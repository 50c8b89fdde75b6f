//! The log of a session, and the conversation that it tells.

use crate::port::{Lease, NewEvent, SessionId, Store, StoreError};
use abide_core::model::Part;
use abide_core::turn::{Conversation, SessionCreated, TurnEnd, TurnEvent};
use abide_core::value::Value;
use abide_formats::event::BadEvent;
use std::sync::Arc;

/// A session: its conversation, and where the next event goes.
pub struct SessionLog<S> {
    store: Arc<S>,
    id: SessionId,
    lease: Option<Lease>,
    seq: u64,
    conversation: Conversation,
    /// What has happened and is not stored yet.
    pending: Vec<TurnEvent>,
}

/// Why a session cannot be read back, or not go on.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An event could not be read.
    #[error("session {session}, event {seq}: {source}")]
    Event {
        /// The session.
        session: String,
        /// Which event.
        seq: u64,
        /// Why.
        source: BadEvent,
    },
}

/// How many events are read at once.
const PAGE: u64 = 1_024;

impl<S: Store> SessionLog<S> {
    /// Makes a new session; one with this id must not be there.
    pub async fn create(store: Arc<S>, id: SessionId, created: SessionCreated) -> Result<Self, SessionError> {
        let mut log = Self {
            store,
            id,
            lease: None,
            seq: 0,
            conversation: Conversation::default(),
            pending: Vec::new(),
        };
        log.note(TurnEvent::Created(Box::new(created)));
        log.commit().await?;
        Ok(log)
    }

    /// Reads a session back, if there is one.
    pub async fn find(store: Arc<S>, id: SessionId) -> Result<Option<Self>, SessionError> {
        let mut log = Self {
            store,
            id,
            lease: None,
            seq: 0,
            conversation: Conversation::default(),
            pending: Vec::new(),
        };
        loop {
            let page = match log.store.read(log.id.as_str(), log.seq + 1..log.seq + 1 + PAGE).await {
                Err(StoreError::Unknown(_)) => return Ok(None),
                page => page?,
            };
            for stored in &page {
                let event = abide_formats::turn::read(&stored.kind, &stored.data).map_err(|source| {
                    SessionError::Event { session: log.id.to_string(), seq: stored.seq, source }
                })?;
                log.conversation.apply(&event);
                log.seq = stored.seq;
            }
            if (page.len() as u64) < PAGE {
                return Ok((log.seq > 0).then_some(log));
            }
        }
    }

    /// Returns its id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the conversation so far.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Returns how many events it has.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Holds what is appended from now on to a lease.
    pub fn hold(&mut self, lease: Lease) {
        self.lease = Some(lease);
    }

    /// Ends a turn that nobody drives: the one that is under way, or, with what was to be told, one that does not begin.
    pub async fn close(&mut self, told: Option<(String, String)>, end: TurnEnd) -> Result<(), SessionError> {
        if let Some((text, label)) = told {
            self.note(TurnEvent::Told { parts: vec![Part::Text(text)], label: Some(label) });
        }
        self.note(TurnEvent::Ended(end));
        self.commit().await?;
        Ok(())
    }

    /// Takes in what happened; it is stored with the next [`SessionLog::commit`], and nothing may follow from it before.
    pub(super) fn note(&mut self, event: TurnEvent) {
        self.conversation.apply(&event);
        self.pending.push(event);
    }

    /// Returns whether something has happened that is not stored yet.
    pub(super) fn has_news(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Stores what has happened; returns it.
    ///
    /// After an error the session is ahead of its log and must be read back.
    pub(super) async fn commit(&mut self) -> Result<Vec<TurnEvent>, StoreError> {
        if self.pending.is_empty() {
            return Ok(Vec::new());
        }
        let events = std::mem::take(&mut self.pending);
        let new = |event: &TurnEvent| NewEvent {
            kind: event.kind().word().to_owned(),
            data: abide_formats::turn::write(event),
        };
        let new = events.iter().map(new).collect();
        let lease = self.lease.as_ref();
        let appended = self.store.append(self.id.as_str(), self.seq, lease, new, self.summary()).await?;
        self.seq = appended.seq;
        super::ear::tell(&self.id, &self.conversation, &events);
        Ok(events)
    }

    /// Says what the session is, for those who list sessions.
    fn summary(&self) -> String {
        let conversation = &self.conversation;
        let text = |text: &str| Value::Text(text.to_owned());
        let status = match (&conversation.active, &conversation.last) {
            (Some(_), _) => "active",
            (None, None) => "new",
            (None, Some(_)) => "idle",
        };
        let count = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let mut entries = vec![
            ("agent".to_owned(), text(&conversation.created.agent)),
            ("model".to_owned(), text(&conversation.created.model)),
            ("status".to_owned(), text(status)),
            ("turns".to_owned(), count(conversation.turns.into())),
            ("tokens".to_owned(), count(conversation.spent.usage.tokens())),
        ];
        let turn = conversation.active.as_ref().and_then(|turn| turn.label.as_deref());
        let turn = turn.map(|turn| ("turn".to_owned(), text(turn)));
        let run = conversation.created.run.as_deref().map(|run| ("run".to_owned(), text(run)));
        let step = conversation.created.step.as_deref().map(|step| ("step".to_owned(), text(step)));
        entries.extend(turn.into_iter().chain(run).chain(step));
        Value::Map(entries).to_json()
    }
}

impl<S> std::fmt::Debug for SessionLog<S> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SessionLog").field("id", &self.id).field("seq", &self.seq).finish_non_exhaustive()
    }
}
