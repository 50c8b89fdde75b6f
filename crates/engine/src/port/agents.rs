//! Agents that are made over the API: who they are, and what they can do.

use super::Later;
use crate::capability::Choice;

/// Whether an agent can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentStatus {
    /// It can.
    Active,
    /// It is kept, and cannot.
    Archived,
}

impl AgentStatus {
    /// Returns its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
        }
    }

    /// Reads a word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Active, Self::Archived].into_iter().find(|status| status.word() == word)
    }
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    /// A UUID of version 7, in the usual letters.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it is told in front of everything.
    pub system_prompt: String,
    /// The model that it talks with.
    pub model: Option<String>,
    /// Its capabilities, with what is configured for it; earlier ones speak first.
    pub capabilities: Vec<Choice>,
    /// Whether it can be used.
    pub status: AgentStatus,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// When it was changed.
    pub updated_at: i64,
    /// How often it was written: 1 at first.
    pub version: u64,
}

/// Why something cannot be done with agents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentsError {
    /// There is no such agent.
    #[error("there is no agent {0}")]
    Missing(String),
    /// Somebody else has changed it.
    #[error("the agent is at version {found}, and not {expected}")]
    Changed {
        /// What the caller knows.
        expected: u64,
        /// What it is.
        found: u64,
    },
    /// What keeps the agents does not work.
    #[error("the agents cannot be reached: {0}")]
    Unreachable(String),
}

/// Keeps agents.
///
/// Contract:
/// - An agent and its capabilities are written whole or not at all, and read as of one moment; the order of capabilities is kept,
///   and what is configured for each.
/// - `version` grows by one with every change; of two changes that expect the same one, exactly one happens.
/// - Lists are in the order of ids, which is that of creation.
/// - What has returned without an error outlives a crash.
pub trait Agents: Send + Sync + 'static {
    /// Adds an agent with a new id; its version is 1, whatever it says.
    fn add(&self, agent: AgentRow) -> Later<Result<(), AgentsError>>;

    /// Returns an agent.
    fn find(&self, id: &str) -> Later<Result<Option<AgentRow>, AgentsError>>;

    /// Returns agents after an id; with a status, only those.
    fn list(
        &self,
        after: Option<&str>,
        status: Option<AgentStatus>,
        most: usize,
    ) -> Later<Result<Vec<AgentRow>, AgentsError>>;

    /// Replaces everything about an agent but when it was made; `version` is the one that the caller has seen. Returns the new one.
    fn replace(&self, agent: AgentRow) -> Later<Result<u64, AgentsError>>;
}
