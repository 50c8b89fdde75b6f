//! What a project's definitions say to the gate, compiled: which calls are reserved, which files are guarded, who may run
//! what.
//!
//! A hook must not read a thousand abilities to judge one call. It reads this file, and looks whether anything that went into it
//! has changed since, at most once a second; only then is it compiled anew.

#[cfg(test)]
mod tests;

use crate::Gate;
use crate::files::{self, GateError};
use crate::triggers::{KeptTriggers, TriggerIndex};
use abide_core::definition::attachment::{DEFAULT_AGENT, may_run};
use abide_core::policy::{AgentRights, Guarded, Role};
use serde::{Deserialize, Serialize, Serializer};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
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
///
/// Written without the names of its fields, because a hook reads thousands of them; it is read either way.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
///
/// Written without the names of its fields, because a hook reads thousands of them; it is read either way.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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

impl Serialize for ReservedCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.ability, &self.pattern, &self.file).serialize(serializer)
    }
}

impl Serialize for GuardedPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.path, self.role).serialize(serializer)
    }
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
    /// What in a message suggests an ability.
    pub triggers: TriggerIndex,
    /// Every file and folder that went into it, those that do not exist included.
    pub sources: Vec<PathBuf>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    /// Which form it has; those before the second did not say so.
    #[serde(default)]
    format: u32,
    /// Which triggers were compiled with it.
    #[serde(default)]
    triggers: String,
    /// Which writing of it this is.
    #[serde(default)]
    written: String,
    index: Index,
    /// What it was compiled from lay here before the third form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<(PathBuf, Stamp)>,
}

/// What an index was compiled from, in a file of its own: within a second of the last look nobody reads it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sources {
    /// Which writing of the index it belongs to: it says nothing about another one.
    written: String,
    sources: Vec<(PathBuf, Stamp)>,
}

/// The form of what is kept; another one is compiled anew, and still tells what was reserved.
const FORMAT: u32 = 3;

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
        match current(&path, version, now) {
            (Some(kept), true) => Ok(kept.index),
            (kept, _) => Ok(self.compile(root, kept.as_ref().map(|kept| &kept.index), now, compile)?.0),
        }
    }

    /// Returns the triggers of a project's abilities, compiled anew if they have to be.
    ///
    /// They lie in a file of their own, because a message asks for them and a tool call does not.
    pub fn triggers(
        &self,
        root: &Path,
        version: &str,
        now: SystemTime,
        compile: impl FnOnce(Option<&Index>) -> Compiled,
    ) -> Result<TriggerIndex, GateError> {
        let (kept, fresh) = current(&self.index_file(root), version, now);
        if let Some(kept) = kept.as_ref().filter(|_| fresh)
            && let Ok(Some(triggers)) = files::read_large::<KeptTriggers>(&self.triggers_file(root))
            // Two that compile at once may each write one of the two files.
            && triggers.of == kept.triggers
        {
            return Ok(triggers.triggers);
        }
        Ok(self.compile(root, kept.as_ref().map(|kept| &kept.index), now, compile)?.1)
    }

    fn compile(
        &self,
        root: &Path,
        before: Option<&Index>,
        now: SystemTime,
        compile: impl FnOnce(Option<&Index>) -> Compiled,
    ) -> Result<(Index, TriggerIndex), GateError> {
        let compiled = compile(before);
        let sources = compiled.sources.into_iter().map(|path| {
            let stamp = stamp(&path, Some(now));
            (path, stamp)
        });
        let triggers = KeptTriggers::new(compiled.triggers);
        files::replace(&self.triggers_file(root), &triggers)?;
        let written = writing(now);
        let sources = Sources { written: written.clone(), sources: sources.collect() };
        let kept = Kept {
            format: FORMAT,
            triggers: triggers.of,
            written,
            index: compiled.index,
            sources: Vec::new(),
        };
        // Of two who write at once, or one who is cut off, at worst the files do not belong together: then they are
        // written anew.
        let path = self.index_file(root);
        files::replace(&path, &kept)?;
        files::replace(&sources_file(&path), &sources)?;
        Ok((kept.index, triggers.triggers))
    }

    fn index_file(&self, root: &Path) -> PathBuf {
        let name = files::name_of(root.as_os_str().as_encoded_bytes());
        self.folder.join("index").join(name).with_extension("json")
    }

    fn triggers_file(&self, root: &Path) -> PathBuf {
        self.index_file(root).with_extension("triggers")
    }
}

/// Returns what is kept, and whether it still holds.
fn current(path: &Path, version: &str, now: SystemTime) -> (Option<Kept>, bool) {
    // One that cannot be read is compiled anew: the definitions are what counts.
    let kept = files::read_large::<Kept>(path).ok().flatten();
    let fresh = kept.as_ref().is_some_and(|kept| {
        kept.format == FORMAT && kept.index.version == version && is_fresh(path, kept, now)
    });
    (kept, fresh)
}

fn sources_file(index: &Path) -> PathBuf {
    index.with_extension("sources")
}

/// Returns a name for one writing of an index, which no other has.
fn writing(now: SystemTime) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{since}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Returns whether nothing that went into an index has changed.
fn is_fresh(path: &Path, kept: &Kept, now: SystemTime) -> bool {
    let looked = fs::metadata(path).and_then(|metadata| metadata.modified());
    if looked.is_ok_and(|looked| now.duration_since(looked).is_ok_and(|passed| passed < SETTLED)) {
        return true;
    }
    let sources = files::read_large::<Sources>(&sources_file(path)).ok().flatten();
    let unchanged = sources.is_some_and(|known| {
        known.written == kept.written && known.sources.iter().all(|(path, seen)| stamp(path, None) == *seen)
    });
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
