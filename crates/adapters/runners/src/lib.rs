//! Runners that execute the step of an agent by a client that the user has: Claude Code, OpenCode or Codex, headless.
//!
//! [`ClientRunner`] starts the client with the step's message on its standard input, reads its stream of events as it comes
//! (`claude.rs`, `codex.rs`, `opencode.rs`), and ends it when it must. That the client asks the gate before every tool is
//! arranged by a [`Keeper`]; that it really does is watched here, because clients go on when their hooks fail.
#![warn(missing_docs)]

mod acp;
mod claude;
mod client;
mod codex;
mod hearing;
mod keeper;
mod launch;
mod lines;
mod opencode;
mod trouble;

pub use acp::{AcpRunner, Finder};
pub use client::Client;
pub use keeper::{Held, Judge, Keeper, Profile, Profiles, Watch};
pub use launch::{ClientRunner, NOT_INHERITED};
