//! What an agent can do: the words about tools that every ring shares.
//!
//! A capability brings tools and a piece of the system prompt. What a tool does is behind the engine's port; what may
//! be said about it without running it is here.

mod tool;

pub use tool::{Risk, Tier, ToolName};
