//! Fills in what the body of a skill asks for: arguments, files (`@path`) and the output of commands (`` !`command` ``).
//!
//! Arguments are data: they are never looked at for marks, and a command finds them as `$1`, `$2`, … and `$ARGUMENTS` of
//! its own shell, so that none can become a part of a command. Files are read only where the skill may read; commands
//! run only if the caller says that the skill is trusted. Whatever is not filled in stays as it was written, with the
//! reason beside it. Start at [`expand`].
#![warn(missing_docs)]
#![expect(clippy::disallowed_methods, reason = "this crate reads the files that a skill names")]

mod command;
mod expand;
mod files;

pub use expand::{Commands, Expanded, Reads, Setting, expand};
