//! What lies around a run: definitions, files and secrets.

use abide_core::event::HookKey;
use abide_core::view::context::FileText;
use std::future::Future;
use std::path::{Path, PathBuf};

/// An ability as it lies on the disk, with everything that a run pins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// The text of its file.
    pub source: String,
    /// The folder that belongs to it alone, if it has one.
    pub folder: Option<PathBuf>,
    /// Where its scripts run.
    pub root: PathBuf,
    /// Files beside it that it runs or gives to agents, with their digests.
    pub files: Vec<(String, String)>,
    /// Its hooks, in the order in which they run.
    pub hooks: Vec<HookKey>,
}

/// The texts of files that a path or a glob names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundTexts {
    /// Some of them, in the order of their paths.
    pub files: Vec<FileText>,
    /// How many more there are: too many, or no text.
    pub left_out: usize,
}

/// Why something around a run cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WorkspaceError {
    /// What is wrong, with the name or path.
    pub message: String,
    /// What to do now.
    pub help: Option<String>,
}

/// Gives access to what lies around a run.
///
/// Contract: `ability` gives only definitions that validate; a secret is never kept by whoever asked for it.
pub trait Workspace: Send + Sync + 'static {
    /// Finds an ability that can be run.
    fn ability(&self, name: &str) -> Result<Definition, WorkspaceError>;

    /// Returns the value of a named secret.
    fn secret(&self, name: &str) -> impl Future<Output = Result<String, WorkspaceError>> + Send;

    /// Returns the value of a named secret if it can be had without running a command.
    fn secret_at_hand(&self, name: &str) -> Option<String>;

    /// Returns the variables of our environment that named secrets come from.
    fn secret_variables(&self) -> Vec<String>;

    /// Tells whether a path exists; with a final `/` it must be a folder.
    fn exists(&self, root: &Path, path: &str) -> bool;

    /// Returns the texts that a path or a glob names below a folder; a path to a folder names all files in it.
    ///
    /// Bounded in files and bytes. What leads out of `root`, by its name or by a link, is refused; what does not
    /// exist is an empty answer.
    fn texts(&self, root: &Path, pattern: &str) -> Result<FoundTexts, WorkspaceError>;

    /// Returns the digest of a file, or nothing if it cannot be read.
    fn digest(&self, path: &Path) -> Option<String>;
}
