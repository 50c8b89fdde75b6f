//! What the user trusts: files of a project that run code, each by the digest of what it said when they looked.
//!
//! Opening a project must not be enough to run what its author wrote. A trusted thing is one small file in the user's
//! configuration, named by its kind and place, that holds the digest; a change of the content makes it untrusted again.

use crate::Place;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// What kind of thing is trusted; the same file may be trusted as one and not as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustKind {
    /// A file of tools.
    Capability,
    /// An MCP server that a configuration names.
    Server,
    /// A skill.
    Skill,
}

impl TrustKind {
    fn word(self) -> &'static str {
        match self {
            Self::Capability => "capability",
            Self::Server => "server",
            Self::Skill => "skill",
        }
    }
}

/// Why trust could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what} {path}: {source}")]
pub struct TrustError {
    what: &'static str,
    path: String,
    source: io::Error,
}

/// The user's trust.
#[derive(Debug, Clone)]
pub struct Trust {
    folder: PathBuf,
}

/// How long a file of trust may be: a digest, and what it is about.
const LONGEST: u64 = 16 * 1024;

impl Trust {
    /// Returns the trust of the user whose settings apply; nobody's where there is no configuration folder.
    pub fn of(place: &Place) -> Option<Self> {
        place.config_home.as_ref().map(|folder| Self { folder: folder.join("abide/trust") })
    }

    /// Tells whether the user trusts what has this digest now. What cannot be read is not trusted.
    pub fn holds(&self, kind: TrustKind, at: &str, digest: &str) -> bool {
        let mut text = String::new();
        let read =
            fs::File::open(self.file(kind, at)).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
        read.is_ok() && text.lines().next() == Some(digest)
    }

    /// Tells whether the user has ever trusted something at this place.
    pub fn knows(&self, kind: TrustKind, at: &str) -> bool {
        self.file(kind, at).exists()
    }

    /// Trusts what has this digest, in place of what was trusted there before.
    pub fn trust(&self, kind: TrustKind, at: &str, digest: &str) -> Result<(), TrustError> {
        let file = self.file(kind, at);
        let failed = |what| {
            let path = file.display().to_string();
            move |source| TrustError { what, path, source }
        };
        fs::create_dir_all(&self.folder).map_err(failed("make the folder of"))?;
        let new = file.with_extension(format!("{}.new", std::process::id()));
        let written = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)
            .and_then(|mut out| {
                write!(out, "{digest}\n{} {}\n", kind.word(), at.replace('\n', " "))?;
                out.sync_all()
            })
            .and_then(|()| fs::rename(&new, &file));
        written.map_err(failed("write"))
    }

    /// Trusts it no longer; returns whether it was trusted.
    pub fn forget(&self, kind: TrustKind, at: &str) -> Result<bool, TrustError> {
        let file = self.file(kind, at);
        match fs::remove_file(&file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(TrustError { what: "remove", path: file.display().to_string(), source }),
        }
    }

    fn file(&self, kind: TrustKind, at: &str) -> PathBuf {
        self.folder.join(digest([kind.word().as_bytes(), at.as_bytes()]))
    }
}

/// Returns the digest of several parts; where one ends and the next begins counts.
pub fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns how a file is named in the user's trust: by its real path.
pub(crate) fn place_of(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf()).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_about_one_content_at_one_place_as_one_kind() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place {
            start: folder.path().into(),
            home: None,
            config_home: Some(folder.path().join("config")),
        };
        let trust = Trust::of(&place).unwrap();
        let (one, other) = (digest([b"one".as_slice()]), digest([b"other".as_slice()]));
        assert!(!trust.holds(TrustKind::Capability, "/a", &one));
        trust.trust(TrustKind::Capability, "/a", &one).unwrap();
        assert!(trust.holds(TrustKind::Capability, "/a", &one));
        for (kind, at, digest) in [
            (TrustKind::Capability, "/a", &other),
            (TrustKind::Capability, "/b", &one),
            (TrustKind::Skill, "/a", &one),
        ] {
            assert!(!trust.holds(kind, at, digest), "{kind:?} {at}");
        }
        trust.trust(TrustKind::Capability, "/a", &other).unwrap();
        assert!(!trust.holds(TrustKind::Capability, "/a", &one));
        assert!(trust.forget(TrustKind::Capability, "/a").unwrap());
        assert!(!trust.forget(TrustKind::Capability, "/a").unwrap());
        assert!(!trust.holds(TrustKind::Capability, "/a", &other));
        assert_ne!(digest([b"ab".as_slice(), b"c"]), digest([b"a".as_slice(), b"bc"]));
        assert!(Trust::of(&Place { config_home: None, ..place }).is_none());
    }
}
