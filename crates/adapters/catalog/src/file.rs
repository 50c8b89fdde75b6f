//! Reading one definition file: regular, bounded, decoded.

use abide_core::diagnostic::{Code, Diagnostic};
use abide_formats::text::{LARGEST_FILE, decode, too_large};
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::SystemTime;

/// Which version of a file was read, to know cheaply whether it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    inode: u64,
}

/// Why a definition file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The system refused.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
    /// It was read, and is not a text file.
    #[error("{}", .0.message)]
    NotText(Box<Diagnostic>),
}

impl Unreadable {
    /// Returns the same as a diagnostic about the file.
    pub fn diagnostic(self) -> Diagnostic {
        match self {
            Self::NotText(diagnostic) => *diagnostic,
            Self::Io { source, .. } => {
                Diagnostic::whole_file(Code::Unreadable, format!("the file cannot be read: {source}"))
                    .help("check the file's permissions, or remove it")
            }
        }
    }
}

/// Returns the stamp of a file without reading it.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    std::fs::metadata(path).ok().map(|metadata| stamp_of(&metadata))
}

fn stamp_of(metadata: &Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt as _;
    Stamp { modified: metadata.modified().ok(), size: metadata.len(), inode: metadata.ino() }
}

/// Reads the bytes of a file into `buffer`; of one that is too large, as many as a definition may have.
pub(crate) fn read_bytes(path: &Path, buffer: &mut Vec<u8>) -> Result<Stamp, Unreadable> {
    let failed = |source| Unreadable::Io { path: path.display().to_string(), source };
    buffer.clear();
    // Opening a pipe would otherwise wait for somebody to write into it; for a file it means nothing.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
    }
    let known_size = usize::try_from(metadata.len()).unwrap_or(usize::MAX).min(LARGEST_FILE);
    buffer.reserve(known_size + 1);
    file.take(LARGEST_FILE as u64 + 1).read_to_end(buffer).map_err(failed)?;
    if buffer.len() > LARGEST_FILE {
        let size = metadata.len().max(buffer.len() as u64);
        buffer.truncate(LARGEST_FILE);
        return Err(Unreadable::NotText(Box::new(too_large(size))));
    }
    Ok(stamp_of(&metadata))
}

/// Reads a definition file as text, without its byte-order mark.
pub fn read_text(path: &Path) -> Result<String, Unreadable> {
    let mut buffer = Vec::new();
    read_bytes(path, &mut buffer)?;
    decode(&buffer).map(str::to_owned).map_err(Unreadable::NotText)
}
