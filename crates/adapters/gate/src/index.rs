//! What a project's definitions say to the gate, compiled: which calls are reserved, which files are guarded, who may run
//! what.
//!
//! A hook must not read a thousand abilities to judge one call. It reads this file, and looks whether anything that went into it
//! has changed since, at most once a second; only then is it compiled anew. To look at a thousand files takes longer than
//! all the rest, so a server, which is there as long as its client, looks in the hooks' stead: [`Gate::keep_index`].

mod keep;
mod packed;
mod sources;
#[cfg(test)]
mod tests;

use crate::Gate;
use crate::files::{self, GateError};
use crate::triggers::{KeptTriggers, TriggerIndex};
use abide_core::definition::attachment::{DEFAULT_AGENT, may_run};
use abide_core::policy::{AgentRights, Guarded, Reserved, Role, Sought, Standing};
use packed::{Kept, Label};
use serde::Deserialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// What a project's definitions say to the gate, and where each says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    pub agents: Agents,
    /// Why not every definition was looked at, if so.
    pub stopped: Option<String>,
}

/// A call that only a run of an ability may make.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReservedCall {
    /// The ability.
    pub ability: String,
    /// The pattern, as it is written.
    pub pattern: String,
    /// The file that says so.
    pub file: PathBuf,
    /// The folder that its paths start from.
    #[serde(default)]
    pub root: PathBuf,
    /// Whether a run of the ability lifts it.
    #[serde(skip, default = "standing")]
    pub standing: Standing,
}

fn standing() -> Standing {
    Standing::Current
}

/// A file or folder that is not the agent's to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardedPath {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub role: GuardedRole,
}

/// What a guarded file or folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardedRole {
    /// abide's own state.
    State,
    /// A definition.
    Definition,
    /// A definition that reserves calls.
    Reservation,
    /// What tells a client to ask the gate.
    Settings,
    /// Skills.
    Skill,
}

impl GuardedRole {
    const ALL: [Self; 5] = [Self::State, Self::Definition, Self::Reservation, Self::Settings, Self::Skill];

    /// Returns the number that stands for it in a file.
    fn number(self) -> usize {
        // All are in the list.
        Self::ALL.iter().position(|role| *role == self).unwrap_or_default()
    }

    fn numbered(number: usize) -> Option<Self> {
        Self::ALL.get(number).copied()
    }

    /// Returns it as the gate takes it.
    fn role(self) -> Role {
        match self {
            Self::State => Role::State,
            Self::Definition => Role::Definition,
            Self::Reservation => Role::Reservation,
            Self::Settings => Role::Settings,
            Self::Skill => Role::Skill,
        }
    }
}

/// An ability that not every agent may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restricted {
    /// The ability.
    pub ability: String,
    /// The only agents that may.
    pub agents: Vec<String>,
}

/// Agents, each with the abilities that its own profile names.
pub type Agents = Vec<(String, Vec<String>)>;

/// What the gate must know of an index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    /// Calls that only a run of an ability may make.
    pub reserved: Vec<Reserved>,
    /// Files and folders that are not the agent's to change.
    pub guarded: Vec<Guarded>,
    /// Abilities that not every agent may run.
    pub restricted: Vec<Restricted>,
    /// The abilities that an agent's own profile names.
    pub agents: Agents,
    /// Why not every definition was looked at, if so: then nobody knows what else is reserved.
    pub stopped: Option<String>,
}

impl Known {
    /// Returns what an agent may run; a client's session that names no agent is the default one.
    pub fn rights(&self, agent: Option<&str>) -> AgentRights {
        rights(&self.restricted, &self.agents, agent)
    }
}

impl Index {
    /// Returns what an agent may run; a client's session that names no agent is the default one.
    pub fn rights(&self, agent: Option<&str>) -> AgentRights {
        rights(&self.restricted, &self.agents, agent)
    }
}

