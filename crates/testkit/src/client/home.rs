//! A home of its own for a client.

use super::ClientError;
use std::path::Path;

/// A folder that stands in for the user's home, and is gone when this is dropped.
#[derive(Debug)]
pub(super) struct Home(tempfile::TempDir);

impl Home {
    pub(super) fn new() -> Result<Self, ClientError> {
        let folder = tempfile::Builder::new().prefix("abide-client-").tempdir();
        let home = Self(folder.map_err(|error| ClientError::file(&std::env::temp_dir(), error))?);
        make_folder(&home.path().join("tmp"))?;
        Ok(home)
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file of the home.
    pub(super) fn write(&self, file: &str, text: &str) -> Result<(), ClientError> {
        write(&self.path().join(file), text)
    }
}

#[expect(clippy::disallowed_methods, reason = "a home is made on the disk")]
pub(super) fn write(path: &Path, text: &str) -> Result<(), ClientError> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    std::fs::write(path, text).map_err(|error| ClientError::file(path, error))
}

#[expect(clippy::disallowed_methods, reason = "a home is made on the disk")]
pub(super) fn make_folder(path: &Path) -> Result<(), ClientError> {
    std::fs::create_dir_all(path).map_err(|error| ClientError::file(path, error))
}
