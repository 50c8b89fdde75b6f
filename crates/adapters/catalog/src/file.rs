//! Reading one definition file: regular, bounded, decoded.

use abide_core::diagnostic::{Code, Diagnostic};
use abide_formats::text::{LARGEST_FILE, decode, too_large};
use rustix::buffer::spare_capacity;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, openat};
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Which version of a file was read, to know cheaply whether it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: (i64, i64),
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
    rustix::fs::stat(path).ok().map(|metadata| stamp_of(&metadata))
}

#[expect(
    clippy::unnecessary_cast,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "what the numbers are differs between systems, and they are only compared with themselves"
)]
fn stamp_of(metadata: &Stat) -> Stamp {
    let modified = (metadata.st_mtime as i64, metadata.st_mtime_nsec as i64);
    Stamp { modified, size: metadata.st_size as u64, inode: metadata.st_ino as u64 }
}

/// Reads the bytes of a file into `buffer`; of one that is too large, as many as a definition may have.
pub(crate) fn read_bytes(path: &Path, buffer: &mut Vec<u8>) -> Result<Stamp, Unreadable> {
    let failed = |source| Unreadable::Io { path: path.display().to_string(), source };
    // Opening a pipe would otherwise wait for somebody to write into it; for a file it means nothing.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(failed)?;
    read_opened(&file, path, buffer)
}

/// Reads the bytes of a file in a folder that is open; it must be no link.
pub(crate) fn read_bytes_at(
    folder: BorrowedFd<'_>,
    name: &CStr,
    path: &Path,
    buffer: &mut Vec<u8>,
) -> Result<Stamp, Unreadable> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(folder, name, flags, Mode::empty());
    let failed = |source: io::Error| Unreadable::Io { path: path.display().to_string(), source };
    read_opened(&File::from(opened.map_err(|error| failed(error.into()))?), path, buffer)
}

fn read_opened(file: &File, path: &Path, buffer: &mut Vec<u8>) -> Result<Stamp, Unreadable> {
    let failed = |source| Unreadable::Io { path: path.display().to_string(), source };
    buffer.clear();
    let metadata = fstat(file).map_err(|error| failed(error.into()))?;
    if FileType::from_raw_mode(metadata.st_mode) != FileType::RegularFile {
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
    }
    let size = u64::try_from(metadata.st_size).unwrap_or_default();
    let known_size = usize::try_from(size).unwrap_or(usize::MAX).min(LARGEST_FILE);
    // One byte more than there should be: a read that leaves it free has come to the end.
    if buffer.capacity() <= known_size {
        buffer.reserve_exact(known_size + 1);
    }
    let first = rustix::io::read(file, spare_capacity(buffer)).map_err(|error| failed(error.into()))?;
    if first != known_size {
        // It grew, or came in parts.
        file.take((LARGEST_FILE + 1).saturating_sub(first) as u64).read_to_end(buffer).map_err(failed)?;
    }
    if buffer.len() > LARGEST_FILE {
        let size = size.max(buffer.len() as u64);
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
