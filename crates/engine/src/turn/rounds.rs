//! One turn from what the model is told to its end, round by round.

use super::{CallTree, Gate, Permissions, SessionError, SessionLog};
use crate::port::{Clock, Confirm, Later, Model, SessionId, Stop, Store, StoreError, ToolOffer};
use crate::toolbox::Toolbox;
use abide_core::model::{ModelFacts, Part, Patience, ToolCall};
use abide_core::turn::{
    Conversation, Next, Room, SessionCreated, Spent, Stopping, TurnEnd, TurnEvent, next, stopping,
};
use abide_core::value::Value;
use std::sync::Arc;
use tokio::sync::Mutex;

/// An agent that is ready to talk: everything that a turn needs beside its session.
pub struct Agent<C> {
    /// What time it is.
    pub clock: Arc<C>,
    /// Who is asked.
    pub model: ModelSeat,
    /// What the model is told before everything else.
    pub system: String,
    /// The tools that it may call.
    pub toolbox: Toolbox,
    /// The JSON Schema that the final answer is to fit.
    pub schema: Option<Value>,
    /// The agent's own rules.
    pub permissions: Arc<dyn Permissions>,
    /// What the run says that it works for.
    pub gate: Arc<dyn Gate>,
    /// Who is asked where a human must agree.
    pub confirm: Arc<dyn Confirm>,
    /// What it may use, and what it has called.
    pub tree: CallTree,
    /// Who is told what happens, if anybody.
    pub watch: Option<Watch>,
}

/// A model, and what is known about it.
#[derive(Clone)]
pub struct ModelSeat {
    /// How it is asked.
    pub model: Arc<dyn Model>,
    /// What its provider calls it.
    pub name: String,
    /// How much it takes, and what it costs.
    pub facts: ModelFacts,
    /// How often it is asked again.
    pub patience: Patience,
}

/// Something that whoever follows a turn is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// More text of the model.
    Text(String),
    /// More of what it thinks.
    Thought(String),
    /// What was heard of an answer does not count: it is asked for again.
    Again {
        /// Why.
        because: String,
        /// After how many milliseconds.
        wait: u64,
    },
    /// A tool is being called.
    Calling(ToolCall),
    /// Something that is in the log now.
    Happened(TurnEvent),
}

/// Who follows a turn; the next is told when the future is done.
pub type Watch = Arc<dyn Fn(Heard) -> Later<()> + Send + Sync>;

/// What came of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// How it ended.
    pub end: TurnEnd,
    /// The text of the last answer.
    pub text: String,
    /// The last answer as data.
    pub structured: Option<Value>,
    /// What the turn has used.
    pub spent: Spent,
}

impl Report {
    /// Reports the last turn of a conversation.
    pub(super) fn of(conversation: &Conversation, end: TurnEnd) -> Self {
        let (text, structured) = (conversation.text.clone(), conversation.structured.clone());
        Self { end, text, structured, spent: conversation.last_spent }
    }
}

/// Why a turn could not go on; it can be taken up again once that is put right.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// The log.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A turn is under way, and must be ended or taken up first.
    #[error("the session is in the middle of a turn")]
    Busy,
    /// What the model was to be told is too long.
    #[error("a message may have {most} bytes, and this one has {bytes}")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
}

impl From<StoreError> for TurnError {
    fn from(error: StoreError) -> Self {
        Self::Session(error.into())
    }
}

/// The longest message that a model is told, in bytes.
const MESSAGE_BYTES: usize = 24 << 20;

/// What a round needs of the turn that it is in.
pub(super) struct Round<'a, S, C> {
    pub(super) agent: &'a Agent<C>,
    pub(super) session: &'a mut SessionLog<S>,
    pub(super) stop: &'a Stop,
    pub(super) room: Room,
    pub(super) offers: Arc<[ToolOffer]>,
    pub(super) system: Arc<str>,
}

impl<C: Clock> Agent<C> {
    /// Tells the model something, and lets it work until it has given its final answer.
    ///
    /// `label` is what the caller knows the turn by after a crash. When `stop` happens the model, the tools and all that
    /// they started end at once, and the turn is cancelled.
    pub async fn turn<S: Store>(
        &self,
        session: &mut SessionLog<S>,
        message: Vec<Part>,
        label: Option<String>,
        stop: &Stop,
    ) -> Result<Report, TurnError> {
        if session.conversation().active.is_some() {
            return Err(TurnError::Busy);
        }
        let bytes = message.iter().map(bytes_of).sum();
        if bytes > MESSAGE_BYTES {
            return Err(TurnError::TooLong { bytes, most: MESSAGE_BYTES });
        }
        session.note(TurnEvent::Told { parts: message, label });
        self.rounds(session, stop).await
    }

