//! What was read before: a file that has not changed is not read again.
//!
//! In memory for a process that stays. A copy on the disk serves the next process; it is only ever a shortcut, holds
//! nothing that trust depends on, and is left alone when it cannot be read.

use super::SkillSummary;
use crate::file::Stamp;
use abide_core::diagnostic::Diagnostic;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What came of reading one file.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub(super) summary: Option<Arc<SkillSummary>>,
    pub(super) problems: Vec<Diagnostic>,
}

/// The files that were read, by path and version.
#[derive(Debug, Default)]
pub(crate) struct SkillCache {
    known: HashMap<PathBuf, Known>,
    scan: u64,
}

#[derive(Debug)]
struct Known {
    stamp: Stamp,
    read: Arc<Read>,
    /// The scan that saw it last.
    seen: u64,
}

impl SkillCache {
    /// Says that a scan begins.
    pub(super) fn begin(&mut self) {
        self.scan += 1;
    }

    /// Forgets what the scan did not see.
    pub(super) fn end(&mut self) {
        let scan = self.scan;
        self.known.retain(|_, known| known.seen == scan);
    }

    /// Returns whether nothing is known, so that no file need be looked at twice.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns what is known about a version of a file.
    pub(super) fn get(&self, path: &Path, stamp: Stamp) -> Option<Arc<Read>> {
        self.known.get(path).filter(|known| known.stamp == stamp).map(|known| Arc::clone(&known.read))
    }

    /// Remembers a version of a file.
    pub(super) fn put(&mut self, path: &Path, stamp: Stamp, read: Arc<Read>) {
        self.known.insert(path.to_path_buf(), Known { stamp, read, seen: self.scan });
    }
}
