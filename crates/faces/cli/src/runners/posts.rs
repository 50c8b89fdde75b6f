//! The posts of the sessions that runners start: what the gate must know of each, and what makes its client ask.

use super::judge::SeatJudge;
use super::profiles::LocalProfiles;
use crate::session::Session;
use crate::{Surroundings, commands, gate, runs};
use abide_clients::Places;
use abide_clients::launch::{Hooked, hooked};
use abide_core::definition::{Enforcement, StepType};
use abide_core::event::{Event, RunId};
use abide_core::run::Run;
use abide_engine::driver::Observer;
use abide_engine::port::{Line, Task, Worker};
use abide_gate::rules::Rules;
use abide_gate::seats::{Seat, VARIABLE};
use abide_gate::sessions::{Bound, BoundStep};
use abide_gate::{Gate, Relative, SessionId};
use abide_runners::{Client, Held, Judge, Keeper, Watch};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How much of a task the gate repeats, in characters.
const TASK: usize = 2_000;

/// Knows the runs that are driven here, so that their sessions can be held to them.
pub(super) struct Posts {
    observer: Arc<dyn Observer>,
    surroundings: Surroundings,
    gate: Option<Gate>,
    places: Places,
    log: PathBuf,
    level: Option<Enforcement>,
    profiles: Arc<LocalProfiles>,
    runs: Mutex<HashMap<RunId, Known>>,
}

/// A run, as far as the gate must know it.
#[derive(Clone)]
struct Known {
    ability: String,
    level: Enforcement,
    done: usize,
    total: usize,
    guarded: Vec<PathBuf>,
}

impl Posts {
    /// Watches the runs of a project, and lets somebody else watch them, too.
    pub(super) fn new(session: &Session<'_>, observer: Arc<dyn Observer>) -> Self {
        Self {
            observer,
            surroundings: session.surroundings.clone(),
            gate: gate::gate(session.surroundings),
            places: commands::places(session),
            log: runs::log_file(session),
            level: session.configuration().config.abilities.enforcement.map(|level| level.value),
            profiles: Arc::new(LocalProfiles::of(session)),
            runs: Mutex::default(),
        }
    }

    /// Returns who the agents are.
    pub(super) fn profiles(&self) -> &Arc<LocalProfiles> {
        &self.profiles
    }

    /// Returns how strictly abilities are held that do not say it.
    pub(super) fn level(&self) -> Enforcement {
        self.level.unwrap_or(Enforcement::Strict)
    }

    fn gate(&self) -> Result<&Gate, String> {
        self.gate.as_ref().ok_or_else(|| {
            "abide finds no home folder (HOME is not set), so it cannot hold a session to its step".to_owned()
        })
    }

    fn rules(&self, task: &Task) -> Option<Rules> {
        self.profiles.rules(task.worker.agent())
    }

    fn look(&self, run: &Run) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if run.is_finished() {
            runs.remove(&run.id);
            return;
        }
        let known = runs.entry(run.id.clone()).or_insert_with(|| Known {
            ability: run.created.name.to_string(),
            level: run
                .ability
                .settings
                .enforcement
                .as_ref()
                .map(|level| level.value)
                .or(self.level)
                .unwrap_or(Enforcement::Strict),
            done: 0,
            total: run.steps.len(),
            guarded: run.created.files.iter().map(|(path, _)| PathBuf::from(path)).collect(),
        });
        known.done = run.closed();
    }

    /// Returns what the gate must know of a task.
    fn bound(&self, task: &Task, tools: Option<Vec<String>>) -> Result<Bound, String> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            runs.get(&task.run).ok_or_else(|| format!("run {} is not driven here", task.run))?.clone();
        let step_type = match task.worker {
            Worker::Agent { .. } => StepType::Agent,
            Worker::Skill { .. } => StepType::Skill,
        };
        let driver = Relative::of(std::process::id());
        Ok(Bound {
            run: task.run.to_string(),
            ability: known.ability,
            level: known.level.word().to_owned(),
            step: Some(BoundStep {
                id: task.key.to_string(),
                step_type: step_type.word().to_owned(),
                tools,
                task: task.prompt.chars().take(TASK).collect(),
                waits_for_human: false,
            }),
            done: known.done,
            total: known.total,
            root: task.folder.clone(),
            log: self.log.clone(),
            driver: driver.ok_or_else(|| "abide cannot tell which process it is".to_owned())?,
            sub_agent: None,
            guarded: known.guarded,
        })
    }

    /// Returns what makes a client ask the gate.
    fn asking(&self, client: Client, gate: &Gate) -> Result<Hooked, String> {
        let client = match client {
            Client::Claude => abide_clients::Client::Claude,
            Client::Opencode => abide_clients::Client::OpenCode,
            Client::Codex => abide_clients::Client::Codex,
        };
        let binary = self.surroundings.binary.as_deref().filter(|path| path.is_file());
        let binary = binary
            .ok_or_else(|| "abide does not find its own program, which the client must ask".to_owned())?;
        let inherited = |name: &str| self.surroundings.variable(name);
        let hooked = hooked(client, binary, &self.places, &gate.folder().join("plugins"), inherited);
        let hooked = hooked.map_err(|error| error.to_string())?;
        if let Some((path, text)) = &hooked.file {
            write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        Ok(hooked)
    }
}

