//! What was read before: a file that has not changed is not read again.
//!
//! In memory, for a process that stays. What is kept is shared with what the scan found, so that keeping it costs next to
//! nothing in a process that looks once.

use super::SkillSummary;
use crate::file::Stamp;
use abide_core::diagnostic::Diagnostic;
use std::path::Path;
use std::sync::Arc;

/// What came of reading one file.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) summary: Option<Arc<SkillSummary>>,
    pub(super) problems: Vec<Diagnostic>,
}

/// The files that the last scan read, by path and version.
#[derive(Debug, Default)]
pub(crate) struct SkillCache {
    /// In the order of their paths, byte by byte.
    known: Vec<Known>,
    /// What the scan that is under way has seen.
    seen: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    path: Arc<Path>,
    stamp: Stamp,
    read: Read,
}

impl Known {
    fn key(&self) -> &[u8] {
        key(&self.path)
    }
}

fn key(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

impl SkillCache {
    /// Says that a scan is over: what it did not see is forgotten.
    pub(super) fn end(&mut self) {
        self.known = std::mem::take(&mut self.seen);
        self.known.sort_unstable_by(|one, other| one.key().cmp(other.key()));
    }

    /// Returns whether nothing is known, so that no file need be looked at twice.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns what is known about a version of a file.
    pub(super) fn get(&self, path: &Path, stamp: Stamp) -> Option<Read> {
        let at = self.known.binary_search_by(|known| known.key().cmp(key(path))).ok()?;
        let known = &self.known[at];
        (known.stamp == stamp).then(|| known.read.clone())
    }

    /// Remembers a version of a file.
    pub(super) fn put(&mut self, path: &Arc<Path>, stamp: Stamp, read: &Read) {
        self.seen.push(Known { path: Arc::clone(path), stamp, read: read.clone() });
    }
}
