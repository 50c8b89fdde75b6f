//! What a project's definitions say to the gate, compiled: which calls are reserved, which files are guarded, who may run
//! what.
//!
//! A hook must not read a thousand abilities to judge one call. It reads this file, and looks whether anything that went into it
//! has changed since, at most once a second; only then is it compiled anew.

use crate::Gate;
use crate::files::{self, GateError};
use abide_core::definition::attachment::{DEFAULT_AGENT, may_run};
use abide_core::policy::{AgentRights, Guarded, Role};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What a project's definitions say to the gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// Which abide compiled it: another one compiles its own.
    pub version: String,
    /// The level of abilities that do not set their own.
    pub level: Option<String>,
    /// Calls that only a run of an ability may make.
    pub reserved: Vec<ReservedCall>,
    /// Files and folders that are not the agent's to change.
    pub guarded: Vec<GuardedPath>,
    /// Abilities that not every agent may run.
    pub restricted: Vec<Restricted>,
    /// The abilities that an agent's own profile names.
    pub agents: Vec<(String, Vec<String>)>,
}

/// A call that only a run of an ability may make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReservedCall {
    /// The ability.
    pub ability: String,
    /// The pattern, as it is written.
    pub pattern: String,
    /// The file that says so.
    pub file: PathBuf,
}

/// A file or folder that is not the agent's to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardedPath {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub role: GuardedRole,
}

/// What a guarded file or folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GuardedRole {
    /// abide's own state.
    State,
    /// A definition.
    Definition,
    /// A definition that reserves calls.
    Reservation,
    /// What tells a client to ask the gate.
    Settings,
}

impl GuardedPath {
    /// Returns it as the gate takes it.
    pub fn guarded(&self) -> Guarded {
        let role = match self.role {
            GuardedRole::State => Role::State,
            GuardedRole::Definition => Role::Definition,
            GuardedRole::Reservation => Role::Reservation,
            GuardedRole::Settings => Role::Settings,
        };
        Guarded { path: self.path.display().to_string(), role }
    }
}

/// An ability that not every agent may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restricted {
    /// The ability.
    pub ability: String,
    /// The only agents that may.
    pub agents: Vec<String>,
}

impl Index {
    /// Returns what an agent may run; a client's session that names no agent is the default one.
    pub fn rights(&self, agent: Option<&str>) -> AgentRights {
        let agent = agent.unwrap_or(DEFAULT_AGENT);
        let own =
            self.agents.iter().find(|(name, _)| name == agent).map(|(_, abilities)| abilities.as_slice());
        let reserved_for = |ability: &str| {
            let found = self.restricted.iter().find(|restricted| restricted.ability == ability);
            found.into_iter().flat_map(|restricted| restricted.agents.iter().map(String::as_str))
        };
        let may = |ability: &String| may_run(agent, ability, reserved_for(ability), own);
        match own {
            Some(own) => AgentRights::Only(own.iter().filter(|ability| may(ability)).cloned().collect()),
            None => {
                let restricted = self.restricted.iter().map(|restricted| &restricted.ability);
                AgentRights::Any { except: restricted.filter(|ability| !may(ability)).cloned().collect() }
            }
        }
    }
}

/// What was compiled, and from what.
#[derive(Debug)]
pub struct Compiled {
    /// The index.
    pub index: Index,
    /// Every file and folder that went into it, those that do not exist included.
    pub sources: Vec<PathBuf>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    index: Index,
    sources: Vec<(PathBuf, Stamp)>,
}

/// Which version of a file or folder was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Stamp {
    /// There was none.
    Absent,
    /// This one.
    Seen { modified: i64, nanoseconds: i64, size: u64, inode: u64 },
    /// One that could have changed again while it was read, which no clock would tell.
    Doubtful,
}

/// How long what was looked at is taken for unchanged.
const SETTLED: Duration = Duration::from_secs(1);
/// How coarse the times of files are at most.
const COARSE: Duration = Duration::from_millis(20);

impl Gate {
    /// Returns the index of a project, compiled anew if it has to be.
    ///
    /// `compile` is given what was compiled before: what a file that has become unreadable reserved then stays reserved.
    pub fn index(
        &self,
        root: &Path,
        version: &str,
        now: SystemTime,
        compile: impl FnOnce(Option<&Index>) -> Compiled,
    ) -> Result<Index, GateError> {
        let path = self.index_file(root);
        // One that cannot be read is compiled anew: the definitions are what counts.
        let kept = files::read::<Kept>(&path).ok().flatten();
        if let Some(kept) = &kept
            && kept.index.version == version
            && is_fresh(&path, kept, now)
        {
            return Ok(kept.index.clone());
        }
        let compiled = compile(kept.as_ref().map(|kept| &kept.index));
        let sources = compiled.sources.into_iter().map(|path| {
            let stamp = stamp(&path, Some(now));
            (path, stamp)
        });
        let kept = Kept { sources: sources.collect(), index: compiled.index };
        files::replace(&path, &kept)?;
        Ok(kept.index)
    }

    fn index_file(&self, root: &Path) -> PathBuf {
        let name = files::name_of(root.as_os_str().as_encoded_bytes());
        self.folder.join("index").join(name).with_extension("json")
    }
}

