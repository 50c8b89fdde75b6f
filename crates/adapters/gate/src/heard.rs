//! When a client last asked: some say nothing when they skip their hooks, so silence is the only sign.

use crate::files::{self, GateError};
use crate::{Gate, word};
use abide_core::policy::Client;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The last time that a session of a client began and asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heard {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The abide that answered.
    pub version: String,
}

impl Gate {
    /// Notes that a session of a client has begun in a project, and asked.
    pub fn hear(&self, client: Client, root: &Path, heard: &Heard) -> Result<(), GateError> {
        files::replace(&self.heard_file(client, root), heard)
    }

    /// Returns when a session of a client last began in a project, and asked.
    pub fn heard(&self, client: Client, root: &Path) -> Result<Option<Heard>, GateError> {
        files::read(&self.heard_file(client, root))
    }

    fn heard_file(&self, client: Client, root: &Path) -> PathBuf {
        let name = files::name_of(root.as_os_str().as_encoded_bytes());
        self.folder.join("heard").join(format!("{}-{name}.json", word(client)))
    }
}
