//! Which run a session is bound to, where that run is, and which projects the session was seen in.

use crate::files::{self, GateError};
use crate::{Gate, Relative, SessionId};
use abide_core::definition::{Enforcement, StepType};
use abide_core::policy::{Active, ActiveStep, Grants};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A session's run, as far as the gate must know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// The run.
    pub run: String,
    /// The ability whose step is done; of a called ability, that one.
    pub ability: String,
    /// `strict`, `normal` or `loose`.
    pub level: String,
    /// The step that is done now.
    pub step: Option<BoundStep>,
    /// How many steps are done.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// The folder that the run works in.
    pub root: PathBuf,
    /// The log that holds the run.
    pub log: PathBuf,
    /// The process that drives it.
    pub driver: Relative,
    /// The sub-agent that started it, unless it was the session itself.
    pub sub_agent: Option<String>,
    /// The files that the run must find as they were.
    pub guarded: Vec<PathBuf>,
}

/// The step that is done now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundStep {
    /// Its id.
    pub id: String,
    /// `script`, `agent`, `skill`, `approval` or `workflow`.
    #[serde(rename = "type")]
    pub step_type: String,
    /// The only tools that it grants, if it says so.
    pub tools: Option<Vec<String>>,
    /// What is to be done.
    pub task: String,
    /// Whether only a human can go on.
    pub waits_for_human: bool,
}

impl Bound {
    /// Returns what the gate decides by; an error says which word is not one that abide writes.
    pub fn active(&self, warned: bool) -> Result<Active, String> {
        let level = Enforcement::parse(&self.level).ok_or_else(|| format!("the level `{}`", self.level))?;
        let step = self.step.as_ref().map(BoundStep::active).transpose()?;
        Ok(Active {
            run: self.run.clone(),
            ability: self.ability.clone(),
            level,
            step,
            done: self.done,
            total: self.total,
            warned,
            worker: false,
        })
    }
}

impl BoundStep {
    fn active(&self) -> Result<ActiveStep, String> {
        let step_type =
            StepType::parse(&self.step_type).ok_or_else(|| format!("the type `{}`", self.step_type))?;
        Ok(ActiveStep {
            id: self.id.clone(),
            step_type,
            grants: self.tools.clone().map_or(Grants::Own, Grants::Only),
            task: self.task.clone(),
            waits_for_human: self.waits_for_human,
        })
    }
}

/// Why a session could not be bound to a run.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// It is bound already.
    #[error("the session has a run already: {0}")]
    Taken(String),
    /// The gate's files could not be used.
    #[error(transparent)]
    Gate(#[from] GateError),
}

/// How many projects of one session are remembered.
const MOST_ROOTS: usize = 32;

impl Gate {
    /// Binds a session to a run, unless it has one: of two that try at once, one is told so.
    pub fn bind(&self, session: &SessionId, bound: &Bound) -> Result<(), BindError> {
        if files::create(&self.run_file(session), bound)? {
            return Ok(());
        }
        let other = self.bound(session)?.map_or_else(|| "it has just ended".to_owned(), |other| other.run);
        Err(BindError::Taken(other))
    }

    /// Says where the run of a session is now; only for the run that the session is bound to.
    pub fn update(&self, session: &SessionId, bound: &Bound) -> Result<(), GateError> {
        match self.bound(session)? {
            Some(known) if known.run == bound.run => files::replace(&self.run_file(session), bound),
            _ => Ok(()),
        }
    }

    /// Frees a session from a run that is over.
    pub fn release(&self, session: &SessionId, run: &str) -> Result<(), GateError> {
        match self.bound(session)? {
            Some(known) if known.run == run => {
                files::remove(&self.warned_file(session))?;
                files::remove(&self.run_file(session))
            }
            _ => Ok(()),
        }
    }

    /// Returns the run of a session.
    pub fn bound(&self, session: &SessionId) -> Result<Option<Bound>, GateError> {
        files::read(&self.run_file(session))
    }

    /// Returns whether the agent was told already that this run is not done.
    pub fn was_warned(&self, session: &SessionId, run: &str) -> bool {
        // What cannot be read was not said: then it is said again.
        matches!(files::read::<String>(&self.warned_file(session)), Ok(Some(known)) if known == run)
    }

    /// Notes that the agent was told that this run is not done.
    pub fn warn(&self, session: &SessionId, run: &str) -> Result<(), GateError> {
        files::replace(&self.warned_file(session), &run)
    }

    /// Returns the projects that a session was seen in: walking out of one does not lift what it protects.
    pub fn roots(&self, session: &SessionId) -> Result<Vec<PathBuf>, GateError> {
        Ok(files::read(&self.roots_file(session))?.unwrap_or_default())
    }

