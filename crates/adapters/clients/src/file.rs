//! Files of somebody else: read within bounds, written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// No configuration file is larger; Claude Code's own, with its history, was seen at a few megabytes.
const LARGEST: u64 = 64 << 20;

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("cannot {verb} {}: {source}", path.display())]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It is something that cannot be edited.
    #[error("{} {what}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Somebody else wrote it between the reading and the writing.
    #[error("{} was changed by somebody else just now; nothing was written to it", .0.display())]
    Changed(PathBuf),
}

impl FileError {
    fn io(verb: &'static str, path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Io { verb, path: path.clone(), source }
    }
}

/// Reads a text file; nothing if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<String>, FileError> {
    let unfit = |what| FileError::Unfit { path: path.to_path_buf(), what };
    let failed = FileError::io("read", path);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(found) if found.is_symlink() && !path.exists() => return Err(unfit("is a link to nothing")),
        Ok(_) => {}
    }
    // Asked before it is opened: opening a pipe would wait for somebody to write into it.
    if !fs::metadata(path).map_err(&failed)?.is_file() {
        return Err(unfit("is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)).map_err(&failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(unfit("is too large to be a configuration file"));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| unfit("is not UTF-8"))
}

/// Replaces a file, or makes it, if it still holds what was read; links and rights stay as they are.
///
/// Returns the folders that were made for it, outermost first.
pub(crate) fn write(
    path: &Path,
    before: Option<&str>,
    text: &str,
    private: bool,
) -> Result<Vec<PathBuf>, FileError> {
    // The file behind a link is replaced, not the link.
    let target = if before.is_some() {
        path.canonicalize().map_err(FileError::io("read", path))?
    } else {
        path.to_path_buf()
    };
    let failed = FileError::io("write", &target);
    let folder = target.parent().unwrap_or(Path::new("."));
    let made: Vec<PathBuf> =
        folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
    fs::create_dir_all(folder).map_err(&failed)?;
    let mut new = tempfile::Builder::new().prefix(".abide-").tempfile_in(folder).map_err(&failed)?;
    new.write_all(text.as_bytes()).map_err(&failed)?;
    if before.is_some() {
        let rights = fs::metadata(&target).map_err(&failed)?.permissions();
        new.as_file().set_permissions(rights).map_err(&failed)?;
    } else if !private {
        // A temporary file is for its owner alone; a new file has the rights that the user's mask leaves.
        let rights = fs::metadata(folder).map_err(&failed)?.permissions();
        new.as_file().set_permissions(without_execution(&rights)).map_err(&failed)?;
    }
    new.as_file().sync_all().map_err(&failed)?;
    if read(path)?.as_deref() != before {
        return Err(FileError::Changed(path.to_path_buf()));
    }
    match before {
        Some(_) => new.persist(&target).map_err(|error| failed(error.error))?,
        None => new.persist_noclobber(&target).map_err(|error| failed(error.error))?,
    };
    Ok(made.into_iter().rev().collect())
}

/// Takes the rights of the folder, which the user's mask made, for a file in it.
fn without_execution(rights: &fs::Permissions) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    fs::Permissions::from_mode(rights.mode() & 0o644 | 0o600)
}

/// Removes a file that still holds what was read, and the folders that were made for it if they are empty.
pub(crate) fn remove(path: &Path, before: &str, made: &[PathBuf]) -> Result<(), FileError> {
    if read(path)?.as_deref() != Some(before) {
        return Err(FileError::Changed(path.to_path_buf()));
    }
    fs::remove_file(path).map_err(FileError::io("remove", path))?;
    for folder in made.iter().rev() {
        // One that holds something of the user's stays.
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}