/// Returns whether nothing that went into an index has changed.
fn is_fresh(path: &Path, kept: &Kept, now: SystemTime) -> bool {
    let looked = fs::metadata(path).and_then(|metadata| metadata.modified());
    if looked.is_ok_and(|looked| now.duration_since(looked).is_ok_and(|passed| passed < SETTLED)) {
        return true;
    }
    let unchanged = kept.sources.iter().all(|(path, seen)| stamp(path, None) == *seen);
    if unchanged {
        // Noted for whoever asks next; when that fails, they look again.
        let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(now));
    }
    unchanged
}

fn stamp(path: &Path, read_since: Option<SystemTime>) -> Stamp {
    let Ok(metadata) = fs::metadata(path) else { return Stamp::Absent };
    let racy = read_since
        .is_some_and(|since| metadata.modified().map_or(true, |modified| modified + COARSE >= since));
    if racy {
        return Stamp::Doubtful;
    }
    Stamp::Seen {
        modified: metadata.mtime(),
        nanoseconds: metadata.mtime_nsec(),
        size: metadata.len(),
        inode: metadata.ino(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    struct Project {
        folder: tempfile::TempDir,
        compiled: Cell<usize>,
    }

    impl Project {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap(), compiled: Cell::new(0) }
        }

        fn file(&self) -> PathBuf {
            self.folder.path().join("ability.yaml")
        }

        /// Asks at a moment after now; the pattern is what the file says.
        fn ask(&self, gate: &Gate, later: Duration) -> Vec<String> {
            let now = SystemTime::now() + later;
            let index = gate.index(self.folder.path(), "1", now, |_| {
                self.compiled.set(self.compiled.get() + 1);
                let pattern = fs::read_to_string(self.file()).unwrap_or_default();
                let reserved = ReservedCall { ability: "a".into(), pattern, file: self.file() };
                let index = Index { version: "1".into(), reserved: vec![reserved], ..Index::default() };
                Compiled { index, sources: vec![self.folder.path().to_path_buf(), self.file()] }
            });
            index.unwrap().reserved.into_iter().map(|reserved| reserved.pattern).collect()
        }
    }

    #[test]
    fn it_is_compiled_again_when_something_changed_and_not_otherwise() {
        let home = tempfile::tempdir().unwrap();
        let gate = Gate::at(home.path());
        let project = Project::new();
        let minute = Duration::from_mins(1);
        assert_eq!(project.ask(&gate, minute), [""]);
        assert_eq!(project.ask(&gate, minute * 2), [""]);
        assert_eq!(project.compiled.get(), 1, "nothing changed");
        fs::write(project.file(), "Bash(x)").unwrap();
        assert_eq!(project.ask(&gate, minute * 3), ["Bash(x)"], "a new file");
        fs::write(project.file(), "Bash(yy)").unwrap();
        assert_eq!(project.ask(&gate, minute * 4), ["Bash(yy)"], "an edit in place");
        fs::remove_file(project.file()).unwrap();
        assert_eq!(project.ask(&gate, minute * 5), [""]);
        assert_eq!(project.compiled.get(), 4);
    }

    #[test]
    fn what_changes_while_it_is_compiled_is_seen() {
        let home = tempfile::tempdir().unwrap();
        let gate = Gate::at(home.path());
        let project = Project::new();
        fs::write(project.file(), "Bash(x)").unwrap();
        project.ask(&gate, Duration::ZERO);
        // Same size, and perhaps the same time as the clock of the disk counts.
        fs::write(project.file(), "Bash(y)").unwrap();
        assert_eq!(project.ask(&gate, SETTLED * 2), ["Bash(y)"]);
    }

    #[test]
    fn what_an_agent_may_run_follows_from_both_sides() {
        let restricted =
            |ability: &str, agent: &str| Restricted { ability: ability.into(), agents: vec![agent.into()] };
        let index = Index {
            restricted: vec![restricted("deploy", "deployer"), restricted("wipe", "root")],
            agents: vec![("deployer".into(), vec!["deploy".into(), "wipe".into(), "test".into()])],
            ..Index::default()
        };
        let except = |names: &[&str]| AgentRights::Any {
            except: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert_eq!(index.rights(None), except(&["deploy", "wipe"]));
        assert_eq!(index.rights(Some("stranger")), except(&["deploy", "wipe"]));
        assert_eq!(index.rights(Some("root")), except(&["deploy"]));
        assert_eq!(index.rights(Some("deployer")), AgentRights::Only(vec!["deploy".into(), "test".into()]));
    }

    #[test]
    fn another_version_and_a_damaged_file_are_compiled_anew() {
        let home = tempfile::tempdir().unwrap();
        let gate = Gate::at(home.path());
        let project = Project::new();
        let minute = Duration::from_mins(1);
        project.ask(&gate, minute);
        fs::write(gate.index_file(project.folder.path()), "{").unwrap();
        project.ask(&gate, minute * 2);
        assert_eq!(project.compiled.get(), 2);
        let other = gate.index(project.folder.path(), "2", SystemTime::now() + minute * 3, |_| Compiled {
            index: Index { version: "2".into(), ..Index::default() },
            sources: Vec::new(),
        });
        assert_eq!(other.unwrap().version, "2");
    }
}
