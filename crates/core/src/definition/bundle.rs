//! A capability that a user wrote: a bundle of tools, each a command or a script.

use super::Shell;
use crate::capability::{CapabilityId, CapabilityStatus, Requirement, Risk, Tier, ToolName};
use crate::source::Spanned;
use crate::value::{Duration, Template, Value};

/// A capability as its YAML file describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// Its id: given by `id`, or by the file.
    pub id: Spanned<CapabilityId>,
    /// What it is called.
    pub name: Option<Spanned<String>>,
    /// What it is for.
    pub description: Spanned<String>,
    /// The version of its tools' shapes.
    pub version: Option<Spanned<u32>>,
    /// Whether it can be used.
    pub status: Option<Spanned<BundleStatus>>,
    /// The name of an icon.
    pub icon: Option<Spanned<String>>,
    /// The group it is shown in.
    pub category: Option<Spanned<String>>,
    /// What it adds to the system prompt.
    pub system_prompt: Option<Spanned<String>>,
    /// What it needs.
    pub depends_on: Vec<Spanned<Requirement>>,
    /// The JSON Schema of what can be configured for one agent.
    pub configuration: Option<Spanned<Value>>,
    /// Its tools, in order.
    pub tools: Vec<BundleTool>,
}

/// One tool of a bundle.
#[derive(Debug, Clone, PartialEq)]
pub struct BundleTool {
    /// What a model calls it by.
    pub name: Spanned<ToolName>,
    /// What it does and when to use it.
    pub description: Spanned<String>,
    /// The JSON Schema of its arguments.
    pub arguments: Option<Spanned<Value>>,
    /// Arguments that show how it is called.
    pub examples: Vec<Spanned<Value>>,
    /// What is run.
    pub action: ToolAction,
    /// More variables of its environment.
    pub env: Vec<(Spanned<String>, Spanned<Template>)>,
    /// The worst that it could do.
    pub risk: Option<Spanned<Risk>>,
    /// Who must agree to a call.
    pub tier: Option<Spanned<Tier>>,
    /// Whether calls may run beside others.
    pub parallel: Option<Spanned<bool>>,
    /// When it is ended.
    pub timeout: Option<Spanned<Duration>>,
    /// The most that it may answer, in bytes.
    pub output_bytes: Option<Spanned<u32>>,
    /// Whether what it prints is JSON.
    pub json: Option<Spanned<bool>>,
}

/// What a tool runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolAction {
    /// A program with its arguments, each one word whatever its value is.
    Command(Vec<Spanned<Template>>),
    /// A script for a shell, in which values are data.
    Run {
        /// The script.
        script: Spanned<Template>,
        /// Which shell.
        shell: Option<Spanned<Shell>>,
    },
}

super::ability::words! {
    /// Whether a bundle can be used, as its author says.
    BundleStatus {
        /// Ready for use.
        Available = "available",
        /// It works, and something else is better.
        Deprecated = "deprecated",
        /// Not made yet.
        ComingSoon = "coming_soon",
    }
}

impl From<BundleStatus> for CapabilityStatus {
    fn from(status: BundleStatus) -> Self {
        match status {
            BundleStatus::Available => Self::Available,
            BundleStatus::Deprecated => Self::Deprecated,
            BundleStatus::ComingSoon => Self::ComingSoon,
        }
    }
}
