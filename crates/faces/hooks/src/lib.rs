//! The hooks of agent clients: what a client asks, as it writes it, and the answer that it understands.
//!
//! Claude Code and Codex write nearly the same JSON, and our plugin makes OpenCode write it too, so that one reader
//! ([`asked`]) and one writer ([`answer`]) serve all three. What to answer is decided by [`abide_core::policy`]; [`decide`] puts
//! its verdicts to each moment.
#![warn(missing_docs)]

pub mod answer;
pub mod asked;
pub mod decide;
pub mod plugin;
pub mod suggest;