    /// Notes that a session was seen in a project.
    pub fn see(&self, session: &SessionId, root: &Path) -> Result<(), GateError> {
        let mut roots = self.roots(session)?;
        // The first is where the session began, and stays.
        if roots.len() < MOST_ROOTS && !roots.iter().any(|known| known == root) {
            roots.push(root.to_path_buf());
            files::replace(&self.roots_file(session), &roots)?;
        }
        Ok(())
    }

    fn run_file(&self, session: &SessionId) -> PathBuf {
        self.folder.join("sessions").join(session.file_name()).with_extension("run")
    }

    fn warned_file(&self, session: &SessionId) -> PathBuf {
        self.run_file(session).with_extension("warned")
    }

    fn roots_file(&self, session: &SessionId) -> PathBuf {
        self.run_file(session).with_extension("roots")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::policy::Client;

    fn bound(run: &str) -> Bound {
        Bound {
            run: run.into(),
            ability: "deploy".into(),
            level: "strict".into(),
            step: Some(BoundStep {
                id: "review".into(),
                step_type: "agent".into(),
                tools: Some(vec!["Read".into()]),
                task: "Look for problems.".into(),
                waits_for_human: false,
            }),
            done: 1,
            total: 3,
            root: "/project".into(),
            log: "/project/.abide/state/log.db".into(),
            driver: Relative { process: 1, started: "1".into() },
            sub_agent: None,
            guarded: vec!["/project/.abide/abilities/deploy.yaml".into()],
        }
    }

    fn gate() -> (tempfile::TempDir, Gate) {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path().join("gate"));
        (folder, gate)
    }

    #[test]
    fn a_session_has_one_run_and_others_are_not_touched() {
        let (_folder, gate) = gate();
        let (one, two) = (SessionId::new(Client::ClaudeCode, "s"), SessionId::new(Client::Codex, "s"));
        assert_eq!(gate.bound(&one).unwrap(), None);
        gate.bind(&one, &bound("r1")).unwrap();
        let taken = gate.bind(&one, &bound("r2")).unwrap_err();
        assert_eq!(taken.to_string(), "the session has a run already: r1");
        assert_eq!(gate.bound(&two).unwrap(), None, "the same id of another client is another session");
        gate.update(&one, &bound("r2")).unwrap();
        gate.release(&one, "r2").unwrap();
        assert_eq!(gate.bound(&one).unwrap().unwrap().run, "r1", "another run says nothing about this one");
        gate.release(&one, "r1").unwrap();
        gate.bind(&one, &bound("r2")).unwrap();
    }

    #[test]
    fn of_many_that_bind_at_once_one_does() {
        let (_folder, gate) = gate();
        let session = SessionId::new(Client::OpenCode, "../../etc/passwd\0\n");
        let bind = |number: usize| gate.bind(&session, &bound(&format!("r{number}"))).is_ok();
        let bound: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|number| scope.spawn(move || bind(number))).collect();
            threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
        });
        assert_eq!(bound, 1);
    }

    #[test]
    fn what_is_damaged_is_not_taken_for_free() {
        let (_folder, gate) = gate();
        let session = SessionId::new(Client::ClaudeCode, "s");
        gate.bind(&session, &bound("r1")).unwrap();
        for text in ["", "{", "null", "{\"run\":\"r1\"}", "[]"] {
            std::fs::write(gate.run_file(&session), text).unwrap();
            gate.bound(&session).unwrap_err();
        }
        std::fs::remove_file(gate.run_file(&session)).unwrap();
        std::fs::create_dir(gate.run_file(&session)).unwrap();
        gate.bound(&session).unwrap_err();
        let mut odd = bound("r1");
        odd.level = "lax".into();
        assert_eq!(odd.active(false).unwrap_err(), "the level `lax`");
    }

    #[test]
    fn a_session_is_remembered_where_it_began() {
        let (_folder, gate) = gate();
        let session = SessionId::new(Client::ClaudeCode, "s");
        for root in ["/a", "/b", "/a"] {
            gate.see(&session, Path::new(root)).unwrap();
        }
        assert_eq!(gate.roots(&session).unwrap(), [PathBuf::from("/a"), PathBuf::from("/b")]);
        for number in 0..100 {
            gate.see(&session, Path::new(&format!("/{number}"))).unwrap();
        }
        let roots = gate.roots(&session).unwrap();
        assert_eq!((roots.len(), roots[0].as_path()), (MOST_ROOTS, Path::new("/a")));
    }

    #[test]
    fn a_warning_belongs_to_one_run() {
        let (_folder, gate) = gate();
        let session = SessionId::new(Client::ClaudeCode, "s");
        gate.bind(&session, &bound("r1")).unwrap();
        assert!(!gate.was_warned(&session, "r1"));
        gate.warn(&session, "r1").unwrap();
        assert!(gate.was_warned(&session, "r1") && !gate.was_warned(&session, "r2"));
        gate.release(&session, "r1").unwrap();
        assert!(!gate.was_warned(&session, "r1"));
    }
}