    /// Takes up a turn that was interrupted; without one there is nothing to report.
    ///
    /// What the model has answered is not asked for again. A call of which nobody knows whether it was made is not made
    /// again: the model is told so.
    pub async fn go_on<S: Store>(
        &self,
        session: &mut SessionLog<S>,
        stop: &Stop,
    ) -> Result<Option<Report>, TurnError> {
        if session.conversation().active.is_none() {
            return Ok(None);
        }
        let takes_up =
            |call: &ToolCall| self.toolbox.find(&call.name).is_ok_and(crate::toolbox::CheckedTool::takes_up);
        for event in session.conversation().lost(takes_up) {
            session.note(event);
        }
        self.rounds(session, stop).await.map(Some)
    }

    /// Ends a turn that was interrupted, without going on with it.
    pub async fn give_up<S: Store>(
        &self,
        session: &mut SessionLog<S>,
        end: TurnEnd,
    ) -> Result<(), TurnError> {
        if session.conversation().active.is_some() {
            session.note(TurnEvent::Ended(end));
            self.store(session).await?;
        }
        Ok(())
    }

    async fn rounds<S: Store>(&self, session: &mut SessionLog<S>, stop: &Stop) -> Result<Report, TurnError> {
        if let Some(turn) = &session.conversation().active {
            self.tree.begin(turn, self.clock.now());
        }
        let (offers, system) = (self.offers(), Arc::from(self.system.as_str()));
        let mut round = Round { agent: self, session, stop, room: self.room(), offers, system };
        loop {
            let conversation = round.session.conversation();
            let end = match next(conversation, self.tree.exhausted(&*self.clock), &round.room) {
                Next::End(TurnEnd::Finished) => {
                    let verdict = self.gate.stop().await;
                    match stopping(round.session.conversation(), verdict) {
                        Stopping::End(end) => end,
                        Stopping::Hold { .. } if stop.happened() => TurnEnd::Cancelled,
                        Stopping::Hold { why } => {
                            round.session.note(TurnEvent::Held { why });
                            self.store(round.session).await?;
                            continue;
                        }
                    }
                }
                Next::End(end) => end,
                _ if stop.happened() => TurnEnd::Cancelled,
                Next::Wait => TurnEnd::Cancelled,
                Next::Compact { upto } => match round.compact(upto).await? {
                    None => continue,
                    Some(end) => end,
                },
                Next::Ask => match round.ask().await? {
                    None => continue,
                    Some(end) => end,
                },
                Next::Calls(open) => match round.calls(open).await? {
                    None => continue,
                    Some(end) => end,
                },
            };
            // Of calls that were cut short, only one that asks others has used something.
            round.charge_calls(None);
            let session = round.session;
            session.note(TurnEvent::Ended(end.clone()));
            self.store(session).await?;
            return Ok(Report::of(session.conversation(), end));
        }
    }

    /// Does what a call asks for in a session of its own: begins it, or takes it up where a crash has left it, so that nothing
    /// is asked or paid for twice.
    pub async fn called<S: Store>(
        &self,
        store: Arc<S>,
        id: SessionId,
        created: SessionCreated,
        message: Vec<Part>,
        stop: &Stop,
    ) -> Result<Report, TurnError> {
        let mut session = match SessionLog::find(Arc::clone(&store), id.clone()).await? {
            Some(session) => session,
            None => SessionLog::create(store, id, created).await?,
        };
        if let Some(report) = self.go_on(&mut session, stop).await? {
            return Ok(report);
        }
        let conversation = session.conversation();
        match &conversation.last {
            Some((_, end)) => {
                self.tree.settle(conversation.last_spent);
                Ok(Report::of(conversation, end.clone()))
            }
            None => self.turn(&mut session, message, None, stop).await,
        }
    }

    /// Stores what has happened, and tells whoever follows.
    pub(super) async fn store<S: Store>(&self, session: &mut SessionLog<S>) -> Result<(), StoreError> {
        let events = session.commit().await?;
        if let Some(watch) = &self.watch {
            for event in events {
                watch(Heard::Happened(event)).await;
            }
        }
        Ok(())
    }

    pub(super) async fn tell(&self, heard: Heard) {
        if let Some(watch) = &self.watch {
            watch(heard).await;
        }
    }

    /// Works out how long the conversation may get.
    fn room(&self) -> Room {
        let tools = self.toolbox.iter().map(|tool| {
            let spec = tool.spec();
            spec.description.len() + spec.arguments.to_string().len()
        });
        let beside = self.system.len() + tools.sum::<usize>();
        let facts = self.model.facts;
        Room::of(facts.context_tokens.unwrap_or(Room::CONTEXT), self.answer_tokens(), beside)
    }
}

fn bytes_of(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Image(image) => image.bytes.len(),
    }
}

/// Makes a watch of what is not to be called twice at once.
pub(super) fn one_by_one(listener: crate::port::Listener, say: fn(Heard) -> Option<String>) -> Watch {
    let listener = Arc::new(Mutex::new(listener));
    Arc::new(move |heard| {
        let Some(text) = say(heard) else { return Box::pin(std::future::ready(())) };
        let listener = Arc::clone(&listener);
        Box::pin(async move {
            let said = (listener.lock().await)(text);
            said.await;
        })
    })
}
