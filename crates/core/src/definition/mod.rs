//! What a user wrote, typed once: abilities, agent profiles and the configuration.
//!
//! `formats` builds these values from text and keeps the span of every part that a message can point at;
//! [`check`] finds what is wrong between the parts. Nothing behind this door looks at text again.

mod ability;
mod agent;
pub mod attachment;
mod budget;
mod bundle;
pub mod check;
mod config;
mod input;
mod name;
mod pattern;
mod protect;
mod provider;
mod server;
mod step;
mod validation;
mod webhook;

pub(crate) use ability::words;
pub use ability::{Ability, Enforcement, OnFailure, Settings, Triggers};
pub use agent::{AgentCapability, AgentProfile, AgentTools, Permission, PermissionAction, ToolGrant};
pub use budget::Budget;
pub use bundle::{Bundle, BundleStatus, BundleTool, ToolAction};
pub use config::{
    AbilitySettings, AgentSettings, Config, RunSettings, SecretSource, SessionSettings, SkillSettings,
};
pub use input::{Broken, Input, InputType, Rules};
pub use name::{
    AbilityName, AgentName, BadName, InputName, ProviderName, SecretName, SkillName, StepId, WebhookName,
};
pub use pattern::{BadPattern, Pattern};
pub use protect::{BadProtect, Protect};
pub use provider::{ModelSettings, ProviderSettings, WireFormat};
pub use server::{Given, Reached, ServerSettings, WebSettings};
pub use step::{
    AgentStep, Answer, ApprovalStep, Argument, Environment, ForEach, Items, Repeat, Runner, ScriptStep,
    Shell, SkillStep, Step, StepKind, StepType, Summarize, WorkflowStep,
};
pub use validation::Validation;
pub use webhook::{WebhookEvent, WebhookSettings};
