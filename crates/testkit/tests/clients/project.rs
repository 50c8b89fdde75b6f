//! A project for a client to work in.

use std::path::Path;

/// A folder that is gone when this is dropped.
pub(crate) struct Project(tempfile::TempDir);

impl Project {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.root().join(file)).ok()
    }
}
