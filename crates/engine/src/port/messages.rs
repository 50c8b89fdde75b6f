//! What is said to the agents of sessions: each message waits until its turn, and says in the end what came of it.
//!
//! The log of a session holds what has happened in its turns, and these rows what is still to be told. A turn has the id of its
//! message, so whoever takes over a session sees in its log which of them has been told.

use super::Later;

/// How many messages of one session may wait.
pub const MOST_WAITING: usize = 1_000;

/// What is to be done with a message while a turn is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenBusy {
    /// It waits until those before it are over.
    Queue,
    /// It ends the turn under way, and is next.
    Interrupt,
    /// It is not taken.
    Refuse,
}

impl WhenBusy {
    /// Returns its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Interrupt => "interrupt",
            Self::Refuse => "refuse",
        }
    }

    /// Reads a word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Queue, Self::Interrupt, Self::Refuse].into_iter().find(|when| when.word() == word)
    }
}

/// A message that is to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// A UUID of version 7; its turn has the same.
    pub id: String,
    /// The session.
    pub session: String,
    /// What is said.
    pub text: String,
    /// Who says it.
    pub by: String,
    /// What is done with it while a turn is under way.
    pub when_busy: WhenBusy,
    /// What its teller calls this request, so that it counts once.
    pub once: Option<String>,
    /// When, in milliseconds since 1970.
    pub at: i64,
}

/// A message of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// Its id, and that of its turn.
    pub id: String,
    /// The session.
    pub session: String,
    /// How many messages the session had with it.
    pub number: u64,
    /// What is said.
    pub text: String,
    /// Who says it.
    pub by: String,
    /// What is done with it while a turn is under way.
    pub when_busy: WhenBusy,
    /// Who wants its turn to end, if somebody does.
    pub cancelled_by: Option<String>,
    /// When it was taken, in milliseconds since 1970.
    pub created_at: i64,
    /// What came of it, once its turn is over.
    pub end: Option<MessageEnd>,
}

impl MessageRow {
    /// Returns whether it ends the turn of another message that is under way.
    pub fn interrupts(&self, other: &Self) -> bool {
        self.when_busy == WhenBusy::Interrupt && self.end.is_none() && self.number > other.number
    }
}

/// What came of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageEnd {
    /// The word for how its turn ended.
    pub status: String,
    /// The text of the last answer.
    pub answer: String,
    /// Why there is no answer, or only a part of one.
    pub error: Option<String>,
    /// When, in milliseconds since 1970.
    pub at: i64,
}

/// What became of a message that was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Posted {
    /// It is taken, and will be told.
    New(MessageRow),
    /// The same teller has posted one with the same `once` to this session before.
    Known(MessageRow),
    /// Another one is not over, and it was not to wait.
    Busy,
    /// Too many wait.
    Full,
    /// There is no such session.
    NoSession,
}

/// What keeps the messages does not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the messages of sessions cannot be reached: {0}")]
pub struct MessagesError(pub String);

/// Keeps messages of sessions until they are told, and what came of them.
///
/// Contract:
/// - `number` counts the messages of a session from 1 without a gap, in the order in which they were taken, whatever process
///   takes them. What is not taken leaves nothing.
/// - Of two with the same teller and the same `once` in one session, exactly one is [`Posted::New`].
/// - A message ends once: the first end stays.
/// - What has returned without an error outlives a crash.
pub trait Messages: Send + Sync + 'static {
    /// Takes a message, unless it is known, not to wait, or one too many.
    fn post(&self, message: NewMessage) -> Later<Result<Posted, MessagesError>>;

    /// Returns messages of a session after a number, in the order of their numbers.
    fn list(&self, session: &str, after: u64, most: usize) -> Later<Result<Vec<MessageRow>, MessagesError>>;

    /// Returns a message of a session.
    fn find(&self, session: &str, id: &str) -> Later<Result<Option<MessageRow>, MessagesError>>;

    /// Returns the messages of a session that are not over, in the order in which they are told: the newest that interrupts
    /// first, then by number.
    fn open(&self, session: &str) -> Later<Result<Vec<MessageRow>, MessagesError>>;

    /// Notes who wants turns to end: that of the first message that is open, or of all; returns which.
    ///
    /// One that somebody has cancelled already is not returned.
    fn cancel(&self, session: &str, by: &str, all: bool) -> Later<Result<Vec<MessageRow>, MessagesError>>;

    /// Notes what came of a message.
    fn end(&self, session: &str, id: &str, end: MessageEnd) -> Later<Result<(), MessagesError>>;

    /// Returns sessions after an id that have a message that is not over, in the order of ids.
    fn waiting(&self, after: Option<&str>, most: usize) -> Later<Result<Vec<String>, MessagesError>>;

    /// Waits until something may have happened to the messages of a session, whatever process did it; it may return early.
    fn news(&self, session: &str) -> Later<()>;
}
