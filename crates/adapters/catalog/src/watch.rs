//! Noticing edits, so that a long-lived process sees them without a restart.
//!
//! Folders with definitions are watched with everything below them; the folders above them too, because a
//! folder may come into being, go, or be swapped for another of the same name. [`Watch::follow`] is told
//! after each change what matters now; [`Watch::wait`] ignores what does not.

use crate::{Catalog, Configuration, abilities, agents, skills};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long the disk must be quiet before a change counts as finished: editors write in several steps.
const QUIET: Duration = Duration::from_millis(80);
/// How long a change may take to be finished; then it is looked at, quiet or not.
const BUSY: Duration = Duration::from_secs(1);
/// How many folders above a definition are watched: `.abide/abilities` lies two below the project.
const ABOVE: usize = 2;

/// Watches the files of a catalog.
pub struct Watch {
    watcher: RecommendedWatcher,
    events: Receiver<notify::Result<notify::Event>>,
    /// What is watched, and which folder it was when that began.
    watched: BTreeMap<PathBuf, (RecursiveMode, Identity)>,
    /// The files and folders that matter.
    wanted: Vec<PathBuf>,
}

/// Which folder has a name now: two of one name, one after the other, are not the same.
type Identity = (u64, u64);

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
    /// Starts a watch that follows nothing yet.
    pub fn start() -> Result<Self, WatchError> {
        let (sender, events) = channel();
        let watcher = notify::recommended_watcher(sender).map_err(WatchError::Start)?;
        Ok(Self { watcher, events, watched: BTreeMap::new(), wanted: Vec::new() })
    }

    /// Watches what matters to a catalog as it and the disk are now; to be called before each scan.
    pub fn follow(&mut self, catalog: &Catalog) -> Result<(), WatchError> {
        let (files, folders) = definitions(catalog);
        let mut needed: BTreeMap<PathBuf, (RecursiveMode, Identity)> = BTreeMap::new();
        for path in folders.iter().chain(&files) {
            let mut above = path.ancestors().skip(1).take(ABOVE).filter(|folder| folder.is_dir()).peekable();
            let nearest =
                if above.peek().is_none() { path.ancestors().find(|folder| folder.is_dir()) } else { None };
            for folder in above.chain(nearest) {
                if let Some(identity) = identity(folder) {
                    needed.entry(folder.to_path_buf()).or_insert((RecursiveMode::NonRecursive, identity));
                }
            }
        }
        for folder in &folders {
            if let Some(identity) = identity(folder) {
                needed.insert(folder.clone(), (RecursiveMode::Recursive, identity));
            }
        }
        let outdated: Vec<PathBuf> = self
            .watched
            .iter()
            .filter(|(path, how)| needed.get(*path) != Some(how))
            .map(|(path, _)| path.clone())
            .collect();
        for path in outdated {
            // A folder that is gone has taken its watch with it.
            let _ = self.watcher.unwatch(&path);
            self.watched.remove(&path);
        }
        for (path, how) in needed {
            if self.watched.contains_key(&path) {
                continue;
            }
            match self.watcher.watch(&path, how.0) {
                Ok(()) => {
                    self.watched.insert(path, how);
                }
                // It went in this moment, and the folder above tells when it is back.
                Err(_) if !path.is_dir() => {}
                Err(source) => return Err(WatchError::Refused { path: path.display().to_string(), source }),
            }
        }
        self.wanted = [files, folders].concat();
        Ok(())
    }

    /// Waits until something that matters changed and the disk is quiet again, or until `longest` has passed.
    ///
    /// Returns whether something changed.
    pub fn wait(&mut self, longest: Duration) -> Result<bool, WatchError> {
        let deadline = Instant::now() + longest;
        loop {
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(event) if self.matters(&event) => break,
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(false),
                Err(RecvTimeoutError::Disconnected) => return Err(WatchError::Ended),
            }
        }
        let deadline = Instant::now() + BUSY;
        loop {
            match self.events.recv_timeout(QUIET) {
                Ok(_) if Instant::now() < deadline => {}
                Ok(_) | Err(RecvTimeoutError::Timeout) => return Ok(true),
                Err(RecvTimeoutError::Disconnected) => return Err(WatchError::Ended),
            }
        }
    }

    fn matters(&self, event: &notify::Result<notify::Event>) -> bool {
        // An error of the watcher means that events may be lost: looking again is the safe answer.
        let Ok(event) = event else { return true };
        if event.need_rescan() {
            return true;
        }
        let related = |path: &Path| {
            self.wanted.iter().any(|wanted| path.starts_with(wanted) || wanted.starts_with(path))
        };
        !event.kind.is_access() && (event.paths.is_empty() || event.paths.iter().any(|path| related(path)))
    }
}

/// Returns the files and the folders, existing or not, that a scan looks at.
fn definitions(catalog: &Catalog) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (place, configuration) = (catalog.place(), catalog.configuration());
    let abilities = abilities::folders(place, configuration).into_iter().map(|folder| folder.path);
    let agents = agents::folders(place).into_iter().map(|(path, _)| path);
    let folders = abilities.chain(agents).chain(skills::paths(place, configuration)).collect();
    (Configuration::candidates(place).collect(), folders)
}

fn identity(folder: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(folder).ok()?;
    metadata.is_dir().then(|| (metadata.dev(), metadata.ino()))
}
