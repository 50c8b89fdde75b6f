//! Why a call did not do what it was asked for.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// Why a call did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server said no.
    #[error("{0}")]
    Problem(Box<Problem>),
    /// No server answered, or the answer broke off: whether something was done is not known.
    #[error("no answer from {server}: {why}")]
    Connection {
        /// Which server.
        server: String,
        /// What the network says.
        why: String,
    },
    /// There was no answer in time: whether something was done is not known.
    #[error("no answer from {server} within {} ms", limit.as_millis())]
    Timeout {
        /// Which server.
        server: String,
        /// How long it had.
        limit: Duration,
    },
    /// What answered is something else, or of a version that this one does not understand.
    #[error("what answers at {server} is not abide: {why}")]
    Foreign {
        /// Which server.
        server: String,
        /// What is wrong with it.
        why: String,
    },
    /// What was asked for cannot be sent.
    #[error("{0}")]
    Unsendable(String),
}

/// A no of the server, as `application/problem+json`.
#[derive(Debug, Clone, Deserialize)]
pub struct Problem {
    /// What kind of no; it never changes its meaning.
    pub code: String,
    /// The status of the answer.
    pub status: u16,
    /// What is wrong, for people.
    pub detail: String,
    /// What to do about it, for people.
    #[serde(default)]
    pub help: Option<String>,
    /// All that the server said, with facts such as `scope` or `capability`.
    #[serde(skip)]
    pub all: Map<String, Value>,
    /// When to come again.
    #[serde(skip)]
    pub(crate) after: Option<Duration>,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.detail)?;
        match &self.help {
            Some(help) => write!(out, " ({help})"),
            None => Ok(()),
        }
    }
}

impl Error {
    /// Returns the code of a no of the server.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Problem(problem) => Some(&problem.code),
            _ => None,
        }
    }
}
