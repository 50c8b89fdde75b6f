//! An agent profile: who works on an agent step, and what it may do.

use super::{AbilityName, AgentName};
use crate::source::{Span, Spanned};

/// An agent as its Markdown file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentProfile {
    /// Its name: given by `name`, or by the file.
    pub name: Spanned<AgentName>,
    /// What it is for.
    pub description: Option<Spanned<String>>,
    /// The model it uses, as `provider/model`.
    pub model: Option<Spanned<String>>,
    /// The tools it has; `None` when the file does not say.
    pub tools: Option<Vec<Spanned<ToolGrant>>>,
    /// Rules for single calls; the last one that matches wins.
    pub permission: Vec<Spanned<Permission>>,
    /// The capabilities it is given, in order.
    pub capabilities: Vec<Spanned<String>>,
    /// The abilities it may run; `None` when the file does not say.
    pub abilities: Option<Vec<Spanned<AbilityName>>>,
    /// The skills it may use; `None` when the file does not say.
    pub skills: Option<Vec<Spanned<String>>>,
    /// Its system prompt.
    pub prompt: String,
}

/// A tool that an agent has, or is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolGrant {
    /// The tool's name, or a wildcard.
    pub tool: String,
    /// Whether the agent has it (OpenCode writes `write: false`).
    pub granted: bool,
}

/// A rule for the calls of one kind of tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// Which tool or kind of tool.
    pub tool: String,
    /// Which calls, as a wildcard; `*` for all.
    pub pattern: String,
    /// What happens to them.
    pub action: PermissionAction,
}

super::ability::words! {
    /// What happens to a call that a permission rule matches.
    PermissionAction {
        /// It is made.
        Allow = "allow",
        /// A human is asked.
        Ask = "ask",
        /// It is refused.
        Deny = "deny",
    }
}

impl AgentProfile {
    /// Returns where the profile names itself, for messages about the whole of it.
    pub fn span(&self) -> Span {
        self.name.span
    }
}
