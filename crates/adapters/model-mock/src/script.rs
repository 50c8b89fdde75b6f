//! What a scripted model answers.

use super::Request;
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

/// One answer of the model: what it says, which tools it calls, and what goes wrong on the way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// What it says; nothing if empty.
    pub text: String,
    /// The tools that it calls, all at once.
    pub calls: Vec<ToolCall>,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// What it says that it has used; a guess that grows with the text when nothing is said.
    pub tokens: Option<Tokens>,
}

/// What an answer says that it has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// What went in, the cached ones included.
    pub input: u64,
    /// What came out.
    pub output: u64,
    /// What went in and was in the cache.
    pub cache_read: u64,
    /// What went in and is in the cache now.
    pub cache_write: u64,
}

impl Turn {
    /// Says something and is done.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Calls a tool.
    pub fn call(call: ToolCall) -> Self {
        Self::calls([call])
    }

    /// Calls several tools in parallel.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self { calls: calls.into_iter().collect(), ..Self::default() }
    }

    /// Goes wrong, and says nothing of its own.
    pub fn fault(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    /// Says that it has used this.
    #[must_use]
    pub fn using(mut self, tokens: Tokens) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Goes wrong in this way while it says what it says.
    #[must_use]
    pub fn with(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }
}

/// A tool that the model calls.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The name, as the client offers it; that of a namespace is found in the offer.
    pub name: String,
    /// Its arguments: an object, or a text for a tool that takes one as it is.
    pub arguments: Value,
    /// The group that it is in, for a tool that is not offered until it is searched for.
    pub namespace: Option<String>,
}

impl ToolCall {
    /// Names a tool and its arguments.
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        Self { name: name.into(), arguments, namespace: None }
    }

    /// Names the group that the tool is in.
    #[must_use]
    pub fn within(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }
}

/// What can go wrong between a client and a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Every piece of the answer comes after this long.
    Slow(Duration),
    /// The first piece of the answer comes after this long, and the others at once.
    Late(Duration),
    /// The connection is closed in the middle of the answer.
    CutOff,
    /// Too many requests (429), with the seconds to wait if the server says so.
    TooManyRequests(Option<u32>),
    /// The service is overloaded (529).
    Overloaded,
    /// The answer is not JSON from its middle on.
    Malformed,
    /// The text has this many bytes instead, up to [`Fault::MOST`].
    Huge(usize),
    /// Half of the answer comes, and then nothing, on a connection that stays open.
    Stalled,
    /// Nothing comes at all, on a connection that stays open.
    Silent,
    /// An error with this status, and this text in it.
    Status(u16, String),
    /// The connection stays, and an error is told in the middle of the answer.
    FailsMidway,
}

impl Fault {
    /// The longest text that [`Fault::Huge`] makes.
    pub const MOST: usize = 64 << 20;
}

/// Where the turns come from.
pub enum Script {
    /// A list, one turn for each request of a conversation, in the order in which they come.
    Turns(VecDeque<Turn>),
    /// A function of the request: for agents that talk at the same time.
    Function(Box<dyn FnMut(&Request) -> Turn + Send>),
}

impl Script {
    /// Makes a script of a function.
    pub fn function(answer: impl FnMut(&Request) -> Turn + Send + 'static) -> Self {
        Self::Function(Box::new(answer))
    }

    /// Returns the answer to a request, or nothing when the script is over.
    pub(super) fn answer(&mut self, request: &Request) -> Option<Turn> {
        match self {
            Self::Turns(turns) => turns.pop_front(),
            Self::Function(answer) => Some(answer(request)),
        }
    }

    /// Returns how many turns nobody has asked for.
    pub(super) fn left(&self) -> usize {
        match self {
            Self::Turns(turns) => turns.len(),
            Self::Function(_) => 0,
        }
    }
}

impl From<Vec<Turn>> for Script {
    fn from(turns: Vec<Turn>) -> Self {
        Self::Turns(turns.into())
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns(turns) => out.debug_tuple("Turns").field(turns).finish(),
            Self::Function(_) => out.write_str("Function"),
        }
    }
}