fn rights(restricted: &[Restricted], agents: &[(String, Vec<String>)], agent: Option<&str>) -> AgentRights {
    let agent = agent.unwrap_or(DEFAULT_AGENT);
    let own = agents.iter().find(|(name, _)| name == agent).map(|(_, abilities)| abilities.as_slice());
    let reserved_for = |ability: &str| {
        let found = restricted.iter().find(|restricted| restricted.ability == ability);
        found.into_iter().flat_map(|restricted| restricted.agents.iter().map(String::as_str))
    };
    let may = |ability: &String| may_run(agent, ability, reserved_for(ability), own);
    match own {
        Some(own) => AgentRights::Only(own.iter().filter(|ability| may(ability)).cloned().collect()),
        None => {
            let restricted = restricted.iter().map(|restricted| &restricted.ability);
            AgentRights::Any { except: restricted.filter(|ability| !may(ability)).cloned().collect() }
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

/// An index of a form before the fourth; it is compiled anew, and still tells what was reserved.
#[derive(Deserialize)]
struct Older {
    index: OlderIndex,
}

#[derive(Deserialize)]
struct OlderIndex {
    reserved: Vec<ReservedCall>,
}

/// How long what was looked at is taken for unchanged.
const SETTLED: Duration = Duration::from_secs(1);

impl Gate {
    /// Returns what is sought of the index of a project, compiled anew if it has to be; there may be more in it.
    ///
    /// `compile` is given what was compiled before: what a file that has become unreadable reserved then stays reserved.
    pub fn index(
        &self,
        root: &Path,
        version: &str,
        now: SystemTime,
        sought: &Sought,
        compile: impl FnOnce(Option<&Index>) -> Compiled,
    ) -> Result<Known, GateError> {
        let path = self.index_file(root);
        if let Some((_, known)) = current(&path, version, now, SETTLED, sought) {
            return Ok(known);
        }
        let (bytes, _) = self.compile(root, now, compile)?;
        // All of it is read: a pattern that is none is found out when it is compiled, whatever is sought then.
        let packed = packed::known(&Kept::Bytes(bytes.into()), &Sought::everything());
        let damaged =
            || GateError::Damaged { path, why: "a definition reserves no call that there is".to_owned() };
        packed.map(|(_, known)| known).ok_or_else(damaged)
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
        if let Some((label, _)) = current(&self.index_file(root), version, now, SETTLED, &Sought::nothing())
            && let Ok(Some(triggers)) = files::read_large::<KeptTriggers>(&self.triggers_file(root))
            // Two that compile at once may each write one of the two files.
            && triggers.of == label.triggers
        {
            return Ok(triggers.triggers);
        }
        Ok(self.compile(root, now, compile)?.1)
    }

    /// Compiles the index of a project anew if there is one, whether or not anything has changed; returns whether there was.
    pub fn index_anew(
        &self,
        root: &Path,
        now: SystemTime,
        compile: impl FnOnce(Option<&Index>) -> Compiled,
    ) -> Result<bool, GateError> {
        let known = before(&self.index_file(root)).is_some();
        if known {
            self.compile(root, now, compile)?;
        }
        Ok(known)
    }

    fn compile(
        &self,
        root: &Path,
        now: SystemTime,
        compile: impl FnOnce(Option<&Index>) -> Compiled,
    ) -> Result<(Vec<u8>, TriggerIndex), GateError> {
        let path = self.index_file(root);
        let before = before(&path);
        let compiled = compile(before.as_ref());
        let triggers = KeptTriggers::new(compiled.triggers);
        files::replace(&self.triggers_file(root), &triggers)?;
        let written = writing(now);
        let sources = sources::pack(&written, &compiled.sources, now);
        let label = Label { version: compiled.index.version.clone(), triggers: triggers.of, written };
        let index = packed::pack(&label, &compiled.index);
        // Of two who write at once, or one who is cut off, at worst the files do not belong together: then they are
        // written anew. What was read is as old as the moment before it was.
        files::replace_bytes(&path, &index, Some(now))?;
        files::replace_bytes(&sources_file(&path), &sources, None)?;
        files::remove(&older_file(&path))?;
        Ok((index, triggers.triggers))
    }

    /// Returns whether anything was ever compiled of a project.
    pub fn has_index(&self, root: &Path) -> bool {
        self.index_file(root).exists()
    }

    fn index_file(&self, root: &Path) -> PathBuf {
        let name = files::name_of(root.as_os_str().as_encoded_bytes());
        self.folder.join("index").join(name).with_extension("index")
    }

    fn triggers_file(&self, root: &Path) -> PathBuf {
        self.index_file(root).with_extension("triggers")
    }
}

fn sources_file(index: &Path) -> PathBuf {
    index.with_extension("sources")
}

fn older_file(index: &Path) -> PathBuf {
    index.with_extension("json")
}

/// Returns what was compiled before, whatever abide did it and whether or not it still holds.
fn before(path: &Path) -> Option<Index> {
    let kept = files::read_bytes(path).ok().flatten();
    if let Some((_, index)) = kept.and_then(|bytes| packed::unpack(&bytes)) {
        return Some(index);
    }
    let older = files::read_large::<Older>(&older_file(path)).ok().flatten()?;
    Some(Index { reserved: older.index.reserved, ..Index::default() })
}

/// Returns what is sought of what is kept, if it still holds.
fn current(
    path: &Path,
    version: &str,
    now: SystemTime,
    settled: Duration,
    sought: &Sought,
) -> Option<(Label, Known)> {
    // One that cannot be read is compiled anew: the definitions are what counts.
    let (file, metadata) = files::open_large(path).ok().flatten()?;
    let kept = Kept::in_file(&file, metadata.len(), sought.names().is_none())?;
    let (label, known) = packed::known(&kept, sought)?;
    let looked = metadata.modified().ok();
    (label.version == version && is_fresh(path, (&file, looked), &label, now, settled))
        .then_some((label, known))
}

/// Returns a name for one writing of an index, which no other has.
fn writing(now: SystemTime) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{since}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Returns whether nothing that went into an index has changed; the time of its file is when that was last looked at.
fn is_fresh(
    path: &Path,
    (file, looked): (&File, Option<SystemTime>),
    label: &Label,
    now: SystemTime,
    settled: Duration,
) -> bool {
    if looked.is_some_and(|looked| now.duration_since(looked).is_ok_and(|passed| passed < settled)) {
        return true;
    }
    let sources = files::read_bytes(&sources_file(path)).ok().flatten();
    let unchanged = sources.is_some_and(|sources| sources::are_unchanged(&sources, &label.written));
    if unchanged {
        // Noted for whoever asks next; when that fails, they look again.
        let _ = file.set_modified(now);
    }
    unchanged
}
