//! Noticing edits, so that a long-lived process sees them without a restart.

use crate::{Catalog, abilities};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long the disk must be quiet before a change counts as finished: editors write in several steps.
const QUIET: Duration = Duration::from_millis(80);

/// Watches the files of a catalog.
pub struct Watch {
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<notify::Event>>,
    watched: Vec<PathBuf>,
}

/// Why files cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The system refused to watch.
    #[error("cannot watch {path}: {source}")]
    Refused {
        /// The folder.
        path: String,
        /// The system's reason.
        source: notify::Error,
    },
    /// The watcher itself could not be started.
    #[error("cannot watch files: {0}")]
    Start(notify::Error),
    /// The watcher has ended.
    #[error("the file watcher has ended")]
    Ended,
}

impl Watch {
    /// Starts watching the files of a catalog.
    pub fn start(catalog: &Catalog) -> Result<Self, WatchError> {
        let (sender, events) = channel();
        let watcher = notify::recommended_watcher(sender).map_err(WatchError::Start)?;
        let mut watch = Self { watcher, events, watched: Vec::new() };
        watch.follow(catalog)?;
        Ok(watch)
    }

    /// Watches folders that have come into being, and the nearest existing parent of those that have not.
    fn follow(&mut self, catalog: &Catalog) -> Result<(), WatchError> {
        let place = catalog.place();
        let mut wanted: Vec<(PathBuf, RecursiveMode)> = Vec::new();
        for folder in abilities::folders(place, catalog.configuration()) {
            match folder.path.ancestors().find(|path| path.is_dir()) {
                Some(path) if path == folder.path => wanted.push((path.into(), RecursiveMode::Recursive)),
                Some(path) => wanted.push((path.into(), RecursiveMode::NonRecursive)),
                None => {}
            }
        }
        for folder in place.project_folders() {
            for name in [".abide", ".abide/agents", ".opencode", ".claude", ".claude/agents"] {
                let path = folder.join(name);
                if path.is_dir() {
                    wanted.push((path, RecursiveMode::NonRecursive));
                }
            }
        }
        for (path, mode) in wanted {
            if self.watched.contains(&path) {
                continue;
            }
            self.watcher
                .watch(&path, mode)
                .map_err(|source| WatchError::Refused { path: path.display().to_string(), source })?;
            self.watched.push(path);
        }
        Ok(())
    }

    /// Waits until something changed and the disk is quiet again, or until `longest` has passed.
    ///
    /// Returns whether something changed.
    pub fn wait(&mut self, catalog: &Catalog, longest: Duration) -> Result<bool, WatchError> {
        let mut changed = match self.events.recv_timeout(longest) {
            Ok(event) => is_change(&event),
            Err(RecvTimeoutError::Timeout) => return Ok(false),
            Err(RecvTimeoutError::Disconnected) => return Err(WatchError::Ended),
        };
        loop {
            match self.events.recv_timeout(QUIET) {
                Ok(event) => changed |= is_change(&event),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return Err(WatchError::Ended),
            }
        }
        if changed {
            self.watched.retain(|path| Path::is_dir(path));
            self.follow(catalog)?;
        }
        Ok(changed)
    }
}

/// An error of the watcher means that events may be lost: looking again is the safe answer.
fn is_change(event: &notify::Result<notify::Event>) -> bool {
    event.as_ref().map_or(true, |event| !event.kind.is_access())
}
