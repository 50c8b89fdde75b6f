//! Where the clients are: in a folder that `./test tools` fills from npm.

use super::ClientError;
use std::path::{Path, PathBuf};

/// The environment variable that names the folder.
pub const VARIABLE: &str = "ABIDE_CLIENTS";

/// The folder in which the clients were installed.
#[derive(Debug, Clone)]
pub struct Installed {
    folder: PathBuf,
}

impl Installed {
    /// Finds them by [`VARIABLE`].
    #[expect(clippy::disallowed_methods, reason = "a test is told by its environment where the clients are")]
    pub fn find() -> Result<Self, ClientError> {
        let folder = std::env::var(VARIABLE).map_err(|_| ClientError::Unknown)?;
        Self::at(Path::new(&folder))
    }

    /// Takes those of a folder.
    pub fn at(folder: &Path) -> Result<Self, ClientError> {
        let folder = folder.canonicalize().map_err(|_| ClientError::Absent(folder.to_owned()))?;
        Ok(Self { folder })
    }

    /// Returns a client's program.
    pub(super) fn program(&self, name: &str) -> Result<String, ClientError> {
        existing(self.folder.join("node_modules/.bin").join(name))?
            .into_os_string()
            .into_string()
            .map_err(|path| ClientError::Absent(path.into()))
    }

    /// Returns the folder with what OpenCode would otherwise install into each of its configuration folders.
    pub(super) fn opencode_packages(&self) -> Result<PathBuf, ClientError> {
        let folder = self.folder.join("opencode");
        existing(folder.join("node_modules/@opencode-ai/plugin"))?;
        Ok(folder)
    }
}

fn existing(path: PathBuf) -> Result<PathBuf, ClientError> {
    if path.exists() { Ok(path) } else { Err(ClientError::Absent(path)) }
}
