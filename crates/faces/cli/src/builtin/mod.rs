//! abide's own loop, wired: which agent talks, with which model and tools, and what holds it.
//!
//! [`runner`] is the runner `builtin` of agent steps; [`Here::seat`] puts an agent together for whoever lets it talk.

mod abilities;
mod rules;
mod seat;
mod session_gate;
mod summaries;

pub(crate) use abilities::{Abilities, Human, NoHuman};
pub(crate) use rules::Manner;
pub(crate) use seat::{Here, Purpose, Wanted};
pub(crate) use session_gate::SessionGate;

use crate::runs::{self, SystemClock};
use crate::session::Session;
use abide_engine::port::{
    Answer, Cancellation, Later, Listener, Runner, RunnerEnd, Summarizer, Task, Worker,
};
use abide_engine::turn::{BuiltinRunner, Cast, Seat};
use abide_store_sqlite::SqliteStore;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

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
        let cast = Arc::new(StepCast(Arc::clone(&self.here)));
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
struct StepCast(Arc<Here>);

impl Cast for StepCast {
    fn seat(&self, task: &Task) -> Later<Result<Seat, String>> {
        let name = match &task.worker {
            Worker::Agent { name } => name.clone(),
            Worker::Skill { name, .. } => {
                let why = format!("the skill `{name}` cannot be run by abide's own loop");
                return Box::pin(std::future::ready(Err(why)));
            }
        };
        let here = Arc::clone(&self.0);
        let task = task.clone();
        Box::pin(async move { here.seat(&Wanted::step(name, &task)).await })
    }
}
