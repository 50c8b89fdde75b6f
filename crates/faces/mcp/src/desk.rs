//! What the server asks of abide, and the way back to the client while a call is under way.
//!
//! One method per tool. A desk is shared by all calls, and many of them are made at once: a status is asked while a run
//! goes on. A client that cancels a call, or goes away, is heard through [`Talk::cancelled`]; the future of a call is not
//! dropped for that, so that a desk can finish what it has begun. When the server ends, calls have a few seconds to end too.

use serde_json::{Map, Value};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::watch;

/// A future whose type is not known.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What the server asks of abide.
pub trait Desk: Send + Sync + 'static {
    /// What the model is told about abide when a session begins.
    fn instructions(&self) -> String;

    /// `ability_list`: the abilities that can be run.
    fn list(&self, caller: &Caller) -> impl Future<Output = Report> + Send;

    /// `ability_run`: starts an ability; returns when it is over, or waits for the agent.
    fn run(&self, asked: Start, talk: &dyn Talk) -> impl Future<Output = Report> + Send;

    /// `ability_status`: how a run stands; without an id the caller's own.
    fn status(&self, run: Option<String>, caller: &Caller) -> impl Future<Output = Report> + Send;

    /// `ability_submit`: what the agent made of its step; goes on as [`Desk::run`] does.
    fn submit(&self, asked: Submission, talk: &dyn Talk) -> impl Future<Output = Report> + Send;

    /// `ability_cancel`: ends a run before its time.
    fn cancel(&self, asked: Cancellation, talk: &dyn Talk) -> impl Future<Output = Report> + Send;

    /// `ability_validate`: the problems of one ability, or of all.
    fn validate(&self, ability: Option<String>, caller: &Caller) -> impl Future<Output = Report> + Send;

    /// `ability_agent`: what an agent may run; without a name the agents there are.
    fn agent(&self, agent: Option<String>, caller: &Caller) -> impl Future<Output = Report> + Send;

    /// Everything that can be read, the most useful first.
    fn resources(&self, caller: &Caller) -> impl Future<Output = Result<Vec<Resource>, Unreadable>> + Send;

    /// The text of one resource.
    fn read(
        &self,
        subject: Subject,
        caller: &Caller,
    ) -> impl Future<Output = Result<Content, Unreadable>> + Send;

    /// The tools beside those for abilities, as they are now.
    fn more_tools(&self, _caller: &Caller) -> impl Future<Output = Vec<MoreTool>> + Send {
        std::future::ready(Vec::new())
    }

    /// Calls one of them; nothing when there is none of that name.
    fn call_more(
        &self,
        _tool: &str,
        _arguments: Map<String, Value>,
        _caller: &Caller,
    ) -> impl Future<Output = Option<Report>> + Send {
        std::future::ready(None)
    }

    /// Returns what is sent to each time that [`Desk::more_tools`] may have become another list, for one client.
    fn tool_changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Returns what is sent to each time that [`Desk::resources`] has become another list, for one client.
    ///
    /// A desk that cannot tell returns nothing, and no client is told.
    fn changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }
}

/// A tool that the desk brings along.
#[derive(Debug, Clone, PartialEq)]
pub struct MoreTool {
    /// What it is called by.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What the model reads about it.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Map<String, Value>,
    /// Whether it changes nothing.
    pub reads_only: bool,
}

/// Who makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The way that the call came.
    pub origin: Origin,
    /// What the client calls itself, like `claude-code`; nothing that could be relied on.
    pub client: Option<String>,
    /// The client's own name of this call, which its hook is told as well: `tool_use_id` of Claude Code, `callId` of Codex.
    ///
    /// Only over standard input, where whoever says it is the process that started this one.
    pub call: Option<String>,
    /// The client's own name of its session, where it tells it (Codex does); only over standard input.
    pub session: Option<String>,
}

/// The way that a call came.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// From the process that started this one.
    Stdio,
    /// Over HTTP. No process is known, so no hook can stand before the agent.
    Http {
        /// The MCP session that asks.
        session: String,
    },
    /// From a loop of this very process, which has asked the gate about the call before it made it.
    Loop {
        /// Its session.
        session: String,
        /// Its agent.
        agent: String,
    },
}

/// An ability to start.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// The name of the ability.
    pub ability: String,
    /// Its inputs by name.
    pub inputs: Map<String, Value>,
    /// What the user said, for `{{input}}`.
    pub input: Option<String>,
    /// The very arguments as they came, by which a ticket is found.
    pub raw: Value,
    /// Who asks.
    pub caller: Caller,
}

/// What an agent says that it made of its step.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The run.
    pub run: String,
    /// The step.
    pub step: String,
    /// The result: a text, or whatever the step's `output_schema` asks for.
    pub output: Value,
    /// The very arguments as they came.
    pub raw: Value,
    /// Who asks.
    pub caller: Caller,
}

/// A run to end.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancellation {
    /// The run; without it the caller's own.
    pub run: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The very arguments as they came.
    pub raw: Value,
    /// Who asks.
    pub caller: Caller,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// For the model to read.
    pub text: String,
    /// The same for programs.
    pub data: Map<String, Value>,
    /// Whether the call did not do what it was asked for.
    pub failed: bool,
}

impl Report {
    /// Returns a report that a call could not be done, and why.
    pub fn failure(why: impl Into<String>) -> Self {
        let text = why.into();
        let data = Map::from_iter([("error".to_owned(), Value::String(text.clone()))]);
        Self { text, data, failed: true }
    }
}

/// The way back to the client while a call is under way.
pub trait Talk: Send + Sync {
    /// Tells how far a call is; nothing happens when the client did not ask for it.
    fn progress(&self, done: u64, total: u64, message: &str);

    /// Asks the user of the client, and waits for the answer.
    fn ask(&self, question: Question) -> Boxed<'_, Said>;

    /// Resolves when the client cancels this call or goes away; at once if it has done so.
    fn cancelled(&self) -> Boxed<'_, ()>;
}

/// A question to the user of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What the user has to know to answer.
    pub message: String,
    /// What can be chosen.
    pub options: Vec<String>,
    /// How long to wait; without it as long as the client holds the call.
    pub within: Option<Duration>,
}

/// What a user said to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// One of the options, as it was offered.
    Chosen {
        /// Which.
        option: String,
        /// What the user had to say about it.
        comment: Option<String>,
    },
    /// Nothing that counts as an answer, and why. A client that has no user declines by itself, so a declined question is
    /// no "no": that is one of the options.
    NoAnswer(String),
    /// The client cannot ask.
    Unsupported,
}

/// What a resource is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// `abide://abilities/{name}`
    Ability(String),
    /// `abide://runs/{id}`
    Run(String),
}

/// Something that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// What it is about.
    pub subject: Subject,
    /// One line about it.
    pub description: Option<String>,
    /// The type of its text, like `application/yaml`.
    pub mime: &'static str,
}

/// The text of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The text.
    pub text: String,
    /// Its type.
    pub mime: &'static str,
}

/// Why a resource cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// There is no such thing, or not for this caller; says what there is instead.
    NotFound(String),
    /// It is there and could not be read.
    Failed(String),
}
