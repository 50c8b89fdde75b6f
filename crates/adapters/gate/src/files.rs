//! Small files that are replaced as a whole.

use rustix::fs::OFlags;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The largest file about a session that is read: nothing that is written there comes near it.
const LARGEST: u64 = 1024 * 1024;
/// The same about a project, which has at most 20,000 files to be told about.
const LARGEST_OF_PROJECT: u64 = 32 * 1024 * 1024;

/// Why the gate's files could not be used.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The system refused.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file holds something else than abide writes there.
    #[error("a file of the gate is damaged ({why}): {path}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl GateError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io { what, path, source }
    }
}

/// Returns a name for a file about something that may be called anything.
pub(crate) fn name_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).fold(String::with_capacity(32), |mut name, byte| {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
        name
    })
}

/// Reads a file about a session, if there is one.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, GateError> {
    read_within(path, LARGEST)
}

/// Reads a file about a project, if there is one.
pub(crate) fn read_large<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, GateError> {
    read_within(path, LARGEST_OF_PROJECT)
}

/// Reads a file about a project as it is, if there is one.
pub(crate) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, GateError> {
    bytes_within(path, LARGEST_OF_PROJECT)
}

/// Opens a file about a project, if there is one.
pub(crate) fn open_large(path: &Path) -> Result<Option<(File, Metadata)>, GateError> {
    open_within(path, LARGEST_OF_PROJECT)
}

fn read_within<T: DeserializeOwned>(path: &Path, largest: u64) -> Result<Option<T>, GateError> {
    let Some(text) = bytes_within(path, largest)? else { return Ok(None) };
    let damaged = |why: String| GateError::Damaged { path: path.to_path_buf(), why };
    serde_json::from_slice(&text).map(Some).map_err(|error| damaged(error.to_string()))
}

fn open_within(path: &Path, largest: u64) -> Result<Option<(File, Metadata)>, GateError> {
    // What is no file must not hold up whoever opens it.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = match File::options().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(GateError::io("read", path))?,
    };
    let metadata = file.metadata().map_err(GateError::io("read", path))?;
    if !metadata.is_file() || metadata.len() > largest {
        let why = "it is no file of a size that it could have".to_owned();
        return Err(GateError::Damaged { path: path.to_path_buf(), why });
    }
    Ok(Some((file, metadata)))
}

fn bytes_within(path: &Path, largest: u64) -> Result<Option<Vec<u8>>, GateError> {
    let Some((mut file, metadata)) = open_within(path, largest)? else { return Ok(None) };
    // Room for one byte more, so that the end is seen without asking for more memory.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    (&mut file).take(largest).read_to_end(&mut bytes).map_err(GateError::io("read", path))?;
    Ok(Some(bytes))
}

/// Writes a file in place of one that may be there.
pub(crate) fn replace(path: &Path, content: &impl Serialize) -> Result<(), GateError> {
    replace_bytes(path, &json(path, content)?, None)
}

/// The same with bytes, and with the time that the file is to have.
pub(crate) fn replace_bytes(
    path: &Path,
    bytes: &[u8],
    modified: Option<SystemTime>,
) -> Result<(), GateError> {
    let temporary = write_beside(path, bytes, modified)?;
    fs::rename(&temporary, path).map_err(GateError::io("write", path)).inspect_err(|_| forget(&temporary))
}

fn json(path: &Path, content: &impl Serialize) -> Result<Vec<u8>, GateError> {
    serde_json::to_vec(content)
        .map_err(|error| GateError::Damaged { path: path.to_path_buf(), why: error.to_string() })
}

/// Writes a file where none is; returns whether that was so.
pub(crate) fn create(path: &Path, content: &impl Serialize) -> Result<bool, GateError> {
    let temporary = write_beside(path, &json(path, content)?, None)?;
    // A link is made whole or not at all, and never over another file.
    let linked = fs::hard_link(&temporary, path);
    forget(&temporary);
    match linked {
        Ok(()) => {
            // The name must outlive a power cut as the content does: without it, nobody would be held to the run.
            if let Some(folder) = path.parent() {
                File::open(folder)
                    .and_then(|folder| folder.sync_all())
                    .map_err(GateError::io("write", path))?;
            }
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(GateError::io("write", path)(error)),
    }
}

/// Removes a file, if there is one.
pub(crate) fn remove(path: &Path) -> Result<(), GateError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(GateError::io("remove", path)),
    }
}

fn write_beside(path: &Path, bytes: &[u8], modified: Option<SystemTime>) -> Result<PathBuf, GateError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(GateError::io("make", folder))?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{count}.new", std::process::id()));
    let written =
        File::options().write(true).create(true).truncate(true).mode(0o600).open(&temporary).and_then(
            |mut file| {
                file.write_all(bytes)?;
                modified.map_or(Ok(()), |modified| file.set_modified(modified))?;
                file.sync_all()
            },
        );
    written.map_err(GateError::io("write", &temporary)).inspect_err(|_| forget(&temporary))?;
    Ok(temporary)
}

/// Removes a file that nobody looks for; one that stays is only a little space.
fn forget(path: &Path) {
    let _ = fs::remove_file(path);
}
