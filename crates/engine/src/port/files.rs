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

impl FileInfo {
    /// Returns what is known about the root, which nobody made.
    pub fn root() -> Self {
        Self {
            path: FilePath::root(),
            is_directory: true,
            is_readonly: false,
            size_bytes: 0,
            created_at: Timestamp(0),
            updated_at: Timestamp(0),
        }
    }
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
    /// What whoever has the session may keep: more than its agent.
    pub const OWNER: Self = Self { file_bytes: 32 << 20, total_bytes: 256 << 20, entries: 10_000 };

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

/// When a file may be written or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Whatever is there.
    Always,
    /// If nothing is there.
    Missing,
    /// If something is there.
    Present,
    /// If it is the file that the caller has seen.
    Unchanged {
        /// When its content had last changed.
        updated_at: Timestamp,
        /// How many bytes it had.
        size_bytes: u64,
    },
}

impl Condition {
    /// Tells whether a file may be written or deleted where this is.
    pub fn holds(&self, path: &FilePath, before: Option<&FileInfo>) -> Result<(), FilesError> {
        let holds = match (self, before) {
            (Self::Always, _) | (Self::Missing, None) | (Self::Present, Some(_)) => true,
            (Self::Unchanged { updated_at, size_bytes }, Some(before)) => {
                before.updated_at == *updated_at && before.size_bytes == *size_bytes
            }
            _ => false,
        };
        if holds { Ok(()) } else { Err(FilesError::Changed(path.clone())) }
    }
}

/// A file, or a folder with all that is in it, on its way to a place where nothing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// What.
    pub from: FilePath,
    /// Where to.
    pub to: FilePath,
    /// Whether it stays where it is, too.
    pub keep: bool,
}

/// What a store knows about the two ends of a transfer.
#[derive(Debug)]
pub struct Ends<'a> {
    /// What is moved and everything below it.
    pub moved: &'a [FileInfo],
    /// What is at the other place.
    pub there: Option<&'a FileInfo>,
    /// The folders above that place, each with what is there.
    pub above: &'a [(FilePath, Option<FileInfo>)],
    /// Bytes in all files of the session.
    pub used: u64,
    /// Files and folders of the session.
    pub entries: u64,
}

/// What a transfer does.
#[derive(Debug, PartialEq, Eq)]
pub struct Steps {
    /// Folders that are made first.
    pub folders: Vec<FilePath>,
    /// Where each file and folder goes.
    pub paths: Vec<(FilePath, FilePath)>,
}

impl Transfer {
    /// Works out what is to be done, or why it may not be; written once here, so that every store means the same by it.
    pub fn steps(&self, ends: &Ends<'_>, quota: Quota) -> Result<Steps, FilesError> {
        let Self { from, to, keep } = self;
        if from.is_root() || to.is_root() {
            return Err(FilesError::Root);
        }
        if ends.moved.is_empty() {
            return Err(FilesError::Missing(from.clone()));
        }
        if to == from || to.is_below(from) || ends.there.is_some() {
            return Err(FilesError::Exists(to.clone()));
        }
        if let Some(readonly) = ends.moved.iter().find(|file| file.is_readonly && !keep) {
            return Err(FilesError::Readonly(readonly.path.clone()));
        }
        let mut folders = Vec::new();
        for (path, found) in ends.above {
            match found {
                None => folders.push(path.clone()),
                Some(found) if !found.is_directory => return Err(FilesError::NotDirectory(path.clone())),
                Some(_) => {}
            }
        }
        let copied = if *keep { ends.moved.len() as u64 } else { 0 };
        let bytes = if *keep { ends.moved.iter().map(|file| file.size_bytes).sum() } else { 0 };
        // No file is larger than one that is there.
        let most = Quota { file_bytes: u64::MAX, ..quota };
        most.holds(bytes, ends.used, ends.entries + copied + folders.len() as u64)?;
        let path = |file: &FileInfo| {
            let below = file.path.as_str().strip_prefix(from.as_str()).unwrap_or_default();
            let path = FilePath::parse(&format!("{to}{below}"));
            let path = path.map_err(|error| FilesError::Full(format!("`{to}{below}`: {error}")))?;
            Ok((file.path.clone(), path))
        };
        Ok(Steps { folders, paths: ends.moved.iter().map(path).collect::<Result<_, FilesError>>()? })
    }
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
    /// Something is there already, or it would be within itself.
    #[error("there is something at `{0}` already")]
    Exists(FilePath),
    /// It is not as the caller has seen it.
    #[error("`{0}` is not as it was: somebody else has changed it")]
    Changed(FilePath),
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

    /// Writes a file, making or replacing it. A replaced file keeps when it was made, and `updated_at` grows with every write.
    fn write(&self, session: &SessionId, file: NewFile, quota: Quota) -> Later<Result<Written, FilesError>> {
        self.write_when(session, file, quota, Condition::Always)
    }

    /// Writes a file if a condition holds; of two that expect the same, one is written.
    fn write_when(
        &self,
        session: &SessionId,
        file: NewFile,
        quota: Quota,
        condition: Condition,
    ) -> Later<Result<Written, FilesError>>;

    /// Moves or copies; returns how many files and folders. It happens whole or not at all. Copies can be changed.
    fn transfer(
        &self,
        session: &SessionId,
        transfer: Transfer,
        quota: Quota,
    ) -> Later<Result<u64, FilesError>>;

    /// Returns what is directly in a folder.
    fn list(&self, session: &SessionId, path: &FilePath) -> Later<Result<Vec<FileInfo>, FilesError>>;

    /// Returns every file of the session, without folders.
    fn files(&self, session: &SessionId) -> Later<Result<Vec<FileInfo>, FilesError>>;

    /// Returns what is known about a path, or nothing if there is nothing. The root always exists.
    fn stat(&self, session: &SessionId, path: &FilePath) -> Later<Result<Option<FileInfo>, FilesError>>;

    /// Deletes a file, or a folder; returns how many files and folders went. If anything in a folder is read-only,
    /// nothing goes.
    fn delete(
        &self,
        session: &SessionId,
        path: &FilePath,
        recursive: bool,
    ) -> Later<Result<u64, FilesError>> {
        self.delete_when(session, path, recursive, Condition::Always)
    }

    /// Deletes if a condition holds, of the file or of the folder itself. What is not there is [`FilesError::Missing`], whatever
    /// is expected.
    fn delete_when(
        &self,
        session: &SessionId,
        path: &FilePath,
        recursive: bool,
        condition: Condition,
    ) -> Later<Result<u64, FilesError>>;

    /// Forgets every file of a session, read-only ones too.
    fn forget(&self, session: &SessionId) -> Later<Result<(), FilesError>>;
}
