//! The files of a session: an own small file system for each, kept wherever the host keeps things.

use super::{Later, SessionId};
use abide_core::capability::FilePath;
use abide_core::event::Timestamp;

/// What is known about a file or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInfo {
    /// Where it is.
    pub path: FilePath,
    /// Whether it is a folder.
    pub is_directory: bool,
    /// Whether tools may not change it.
    pub is_readonly: bool,
    /// How many bytes it has; a folder has none.
    pub size_bytes: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its content last changed; a folder keeps the moment when it was made.
    pub updated_at: Timestamp,
}

/// The most that a session may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Bytes in one file.
    pub file_bytes: u64,
    /// Bytes in all files.
    pub total_bytes: u64,
    /// Files and folders.
    pub entries: u64,
}

impl Default for Quota {
    fn default() -> Self {
        Self { file_bytes: 8 << 20, total_bytes: 64 << 20, entries: 10_000 }
    }
}

impl Quota {
    /// Tells whether a file may be written beside what is there: `used` bytes in other files, and `entries` files and
    /// folders in all once it is written.
    pub fn holds(&self, bytes: u64, used: u64, entries: u64) -> Result<(), FilesError> {
        let full = |what: String| Err(FilesError::Full(what));
        if bytes > self.file_bytes {
            return full(format!("a file has at most {} bytes, and this one has {bytes}", self.file_bytes));
        }
        if used.saturating_add(bytes) > self.total_bytes {
            return full(format!(
                "the files of a session have at most {} bytes; {used} are used, and this one has {bytes}",
                self.total_bytes
            ));
        }
        if entries > self.entries {
            return full(format!("a session has at most {} files and directories", self.entries));
        }
        Ok(())
    }
}

/// What is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Where.
    pub path: FilePath,
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether tools may not change it from then on.
    pub readonly: bool,
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// There was no such file.
    Created,
    /// It has new content.
    Replaced,
}

/// Why something cannot be done with the files of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// There is nothing at that path.
    #[error("there is no `{0}`")]
    Missing(FilePath),
    /// It is a folder, and a file is needed.
    #[error("`{0}` is a directory")]
    IsDirectory(FilePath),
    /// It is a file, and a folder is needed.
    #[error("`{0}` is a file, not a directory")]
    NotDirectory(FilePath),
    /// A folder that is to go has something in it.
    #[error("`{0}` is a directory that is not empty; delete it with `recursive: true`")]
    NotEmpty(FilePath),
    /// It may not be changed.
    #[error("`{0}` is read-only")]
    Readonly(FilePath),
    /// The root stays.
    #[error("`/` cannot be deleted or written")]
    Root,
    /// There would be too much.
    #[error("{0}")]
    Full(String),
    /// What keeps the files does not work.
    #[error("the files of the session cannot be reached: {0}")]
    Unreachable(String),
}

/// Keeps the files of sessions.
///
/// Contract:
/// - Sessions do not see each other. A session that was never written to has an empty root; nothing needs to be made first.
/// - A write makes the folders above it. It happens whole or not at all, its folders and the quota included; of two at
///   once, one is after the other.
/// - Names count byte for byte: `A` and `a` are two.
/// - Lists are in the order of their paths' bytes.
/// - What has returned without an error outlives a crash, if the implementation outlives one at all.
pub trait SessionFiles: Send + Sync + 'static {
    /// Returns the content of a file.
    fn read(&self, session: &SessionId, path: &FilePath) -> Later<Result<Vec<u8>, FilesError>>;

    /// Writes a file, making or replacing it. A replaced file keeps when it was made.
    fn write(&self, session: &SessionId, file: NewFile, quota: Quota) -> Later<Result<Written, FilesError>>;

    /// Returns what is directly in a folder.
    fn list(&self, session: &SessionId, path: &FilePath) -> Later<Result<Vec<FileInfo>, FilesError>>;

    /// Returns every file of the session, without folders.
    fn files(&self, session: &SessionId) -> Later<Result<Vec<FileInfo>, FilesError>>;

    /// Returns what is known about a path, or nothing if there is nothing. The root always exists.
    fn stat(&self, session: &SessionId, path: &FilePath) -> Later<Result<Option<FileInfo>, FilesError>>;

    /// Deletes a file, or a folder; returns how many files and folders went. If anything in a folder is read-only,
    /// nothing goes.
    fn delete(&self, session: &SessionId, path: &FilePath, recursive: bool)
    -> Later<Result<u64, FilesError>>;
}
