//! Small JSON files that are replaced as a whole.

use crate::TrustError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

const LARGEST: u64 = 16 * 1024 * 1024;

/// Reads a file; `None` when there is none.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, TrustError> {
    let damaged = |why: String| TrustError::Damaged { path: path.to_path_buf(), why };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(TrustError::io("read", path)(error)),
        Ok(metadata) if !metadata.is_file() || metadata.len() > LARGEST => {
            return Err(damaged("it is no file of a size that it could have".to_owned()));
        }
        Ok(_) => {}
    }
    let text = fs::read(path).map_err(TrustError::io("read", path))?;
    serde_json::from_slice(&text).map(Some).map_err(|error| damaged(error.to_string()))
}

/// Writes a file in place of the one that may be there.
pub(crate) fn write(path: &Path, content: &impl Serialize, mode: u32) -> Result<(), TrustError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(TrustError::io("make", folder))?;
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}", std::process::id()));
    let temporary = Path::new(&temporary);
    // What a process of this number left behind may be in the way.
    let _ = fs::remove_file(temporary);
    let failed = |error| TrustError::io("write", path)(error);
    let mut file = File::options().write(true).create_new(true).mode(mode).open(temporary).map_err(failed)?;
    // Strings and maps with text keys always serialise.
    let mut text = serde_json::to_vec_pretty(content).unwrap_or_default();
    text.push(b'\n');
    let written =
        file.write_all(&text).and_then(|()| file.sync_all()).and_then(|()| fs::rename(temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(temporary);
    }
    written.map_err(failed)
}
