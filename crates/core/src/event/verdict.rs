//! What the gate answered to an agent, as the log keeps it.

use super::Timestamp;
use smol_str::SmolStr;
use std::fmt;

/// What the gate answered to an agent, other than a plain yes.
///
/// It tells what was asked in a few words, never in the agent's own: those may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenVerdict {
    /// When.
    pub at: Timestamp,
    /// How.
    pub answer: VerdictAnswer,
    /// The tool, as the client spells it; `stop` for ending a turn.
    pub tool: String,
    /// What kind of thing the tool does.
    pub kind: SmolStr,
    /// What was asked: the programs of a command, files, hosts.
    pub what: String,
    /// Why.
    pub why: String,
    /// The client's word.
    pub client: SmolStr,
    /// The client's session.
    pub session: String,
    /// The sub-agent that asked, unless it was the session itself.
    pub sub_agent: Option<String>,
}

/// How the gate answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictAnswer {
    /// With a no.
    Denied,
    /// By asking a human.
    Asked,
    /// With a yes, and what is off.
    Warned,
}

impl VerdictAnswer {
    /// Every answer.
    pub const ALL: [Self; 3] = [Self::Denied, Self::Asked, Self::Warned];

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Asked => "asked",
            Self::Warned => "warned",
        }
    }

    /// Returns the answer that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.word() == word)
    }
}

impl fmt::Display for GivenVerdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} `{}`", self.answer.word(), self.tool)?;
        if !self.what.is_empty() {
            write!(out, " ({})", self.what)?;
        }
        write!(out, ": {}", self.why)?;
        match &self.sub_agent {
            Some(agent) => write!(out, " (sub-agent {agent})"),
            None => Ok(()),
        }
    }
}

/// A verdict as whoever gave it noted it down, or what is left of the note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotedVerdict {
    /// A verdict.
    Given(Box<GivenVerdict>),
    /// One or more that cannot be read, for this reason.
    Lost(String),
}
