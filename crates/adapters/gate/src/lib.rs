//! What the gate knows between two calls of an agent: sessions of clients and their runs, in small files.
//!
//! A hook is a process that starts, answers about one tool call and ends, many times a minute. So what it needs lies in
//! files of its own that are read at once, and neither the log nor an ability is opened for it:
//!
//! - [`sessions`]: which run a session is bound to, and the step that it is at. Written by whoever drives the run.
//! - [`seats`]: the same for sessions that abide starts itself, which have no id before they are asked about.
//! - [`index`]: what the definitions of a project say to the gate, compiled.
//! - [`triggers`]: what in a message suggests an ability, and when a session was last told so.
//! - [`verdicts`]: what the gate answered, noted for the log.
//! - [`heard`]: when a client last asked.
//! - [`agents`]: which process it is, so that what it starts is not taken for a human's.
//! - [`tickets`]: how the hook that sees an agent start an ability, and knows the session, meets the server that starts it and
//!   does not.
//!
//! The files lie in the user's state folder and not in a project, because an agent can walk out of a project but not out
//! of its session. Every file is replaced as a whole; one that cannot be read is not taken for one that is not there.
#![warn(missing_docs)]
#![expect(clippy::disallowed_methods, reason = "this is where the gate's files are read and written")]

pub mod agents;
mod family;
mod files;
pub mod heard;
pub mod index;
pub mod rules;
pub mod seats;
pub mod sessions;
pub mod tickets;
pub mod triggers;
pub mod verdicts;

pub use family::{Family, Relative};
pub use files::GateError;

use abide_core::policy::Client;
use std::path::PathBuf;

/// The gate's files.
#[derive(Debug, Clone)]
pub struct Gate {
    folder: PathBuf,
}

impl Gate {
    /// Returns the gate whose files lie in a folder, which need not exist yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns where the files lie.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }
}

/// A session of a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId {
    /// The client's word.
    client: &'static str,
    /// The client's own id.
    id: String,
}

impl SessionId {
    /// Names a session.
    pub fn new(client: Client, id: impl Into<String>) -> Self {
        Self { client: word(client), id: id.into() }
    }

    /// Returns the client's word.
    pub fn client(&self) -> &'static str {
        self.client
    }

    /// Returns the client's own id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns what files of the session are called: an id may hold anything, a file's name may not.
    fn file_name(&self) -> String {
        files::name_of(format!("{}\0{}", self.client, self.id).as_bytes())
    }
}

/// Returns the word of a client, as commands take it.
pub fn word(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "claude",
        Client::OpenCode => "opencode",
        Client::Codex => "codex",
        Client::Other => "other",
    }
}
