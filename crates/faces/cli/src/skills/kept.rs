//! The skills of a place, kept in memory by a process that stays.
//!
//! The first look costs what it costs. From the second on the folders are watched: only when something changed there, or
//! half a minute is over (a program may have been installed, a server may answer again), is the disk looked at. Whoever counts
//! the changes is told of those that only a look finds, too: as long as somebody listens, one is taken every half minute.

use super::Shelf;
use crate::Surroundings;
use abide_catalog::{Catalog, Configuration, Place, Watch};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long what is known about the machine counts.
const FRESH: Duration = Duration::from_secs(30);
/// How often the thread that watches looks whether anybody still listens.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often at most.
const IMPATIENCE: Duration = Duration::from_millis(20);

/// The skills of a place, looked at again when they may have changed.
pub(crate) struct KeptShelf(Arc<Inner>);

struct Inner {
    surroundings: Surroundings,
    place: Place,
    fresh: Duration,
    kept: Mutex<Option<Kept>>,
    changes: OnceLock<Option<Changes>>,
}

/// How many changes were noticed.
struct Changes {
    count: watch::Receiver<u64>,
    /// Counts one that no file tells.
    noticed: Arc<watch::Sender<u64>>,
}

struct Kept {
    shelf: Shelf,
    looked: Instant,
    /// How many changes had been noticed by then; nothing when nobody was watching.
    change: Option<u64>,
}

impl KeptShelf {
    pub(crate) fn new(surroundings: Surroundings, place: Place) -> Self {
        Self::fresh_for(surroundings, place, FRESH)
    }

    fn fresh_for(surroundings: Surroundings, place: Place, fresh: Duration) -> Self {
        let (kept, changes) = (Mutex::default(), OnceLock::new());
        Self(Arc::new(Inner { surroundings, place, fresh, kept, changes }))
    }

    /// Returns the counter of changes, and begins to count; nothing where files cannot be watched.
    pub(crate) fn changes(&self) -> Option<&watch::Receiver<u64>> {
        self.0.counted().map(|changes| &changes.count)
    }

    /// Works with the skills as they are now. The first look and every later change take a while.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Shelf) -> T) -> T {
        self.0.with(work)
    }
}

impl Inner {
    fn configuration(&self) -> Configuration {
        Configuration::load(&self.place, |name| self.surroundings.variable(name))
    }

    fn counted(self: &Arc<Self>) -> Option<&Changes> {
        let start = || {
            let mut watch = Watch::start().ok()?;
            let mut catalog = Catalog::open(self.place.clone(), self.configuration());
            // Before anybody looks, so that nothing changes unseen in between.
            watch.follow(&catalog).ok()?;
            let (sender, count) = watch::channel(0);
            let noticed = Arc::new(sender);
            let sender = Arc::clone(&noticed);
            let (kept, patience) = (Arc::downgrade(self), self.fresh.clamp(IMPATIENCE, PATIENCE));
            std::thread::spawn(move || {
                while !sender.is_closed() && watch.follow(&catalog).is_ok() {
                    match watch.wait(patience) {
                        Ok(true) => sender.send_modify(|count| *count += 1),
                        Ok(false) => {}
                        Err(_) => return,
                    }
                    let Some(kept) = Weak::upgrade(&kept) else { return };
                    // A folder may have been named meanwhile, and is watched from now on.
                    catalog.reconfigure(kept.configuration());
                    kept.look_for(&sender);
                }
            });
            Some(Changes { count, noticed })
        };
        self.changes.get_or_init(start).as_ref()
    }

    /// Looks for those who listen, if nobody has looked for a while: what no file tells is noticed by that alone.
    fn look_for(self: &Arc<Self>, sender: &watch::Sender<u64>) {
        // One receiver is kept here.
        if sender.receiver_count() > 1 {
            self.with(|_| ());
        }
    }

    fn with<T>(self: &Arc<Self>, work: impl FnOnce(&Shelf) -> T) -> T {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever looks a second time stays, and whoever counts already wants to know.
        let counts = kept.is_some() || self.changes.get().is_some();
        let mut change = if counts { self.counted().map(|changes| *changes.count.borrow()) } else { None };
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
                if shelf.refresh(&self.surroundings)
                    && let Some(changes) = self.changes.get().and_then(Option::as_ref)
                {
                    // What this look found is known now.
                    changes.noticed.send_modify(|count| *count += 1);
                    change = change.map(|change| change + 1);
                }
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
        let place = Place { start, home: None, config_home: None };
        let slow = KeptShelf::new(surroundings.clone(), place.clone());
        let shelf = KeptShelf::fresh_for(surroundings, place, Duration::ZERO);
        let lacks = |shelf: &KeptShelf| shelf.with(|shelf| shelf.lacks("needy").to_vec());
        let counted = |shelf: &KeptShelf| *shelf.changes().unwrap().borrow();
        for shelf in [&slow, &shelf] {
            assert_eq!(lacks(shelf), ["the program `mytool` is not there"]);
            assert_eq!(lacks(shelf).len(), 1);
        }
        let tool = programs.path().join("mytool");
        std::fs::write(&tool, "").unwrap();
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(lacks(&slow).len(), 1, "nobody looks at the machine for every question");
        let before = counted(&shelf);
        assert_eq!(lacks(&shelf), [""; 0], "it has come");
        assert_eq!(counted(&shelf), before + 1, "and whoever was told of the skills before is told so");
        assert_eq!(lacks(&shelf), [""; 0]);
        assert_eq!(counted(&shelf), before + 1, "nothing is new");
        std::fs::remove_file(&tool).unwrap();
        assert_eq!(lacks(&shelf).len(), 1, "and gone");
        assert_eq!(counted(&shelf), before + 2);
    }

