//! abide's own loop, wired: which agent talks, with which model and tools, and what holds it.
//!
//! [`runner`] is the runner `builtin` of agent steps; [`Here::seat`] puts an agent together for whoever lets it talk.

mod abilities;
mod keeping;
mod rules;
mod seat;
mod session_gate;
pub(crate) mod skills;
mod summaries;
mod talking;

pub(crate) use abilities::{Abilities, Human, NoHuman};
pub(crate) use keeping::forget_old_sessions;
pub(crate) use rules::Manner;
pub(crate) use seat::{Here, Purpose, Wanted};
pub(crate) use session_gate::SessionGate;
use skills::SkillStep;
pub(crate) use talking::Talking;

use crate::runs::{self, SystemClock};
use crate::session::Session;
use abide_engine::port::{
    Answer, Cancellation, Later, Listener, Runner, RunnerEnd, Summarizer, Task, Worker,
};
use abide_engine::turn::{BuiltinRunner, Cast, Seat};
use abide_store_sqlite::SqliteStore;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How many skills may wait to be told what to do.
const MOST_WAITING: usize = 256;

/// Returns where the sessions of a project lie: beside the log of its runs, and not in it, because they are many and long.
pub(crate) fn sessions_file(session: &Session<'_>) -> PathBuf {
    runs::log_file(session).with_file_name("sessions.db")
}

/// Returns the runner `builtin`. Nothing is opened before it has something to do.
pub(crate) fn runner(session: &Session<'_>) -> Arc<dyn Runner> {
    Arc::new(LocalRunner {
        here: Arc::new(Here::of(session)),
        file: sessions_file(session),
        inner: OnceLock::new(),
    })
}

/// Returns who puts outputs in short.
pub(crate) fn summarizer(session: &Session<'_>) -> Arc<dyn Summarizer> {
    Arc::new(summaries::LocalSummaries(Arc::new(Here::of(session))))
}

/// The runner, made when it is first needed: runs of scripts alone keep no sessions.
struct LocalRunner {
    here: Arc<Here>,
    file: PathBuf,
    inner: OnceLock<BuiltinRunner<SqliteStore, SystemClock>>,
}

impl LocalRunner {
    fn inner(&self) -> Result<&BuiltinRunner<SqliteStore, SystemClock>, String> {
        if let Some(inner) = self.inner.get() {
            return Ok(inner);
        }
        let store = SqliteStore::open(&self.file, runs::settings()).map_err(|error| error.to_string())?;
        let cast = Arc::new(StepCast { here: Arc::clone(&self.here), skills: Arc::default() });
        let inner = BuiltinRunner::new(Arc::new(store), Arc::new(SystemClock), cast);
        // Whoever was quicker made the one that all use.
        Ok(self.inner.get_or_init(|| inner))
    }
}

impl Runner for LocalRunner {
    fn execute(&self, task: Task, cancel: Cancellation, listener: Listener) -> Later<Answer> {
        match self.inner() {
            Ok(inner) => inner.execute(task, cancel, listener),
            Err(why) => Box::pin(std::future::ready(Answer::ended(RunnerEnd::Failed(why)))),
        }
    }

    fn keeps(&self) -> bool {
        true
    }

    fn unusable(&self) -> Option<String> {
        self.here.no_model()
    }
}

/// Finds who does the step of a run.
struct StepCast {
    here: Arc<Here>,
    /// The skills of steps that somebody sits down for, by the mark of the attempt, until they are told what to do.
    skills: Arc<Mutex<HashMap<String, SkillStep>>>,
}

impl Cast for StepCast {
    fn seat(&self, task: &Task) -> Later<Result<Seat, String>> {
        let (here, task, skills) = (Arc::clone(&self.here), task.clone(), Arc::clone(&self.skills));
        Box::pin(async move {
            match &task.worker {
                Worker::Agent { name } => here.seat(&Wanted::step(name.clone(), &task)).await,
                Worker::Skill { name, .. } => {
                    let (seat, step) = SkillStep::of(&here, name, &task).await?;
                    let mut skills = skills.lock().unwrap_or_else(PoisonError::into_inner);
                    if skills.len() >= MOST_WAITING {
                        // Those of attempts that went on and had to be told nothing.
                        skills.clear();
                    }
                    skills.insert(task.mark, step);
                    Ok(seat)
                }
            }
        })
    }

    fn message(&self, task: &Task) -> Later<Result<String, String>> {
        let (here, task, skills) = (Arc::clone(&self.here), task.clone(), Arc::clone(&self.skills));
        Box::pin(async move {
            match &task.worker {
                Worker::Agent { .. } => Ok(task.message()),
                Worker::Skill { name, inputs } => {
                    let known = skills.lock().unwrap_or_else(PoisonError::into_inner).remove(&task.mark);
                    let step = match known {
                        Some(step) => step,
                        None => SkillStep::of(&here, name, &task).await?.1,
                    };
                    let prompt = step.told(name, inputs).await?;
                    Ok(Task { prompt, ..task }.message())
                }
            }
        })
    }
}
