//! Puts abide into the agent that a user already has, takes it out again, and says whether it is there.
//!
//! What each client needs is said by [`claude`], [`opencode`] and [`codex`] as a list of pieces: a file and what
//! abide wants in it. [`plan`] compares the pieces with the disk and answers with the changes, [`Plan::apply`] makes them, and
//! [`inspect`] looks without changing anything, [`canary`]
//! says what the client would start, [`trial`] how it is tried with a model of ours, [`launch`] what a session that abide starts is given,
//! and [`switches`] what keeps it from that. Text is only ever edited by [`abide_formats::edit`].
#![warn(missing_docs)]
#![expect(clippy::disallowed_methods, reason = "this adapter reads and writes the files of the clients")]

pub mod canary;
pub mod claude;
mod client;
pub mod codex;
mod entry;
mod file;
mod hooks;
pub mod inspect;
pub mod launch;
pub mod opencode;
mod piece;
pub mod plan;
mod receipt;
pub mod side_doors;
pub mod switches;
pub mod trial;

pub use client::{Client, Places, Scope};
pub use entry::Server;
pub use file::FileError;
pub use plan::{Change, Plan};

use std::path::{Path, PathBuf};

/// Which client, where, and what it is to start.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The client.
    pub client: Client,
    /// For whom.
    pub scope: Scope,
    /// The program that the client starts.
    pub binary: &'a Path,
    /// The folders.
    pub places: &'a Places,
    /// The server whose abilities its agent is given; with none, the one that its file names already, else this machine.
    pub server: Option<&'a Server>,
}

/// Why nothing was changed, or not everything.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file cannot be edited without harm.
    #[error("{}: {problem}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// What is in the way.
        problem: abide_formats::edit::Problem,
    },
    /// A path has characters that the client's file cannot hold.
    #[error("the path {} is not valid text, so it cannot be written into a file", .0.display())]
    Path(PathBuf),
    /// There is no home folder to put it into.
    #[error("there is no home folder to write to or to look in: set HOME")]
    NoHome,
}