/// Writes a file, unless it is there as it should be: a client may be reading it.
#[expect(clippy::disallowed_methods, reason = "the plugin of a session is a file beside those of the gate")]
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let file = tempfile::NamedTempFile::new_in(folder)?;
    std::fs::write(file.path(), text)?;
    file.persist(path)?;
    Ok(())
}

impl Keeper for Posts {
    fn hold(&self, client: Client, task: &Task, tools: Option<Vec<String>>) -> Result<Held, String> {
        let gate = self.gate()?;
        let bound = self.bound(task, tools)?;
        let loose = bound.level == Enforcement::Loose.word();
        let Hooked { arguments, mut variables, .. } = self.asking(client, gate)?;
        let name = uuid::Uuid::now_v7().to_string();
        gate.make_seat(&name, &Seat { bound, client: client.word().to_owned(), rules: self.rules(task) })
            .map_err(|error| error.to_string())?;
        variables.push((VARIABLE.to_owned(), name.clone()));
        Ok(Held { arguments, variables, watch: Box::new(Post { gate: gate.clone(), name, loose }) })
    }

    fn judge(&self, task: &Task, tools: Option<Vec<String>>) -> Result<Box<dyn Judge>, String> {
        let bound = self.bound(task, tools)?;
        let level = Enforcement::parse(&bound.level).unwrap_or(Enforcement::Strict);
        Ok(Box::new(SeatJudge {
            surroundings: self.surroundings.clone(),
            gate: self.gate()?.clone(),
            bound,
            level,
            agent: Some(task.worker.agent().to_owned()),
            rules: self.rules(task),
            session: SessionId::new(abide_core::policy::Client::Other, format!("acp-{}", task.mark)),
        }))
    }
}

/// A seat that was made, for as long as its session is there.
struct Post {
    gate: Gate,
    name: String,
    loose: bool,
}

impl Watch for Post {
    fn is_loose(&self) -> bool {
        self.loose
    }

    fn has_asked(&self) -> bool {
        self.gate.asked_in_seat(&self.name).anything
    }

    fn has_asked_about(&self, call: &str) -> bool {
        let asked = self.gate.asked_in_seat(&self.name);
        asked.more || asked.calls.iter().any(|known| known == call)
    }

    fn calls(&self) -> usize {
        let asked = self.gate.asked_in_seat(&self.name);
        if asked.more { usize::MAX } else { asked.calls.len() }
    }
}

impl Drop for Post {
    fn drop(&mut self) {
        // One that stays is of a driver that will be gone, and is forgotten then.
        let _ = self.gate.remove_seat(&self.name);
    }
}

impl Observer for Posts {
    fn begun(&self, run: &Run) {
        self.observer.begun(run);
    }

    fn driving(&self, run: &Run) {
        self.look(run);
        self.observer.driving(run);
    }

    fn event(&self, run: &Run, event: &Event) {
        self.look(run);
        self.observer.event(run, event);
    }

    fn output(&self, run: &RunId, key: &str, line: &Line) {
        self.observer.output(run, key, line);
    }
}
