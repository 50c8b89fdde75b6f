//! Tools: what a model may call, whoever made them.
//!
//! A [`Tool`] is one function with a schema. It is never called directly: [`crate::toolbox::CheckedTool`] holds it to
//! its schema, its time and its bounds first.

use super::Later;
use abide_core::capability::{Risk, Tier, ToolName};
use abide_core::model::{Image, Part};
use abide_core::policy::ToolKind;
use serde_json::Value;
use std::time::Duration;
use tokio::sync::watch;

/// What is known about a tool before it is called.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// What a model calls it by.
    pub name: ToolName,
    /// What it does and when to use it, for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub arguments: Value,
    /// What kind of thing it does, for the gate.
    pub kind: ToolKind,
    /// The worst that it could do.
    pub risk: Risk,
    /// Who must agree to a call.
    pub tier: Tier,
    /// Whether calls may run beside others of the same turn.
    pub beside: Beside,
    /// Arguments that show how it is called; each fits the schema.
    pub examples: Vec<Value>,
}

/// Whether a call may run at the same time as others of its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// It depends on no other call and changes nothing that another one sees.
    Others,
    /// The calls before it must have ended, and the ones after it wait.
    Nothing,
}

/// The session that a call belongs to: 1 to 128 of `a`-`z`, `A`-`Z`, `0`-`9`, `_` and `-`.
///
/// What a tool keeps, it keeps under this name, so it can be no path and no pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

impl SessionId {
    /// Takes an id as it was made or stored.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = !text.is_empty()
            && text.len() <= 128
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        fits.then(|| Self(text.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for SessionId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

/// What a call is told beside its arguments.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// Whose call it is.
    pub session: SessionId,
    /// What the call is known by in its session, also after a crash; without it, nobody makes it again.
    pub call: Option<String>,
    /// Says that the call is to end early.
    pub stop: Stop,
    /// How much time there is, counted from the call.
    pub time_left: Option<Duration>,
    /// The most that the answer may hold, in bytes as the model reads it.
    pub output_bytes: usize,
    /// The most that the pictures of the answer may have together, in bytes of their files.
    pub picture_bytes: usize,
}

impl ToolContext {
    /// The most that an answer holds when nobody says otherwise.
    pub const OUTPUT_BYTES: usize = 256 * 1024;

    /// Makes the context of a call that nothing ends early.
    pub fn new(session: SessionId) -> Self {
        Self {
            session,
            call: None,
            stop: Stop::never(),
            time_left: None,
            output_bytes: Self::OUTPUT_BYTES,
            picture_bytes: Image::MOST_BYTES,
        }
    }
}

/// Tells a call, and whatever it has started, that it is to end.
#[derive(Debug, Clone)]
pub struct Stop(Option<watch::Receiver<bool>>);

/// What makes a [`Stop`] happen. Dropping it stops nothing.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Makes a stop, and what makes it happen.
    pub fn pair() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop(Some(receiver)))
    }

    /// Stops everything that holds the other end, now and in future.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Returns one that never happens.
    pub fn never() -> Self {
        Self(None)
    }

    /// Returns whether it has happened.
    pub fn happened(&self) -> bool {
        self.0.as_ref().is_some_and(|receiver| *receiver.borrow())
    }

    /// Waits until it happens, for ever if it never does.
    pub async fn wait(&self) {
        if let Some(receiver) = &self.0
            && receiver.clone().wait_for(|stopped| *stopped).await.is_ok()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutput {
    /// A text, as it is.
    Text(String),
    /// Data.
    Json(Value),
    /// A text, and pictures beside it; the text says what they are, for whoever is told no more.
    Shown {
        /// The text.
        text: String,
        /// The pictures.
        images: Vec<Image>,
    },
}

impl ToolOutput {
    /// Returns what the model reads.
    pub fn for_model(&self) -> String {
        match self {
            Self::Text(text) | Self::Shown { text, .. } => text.clone(),
            Self::Json(value) => value.to_string(),
        }
    }

    /// Returns what the model is told: what it reads, and what it is shown.
    pub fn into_parts(self) -> Vec<Part> {
        let text = Part::Text(self.for_model());
        match self {
            Self::Text(_) | Self::Json(_) => vec![text],
            Self::Shown { images, .. } => {
                std::iter::once(text).chain(images.into_iter().map(Part::Image)).collect()
            }
        }
    }
}

/// Why a call has no answer. It goes to the model as data, which may do better next time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// There is no such tool.
    #[error("there is no tool `{name}`{}", nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The name that it may have been meant to be.
        nearest: Option<String>,
    },
    /// The arguments do not fit the schema; nothing has run.
    #[error("the arguments of `{tool}` do not fit: {}", problems.join("; "))]
    Arguments {
        /// Which tool.
        tool: String,
        /// Every problem, each as a sentence with its place.
        problems: Vec<String>,
    },
    /// It may not be done: a rule or a bound is against it.
    #[error("{0}")]
    Refused(String),
    /// It was tried and did not work, for a reason that the caller can act on.
    #[error("{0}")]
    Failed(String),
    /// It took too long.
    #[error("`{tool}` was ended after {} ms", after.as_millis())]
    TimedOut {
        /// Which tool.
        tool: String,
        /// How long it was given.
        after: Duration,
    },
    /// It was told to end.
    #[error("the call was cancelled")]
    Cancelled,
    /// Something is wrong inside; the reason may hold what no model should read.
    #[error("internal error: {0}")]
    Internal(String),
}

impl ToolError {
    /// Returns the word that stands for this kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_tool",
            Self::Arguments { .. } => "invalid_arguments",
            Self::Refused(_) => "refused",
            Self::Failed(_) => "failed",
            Self::TimedOut { .. } => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Internal(_) => "internal",
        }
    }

    /// Returns what the model is told. The detail of an internal error is for the log alone.
    pub fn for_model(&self) -> String {
        match self {
            Self::Internal(_) => {
                "the tool failed for an internal reason; it is not your arguments".to_owned()
            }
            other => other.to_string(),
        }
    }
}

/// One function that a model may call.
///
/// Contract:
/// - `spec` is always the same.
/// - `call` is given arguments that fit the schema, and checks what a schema cannot say itself.
/// - Dropping the future ends the call and everything that it started; so does [`ToolContext::stop`], within a second.
/// - A call holds nothing of another session, and keeps nothing but under [`ToolContext::session`].
/// - What the caller could do better is [`ToolError::Failed`] or [`ToolError::Refused`], with no path, address or key of
///   this machine; everything else is [`ToolError::Internal`].
pub trait Tool: Send + Sync + 'static {
    /// Returns what is known about it.
    fn spec(&self) -> &ToolSpec;

    /// Does it.
    fn call(&self, arguments: Value, context: ToolContext) -> Later<Result<ToolOutput, ToolError>>;

    /// Returns whether a call that was cut short by a crash goes on where it was when it is made again with the same
    /// [`ToolContext::call`]. All others are not made again if they may have had an effect.
    fn takes_up(&self) -> bool {
        false
    }
}
