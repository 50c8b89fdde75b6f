//! The digests that the user said yes to.

use crate::{Digest, TrustError, file};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the user trusts, in one file of their own.
#[derive(Debug, Clone)]
pub struct Trust(PathBuf);

/// What the user said about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Yes, to just what it holds.
    Trusted,
    /// Yes, and it has changed since.
    Changed,
    /// Nothing.
    Unknown,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    /// What kind of thing → its folder → the digest.
    trusted: BTreeMap<String, BTreeMap<String, String>>,
}

const VERSION: u32 = 1;

impl Trust {
    /// Uses the file of this path, which need not exist.
    pub fn at(path: PathBuf) -> Self {
        Self(path)
    }

    fn load(&self) -> Result<Stored, TrustError> {
        let stored: Option<Stored> = file::read(&self.0)?;
        match stored {
            None => Ok(Stored { version: VERSION, trusted: BTreeMap::new() }),
            Some(stored) if stored.version == VERSION => Ok(stored),
            Some(stored) => Err(TrustError::Damaged {
                path: self.0.clone(),
                why: format!("its version is {}, and this abide knows {VERSION}", stored.version),
            }),
        }
    }

    /// Returns what the user said about a folder that holds `digest` now. `kind` keeps different things apart.
    pub fn standing(&self, kind: &str, folder: &Path, digest: &Digest) -> Result<Standing, TrustError> {
        let stored = self.load()?;
        let known = stored.trusted.get(kind).and_then(|folders| folders.get(&*key(folder)));
        Ok(match known {
            None => Standing::Unknown,
            Some(known) if known == digest.as_str() => Standing::Trusted,
            Some(_) => Standing::Changed,
        })
    }

    /// Remembers that the user trusts a folder as it is now.
    pub fn trust(&self, kind: &str, folder: &Path, digest: &Digest) -> Result<(), TrustError> {
        let mut stored = self.load()?;
        let folders = stored.trusted.entry(kind.to_owned()).or_default();
        folders.insert(key(folder), digest.as_str().to_owned());
        file::write(&self.0, &stored, 0o600)
    }

    /// Forgets that the user trusts a folder; returns whether they did.
    pub fn untrust(&self, kind: &str, folder: &Path) -> Result<bool, TrustError> {
        let mut stored = self.load()?;
        let removed =
            stored.trusted.get_mut(kind).is_some_and(|folders| folders.remove(&key(folder)).is_some());
        if removed {
            file::write(&self.0, &stored, 0o600)?;
        }
        Ok(removed)
    }
}

/// Returns the one name of a folder.
fn key(folder: &Path) -> String {
    folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_holds_until_something_changes() {
        let home = tempfile::tempdir().unwrap();
        let trust = Trust::at(home.path().join("state/trust.json"));
        let digest = |letter: &str| Digest::parse(&format!("sha256:{}", letter.repeat(64))).unwrap();
        let (one, two) = (digest("a"), digest("b"));
        let folder = home.path();
        assert_eq!(trust.standing("skill", folder, &one).unwrap(), Standing::Unknown);
        trust.trust("skill", folder, &one).unwrap();
        assert_eq!(trust.standing("skill", folder, &one).unwrap(), Standing::Trusted);
        assert_eq!(trust.standing("skill", folder, &two).unwrap(), Standing::Changed);
        assert_eq!(trust.standing("capability", folder, &one).unwrap(), Standing::Unknown);
        assert!(trust.untrust("skill", folder).unwrap());
        assert!(!trust.untrust("skill", folder).unwrap());
        assert_eq!(trust.standing("skill", folder, &one).unwrap(), Standing::Unknown);
    }

    #[test]
    fn a_damaged_file_trusts_nothing() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("trust.json");
        std::fs::write(&path, "{").unwrap();
        let digest = Digest::parse(&format!("sha256:{}", "a".repeat(64))).unwrap();
        assert!(Trust::at(path).standing("skill", home.path(), &digest).is_err());
    }
}
