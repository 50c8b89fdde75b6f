//! The skills of a place, kept in memory by a process that stays.
//!
//! The first look costs what it costs. From the second on the folders are watched: only when something changed there, or
//! half a minute is over (a program may have been installed, a server may answer again), is the disk looked at.

use super::Shelf;
use crate::Surroundings;
use abide_catalog::{Catalog, Configuration, Place, Watch};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long what is known about the machine counts.
const FRESH: Duration = Duration::from_secs(30);
/// How often the thread that watches looks whether anybody still listens.
const PATIENCE: Duration = Duration::from_secs(5);

/// The skills of a place, looked at again when they may have changed.
pub(crate) struct KeptShelf {
    surroundings: Surroundings,
    place: Place,
    fresh: Duration,
    kept: Mutex<Option<Kept>>,
    changes: OnceLock<Option<watch::Receiver<u64>>>,
}

struct Kept {
    shelf: Shelf,
    looked: Instant,
    /// How many changes had been noticed by then; nothing when nobody was watching.
    change: Option<u64>,
}

impl KeptShelf {
    pub(crate) fn new(surroundings: Surroundings, place: Place) -> Self {
        Self { surroundings, place, fresh: FRESH, kept: Mutex::default(), changes: OnceLock::new() }
    }

    fn configuration(&self) -> Configuration {
        Configuration::load(&self.place, |name| self.surroundings.variable(name))
    }

    /// Returns the counter of changes, and begins to count; nothing where files cannot be watched.
    pub(crate) fn changes(&self) -> Option<&watch::Receiver<u64>> {
        let start = || {
            let mut watch = Watch::start().ok()?;
            let catalog = Catalog::open(self.place.clone(), self.configuration());
            // Before anybody looks, so that nothing changes unseen in between.
            watch.follow(&catalog).ok()?;
            let (sender, receiver) = watch::channel(0);
            std::thread::spawn(move || {
                while !sender.is_closed() && watch.follow(&catalog).is_ok() {
                    match watch.wait(PATIENCE) {
                        Ok(true) => sender.send_modify(|count| *count += 1),
                        Ok(false) => {}
                        Err(_) => return,
                    }
                }
            });
            Some(receiver)
        };
        self.changes.get_or_init(start).as_ref()
    }

    /// Works with the skills as they are now. The first look and every later change take a while.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Shelf) -> T) -> T {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever looks a second time stays, and whoever counts already wants to know.
        let counts = kept.is_some() || self.changes.get().is_some();
        let change = if counts { self.changes().map(|changes| *changes.borrow()) } else { None };
        let looked = Instant::now();
        let now = match kept.take() {
            Some(known)
                if known.change.is_some()
                    && known.change == change
                    && known.looked.elapsed() < self.fresh =>
            {
                known
            }
            Some(Kept { mut shelf, .. }) => {
                shelf.catalog.reconfigure(self.configuration());
                shelf.refresh(&self.surroundings);
                Kept { shelf, looked, change }
            }
            None => {
                let catalog = Catalog::open(self.place.clone(), self.configuration());
                Kept { shelf: Shelf::of(&self.surroundings, catalog), looked, change }
            }
        };
        work(&kept.insert(now).shelf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[expect(clippy::disallowed_methods, reason = "the skill and the program that it requires are files")]
    #[test]
    fn what_a_skill_requires_is_looked_for_again_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let start = folder.path().canonicalize().unwrap();
        let skill = start.join(".abide/skills/needy");
        std::fs::create_dir_all(&skill).unwrap();
        let text = "---\nname: needy\ndescription: x\nrequires: bin:mytool\n---\nx\n";
        std::fs::write(skill.join("SKILL.md"), text).unwrap();
        // Outside of every folder that is watched.
        let programs = tempfile::tempdir().unwrap();
        let surroundings = Surroundings {
            folder: start.clone(),
            variables: vec![("PATH".to_owned(), programs.path().display().to_string())],
            binary: None,
            terminal: false,
            terminal_in: false,
            width: || None,
        };
        let mut shelf = KeptShelf::new(surroundings, Place { start, home: None, config_home: None });
        let lacks = |shelf: &KeptShelf| shelf.with(|shelf| shelf.lacks("needy").to_vec());
        assert_eq!(lacks(&shelf), ["the program `mytool` is not there"]);
        assert_eq!(lacks(&shelf).len(), 1);
        let tool = programs.path().join("mytool");
        std::fs::write(&tool, "").unwrap();
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(lacks(&shelf).len(), 1, "nobody looks at the machine for every question");
        shelf.fresh = Duration::ZERO;
        assert_eq!(lacks(&shelf), [""; 0], "it has come");
        std::fs::remove_file(&tool).unwrap();
        assert_eq!(lacks(&shelf).len(), 1, "and gone");
    }
}
