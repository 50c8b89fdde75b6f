//! What a folder holds, as one number, and a project's own list of such numbers.
//!
//! [`digest`] stands for every file of a folder, and for those that its links lead to: what a user trusts is trusted until it changes. A [`Lock`] is a project's list
//! of digests, to notice that something is not what was agreed on. Nothing here knows what the folders are for.
#![warn(missing_docs)]
#![expect(clippy::disallowed_methods, reason = "this crate is the home of reading what is trusted")]

mod digest;
mod file;
mod lock;

pub use digest::{Digest, Scope, digest};
pub use lock::{Lock, Locked};

use std::io;
use std::path::PathBuf;

/// Why something could not be trusted, or be remembered.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The system refused.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The folder holds more than anybody can have looked at.
    #[error("{path} holds more than {what}")]
    TooMuch {
        /// The folder.
        path: PathBuf,
        /// Which bound it breaks.
        what: &'static str,
    },
    /// A link leads to where things change unseen.
    #[error(
        "the link {link} leads to {target}, out of the project, where things change unseen: copy what lies there, or take the link out"
    )]
    LeadsOut {
        /// The link.
        link: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// A file holds something else than abide writes there.
    #[error("{path} is damaged: {why}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl TrustError {
    fn io(what: &'static str, path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { what, path, source }
    }
}