    #[expect(clippy::disallowed_methods, reason = "the skills, the program and the configuration are files")]
    #[test]
    fn who_listens_is_told_what_no_file_tells_and_of_folders_that_were_named_later() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (start, config_home, programs) = (root.join("project"), root.join("config"), root.join("bin"));
        for made in [start.join(".abide/skills/needy"), config_home.join("abide"), programs.clone()] {
            std::fs::create_dir_all(made).unwrap();
        }
        let skill = |name: &str, more: &str| format!("---\nname: {name}\ndescription: x\n{more}---\nx\n");
        let needy = start.join(".abide/skills/needy/SKILL.md");
        std::fs::write(needy, skill("needy", "requires: bin:mytool\n")).unwrap();
        let surroundings = Surroundings {
            folder: start.clone(),
            variables: vec![("PATH".to_owned(), programs.display().to_string())],
            binary: None,
            terminal: false,
            terminal_in: false,
            width: || None,
        };
        let place = Place { start, home: None, config_home: Some(config_home.clone()) };
        let shelf = KeptShelf::fresh_for(surroundings, place, Duration::from_millis(50));
        let mut listener = shelf.changes().unwrap().clone();
        let knows = |name: &str| {
            shelf.with(|shelf| shelf.skills.find(name).is_some() && shelf.lacks(name).is_empty())
        };
        assert!(!knows("needy"));
        let hears = |listener: &mut watch::Receiver<u64>, what: &str| {
            let begun = std::time::Instant::now();
            while !listener.has_changed().unwrap() {
                assert!(begun.elapsed() < Duration::from_secs(20), "nobody was told: {what}");
                std::thread::sleep(Duration::from_millis(10));
            }
            drop(listener.borrow_and_update());
        };
        drop(listener.borrow_and_update());
        let tool = programs.join("mytool");
        std::fs::write(&tool, "").unwrap();
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        // Nobody asks: the program is found all the same.
        hears(&mut listener, "a program was installed");
        assert!(knows("needy"));
        let further = root.join("further");
        std::fs::create_dir_all(further.join("first")).unwrap();
        drop(listener.borrow_and_update());
        let named = format!("skills: {{ directories: {} }}\n", further.display());
        std::fs::write(config_home.join("abide/config.yaml"), named).unwrap();
        hears(&mut listener, "the configuration was changed");
        std::thread::sleep(Duration::from_secs(2));
        drop(listener.borrow_and_update());
        std::fs::write(further.join("first/SKILL.md"), skill("first", "")).unwrap();
        hears(&mut listener, "a skill came into a folder that was named later");
        assert!(knows("first"));
    }

    /// A server that serves as long as there is a file called `up` beside it.
    const SERVER: &str = include_str!("../../tests/skills/tickets.py");

    #[expect(clippy::disallowed_methods, reason = "the skill and the server that it requires are files")]
    #[test]
    fn a_server_that_answers_again_counts_again_in_a_process_that_stays() {
        let folder = tempfile::tempdir().unwrap();
        let start = folder.path().canonicalize().unwrap().join("project");
        let config_home = folder.path().canonicalize().unwrap().join("config");
        let skill = start.join(".abide/skills/needy");
        std::fs::create_dir_all(&skill).unwrap();
        std::fs::create_dir_all(config_home.join("abide")).unwrap();
        let text = "---\nname: needy\ndescription: x\nrequires: { mcp: tickets }\n---\nx\n";
        std::fs::write(skill.join("SKILL.md"), text).unwrap();
        let server = config_home.join("server.py");
        std::fs::write(&server, SERVER).unwrap();
        let configuration =
            format!("capabilities: {{ tickets: {{ command: [python3, {}] }} }}\n", server.display());
        std::fs::write(config_home.join("abide/config.yaml"), configuration).unwrap();
        let surroundings = Surroundings {
            folder: start.clone(),
            variables: std::env::vars().filter(|(name, _)| name == "PATH").collect(),
            binary: None,
            terminal: false,
            terminal_in: false,
            width: || None,
        };
        let place = Place { start, home: None, config_home: Some(config_home.clone()) };
        let shelf = KeptShelf::fresh_for(surroundings, place, Duration::ZERO);
        let lacks = || shelf.with(|shelf| shelf.lacks("needy").join(";"));
        assert!(lacks().contains("the MCP server `tickets` cannot be used"), "{}", lacks());
        std::fs::write(config_home.join("up"), "").unwrap();
        assert_eq!(lacks(), "", "it answers");
        std::fs::remove_file(config_home.join("up")).unwrap();
        assert!(lacks().contains("cannot be used"), "and fails its probe again");
    }
}
