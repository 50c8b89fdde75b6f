//! What an agent can do: capabilities, their order, and what is said about their tools.
//!
//! A capability brings tools and a piece of the system prompt. What a tool does is behind the engine's port; which
//! capabilities an agent gets, in which order, under which tool names and with which prompt, is worked out here, without
//! running any of them. Start at [`select`].

mod bundle;
mod info;
mod path;
mod prompt;
mod select;
mod tool;

pub use bundle::Invocation;
pub use info::{CapabilityId, CapabilityInfo, CapabilityStatus, Requirement};
pub use path::{BadPath, FilePath};
pub use prompt::system_prompt;
pub use select::{Conflicts, Offer, Selected, SelectedTool, SelectionError, select};
pub use tool::{Risk, Tier, ToolName};
