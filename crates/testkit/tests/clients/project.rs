//! A project for a client to work in.

use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
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

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.root().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a script that can be called by the path that is returned.
    pub(crate) fn script(&self, file: &str, text: &str) -> String {
        self.write(file, &format!("#!/bin/sh\nset -eu\n{text}\n"));
        let path = self.root().join(file);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.root().join(file)).ok()
    }

    /// Reads a file of one JSON document a line.
    pub(crate) fn lines(&self, file: &str) -> Vec<Value> {
        let text = self.read(file).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
