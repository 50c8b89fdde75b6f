//! A project's own list of digests: what everybody who works on it agreed on.

use crate::{Digest, TrustError, file};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// What a project agreed on, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock(pub BTreeMap<String, Locked>);

/// One thing of a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// Where it lies, relative to the project.
    pub path: String,
    /// What it holds.
    pub digest: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    locked: BTreeMap<String, Locked>,
}

const VERSION: u32 = 1;

impl Lock {
    /// Reads a lock; `None` when there is none.
    pub fn read(path: &Path) -> Result<Option<Self>, TrustError> {
        let Some(stored) = file::read::<Stored>(path)? else { return Ok(None) };
        let damaged = |why: String| TrustError::Damaged { path: path.to_path_buf(), why };
        if stored.version != VERSION {
            return Err(damaged(format!(
                "its version is {}, and this abide knows {VERSION}",
                stored.version
            )));
        }
        if let Some((name, _)) =
            stored.locked.iter().find(|(_, locked)| Digest::parse(&locked.digest).is_none())
        {
            return Err(damaged(format!("`{name}` has no digest")));
        }
        Ok(Some(Self(stored.locked)))
    }

    /// Writes the lock in place of the one that may be there.
    pub fn write(&self, path: &Path) -> Result<(), TrustError> {
        file::write(path, &Stored { version: VERSION, locked: self.0.clone() }, 0o644)
    }
}
