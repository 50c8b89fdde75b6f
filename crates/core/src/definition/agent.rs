//! An agent profile: who works on an agent step, and what it may do.

use super::{AbilityName, AgentName, AgentSettings, Budget};
use crate::source::{Span, Spanned};
use crate::value::Value;

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
    pub tools: Option<AgentTools>,
    /// Rules for single calls; the last one that matches wins.
    pub permission: Vec<Spanned<Permission>>,
    /// The capabilities it is given, in order.
    pub capabilities: Vec<AgentCapability>,
    /// The abilities it may run; `None` when the file does not say.
    pub abilities: Option<Vec<Spanned<AbilityName>>>,
    /// The skills it may use; `None` when the file does not say.
    pub skills: Option<Vec<Spanned<String>>>,
    /// Its system prompt.
    pub prompt: String,
    /// What it may use at most.
    pub budget: Budget,
}

/// The tools that an agent says it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentTools {
    /// These and no others, as Claude Code writes it: `Read, Bash(git *)`.
    Only(Vec<Spanned<String>>),
    /// All of them but for what is switched here, as OpenCode writes it; the last one that matches wins.
    Switched(Vec<Spanned<ToolGrant>>),
}

/// A capability that an agent is given.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCapability {
    /// Its id, with `@version` behind it where one is required.
    pub id: Spanned<String>,
    /// What is configured for this agent.
    pub configuration: Option<Value>,
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
    /// Makes a profile that says nothing but its name.
    pub fn named(name: Spanned<AgentName>) -> Self {
        Self {
            name,
            description: None,
            model: None,
            tools: None,
            permission: Vec::new(),
            capabilities: Vec::new(),
            abilities: None,
            skills: None,
            prompt: String::new(),
            budget: Budget::default(),
        }
    }

    /// Returns the profile with what the configuration says about it: what that sets wins, its rules come last, and of two
    /// limits the smaller holds.
    #[must_use]
    pub fn configured(mut self, settings: &AgentSettings) -> Self {
        let set = settings.clone();
        let model = set.model.map(|model| Spanned::new(model.value.to_string(), model.span));
        self.description = set.description.or(self.description);
        self.model = model.or(self.model);
        self.tools = set.tools.or(self.tools);
        self.permission.extend(set.permission);
        self.capabilities = set.capabilities.unwrap_or(self.capabilities);
        self.abilities = set.abilities.or(self.abilities);
        self.skills = set.skills.or(self.skills);
        self.prompt = set.prompt.map_or(self.prompt, |prompt| prompt.value);
        self.budget = self.budget.and(set.budget);
        self
    }

    /// Returns where the profile names itself, for messages about the whole of it.
    pub fn span(&self) -> Span {
        self.name.span
    }
}
