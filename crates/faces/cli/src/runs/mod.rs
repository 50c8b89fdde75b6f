//! Runs on this machine: the driver put together from its adapters.

mod background;
mod clock;
mod crash;
mod find;
mod inputs;
mod leaving;
mod progress;
mod prompt;
mod screen;
mod start;
mod stubs;
mod workspace;

pub(crate) use background::{arrive, detach};
pub(crate) use clock::SystemClock;
pub(crate) use find::{Wanted, find_run, go_on_after, load_run, summary, text_of};
pub(crate) use inputs::{Taken, given, secrets_given};
pub(crate) use leaving::Leaving;
pub(crate) use progress::{Lines, Progress, Told};
pub(crate) use prompt::ask_for_secrets;
pub(crate) use screen::Screen;
pub(crate) use start::{called, can_begin, plan, prepare, start_of};
pub(crate) use stubs::stubs;
pub(crate) use workspace::LocalWorkspace;

use crate::session::Session;
use crate::ui::moment::moment;
use crate::{Exit, Failure};
use abide_core::definition::RunSettings;
use abide_core::run::RunStatus;
use abide_engine::LoadError;
use abide_engine::driver::{Driver, Observer};
use abide_engine::history::Limits;
use abide_engine::port::{Clock as _, Holder, Store, StoreError};
use abide_engine::service::ServiceError;
use abide_process::LocalProcess;
use abide_store_sqlite::{Settings, SqliteStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The driver of this machine.
pub(crate) type LocalDriver = Driver<SqliteStore, LocalProcess, LocalWorkspace, SystemClock>;

/// Returns where the log of a project lies: beside its `.abide`, or at the root of a project that has none yet.
pub(crate) fn log_file(session: &Session<'_>) -> PathBuf {
    let folders = session.place.project_folders();
    let home = folders.iter().find(|folder| folder.join(".abide").is_dir());
    home.cloned().unwrap_or_else(|| session.place.root()).join(".abide/state/log.db")
}

pub(crate) fn settings() -> Settings {
    Settings::new(|| SystemClock.now().0)
}

/// Opens the log, making it if there is none.
pub(crate) fn open_store(session: &Session<'_>) -> Result<SqliteStore, Failure> {
    SqliteStore::open(&log_file(session), settings()).map_err(|error| store_failure(&error))
}

/// Opens the log if there is one.
pub(crate) fn find_store(session: &Session<'_>) -> Result<Option<SqliteStore>, Failure> {
    SqliteStore::find(&log_file(session), settings()).map_err(|error| store_failure(&error))
}

/// Puts the driver together.
pub(crate) fn driver(session: &Session<'_>, store: SqliteStore, observer: Arc<dyn Observer>) -> LocalDriver {
    driver_on(session, Arc::new(store), observer, (holder(), Arc::new(is_dead)))
}

/// Tells whether the process of a holder is gone.
pub(crate) type IsDead = Arc<dyn Fn(&Holder) -> bool + Send + Sync>;

/// Puts the driver together on any log.
pub(crate) fn driver_on<S: Store>(
    session: &Session<'_>,
    store: Arc<S>,
    observer: Arc<dyn Observer>,
    (holder, is_dead): (Holder, IsDead),
) -> Driver<S, LocalProcess, LocalWorkspace, SystemClock> {
    let process = Arc::new(LocalProcess::new().only_parent());
    let workspace = LocalWorkspace::new(session, Arc::clone(&process));
    let ports = (store, process, Arc::new(workspace), Arc::new(SystemClock));
    Driver::new(ports, holder, crash::armed(session, observer), is_dead)
}

/// Returns how long runs are kept.
pub(crate) fn limits(session: &Session<'_>) -> Limits {
    let settings = session.configuration().config.runs;
    let keep = settings.keep.map_or(RunSettings::KEEP, |keep| keep.value);
    Limits { keep: keep.into(), keep_for: settings.keep_for.map(|time| time.value.time()) }
}

/// Returns whether a run that lies in a log is over, as far as that can be read.
pub(crate) fn is_over(log: &Path, run: &str) -> bool {
    let Ok(Some(store)) = SqliteStore::find(log, settings()) else { return false };
    let head = match look_up(store.head(run)) {
        Ok(Ok(Some(head))) => head,
        // Its driver was gone before it began.
        Ok(Ok(None)) => return true,
        _ => return false,
    };
    let summary = summary(&head);
    let status = text_of(&summary, "status");
    let ends = [RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled, RunStatus::TimedOut];
    ends.iter().any(|end| status == Some(end.word()))
}

/// Runs something asynchronous to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::System, format!("cannot start: {error}")))?;
    Ok(runtime.block_on(work))
}

/// Reads from the log to the end: nothing is waited for, so there is nothing to set up for waiting.
pub(crate) fn look_up<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::System, format!("cannot start: {error}")))?;
    Ok(runtime.block_on(work))
}

/// Says who this process is, so that others can see whether it lives.
pub(crate) fn holder() -> Holder {
    let process = std::process::id();
    Holder { name: name_of(process).unwrap_or_else(|| format!("process {process}")), process }
}

/// Tells whether the process of a holder is gone, or another one has its number now.
pub(crate) fn is_dead(holder: &Holder) -> bool {
    name_of(holder.process).is_none_or(|name| name != holder.name)
}

/// Returns the name of a process that lives, which none after it will have.
fn name_of(process: u32) -> Option<String> {
    Some(format!("process {process} (start {})", process_start(process)?))
}

/// Returns when a process was started, as the system counts.
#[expect(clippy::disallowed_methods, reason = "whether a driver lives is asked where things are wired")]
fn process_start(process: u32) -> Option<String> {
    let stat = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).ok()?;
    // The name in parentheses may hold anything; what counts stands after it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

pub(crate) fn store_failure(error: &StoreError) -> Failure {
    let failed = |exit: Exit| Failure::new(exit, error.to_string());
    match error {
        StoreError::Unknown(_) => failed(Exit::NotFound),
        StoreError::Held { stream, .. } => failed(Exit::Refused)
            .help(format!("`abide logs -f {stream}` follows it, `abide cancel {stream}` ends it")),
        StoreError::LeaseLost(stream) => failed(Exit::Refused)
            .help(format!("another process drives the run now: `abide logs -f {stream}` follows it")),
        StoreError::Unwritable { .. } => {
            failed(Exit::System).help("nothing was half written: put that right and try again")
        }
        StoreError::Damaged { .. } => failed(Exit::System)
            .help("`abide audit verify` looks at the whole log; other runs are not touched"),
        StoreError::Unreadable { .. } | StoreError::Other { .. } | StoreError::Conflict { .. } => {
            failed(Exit::System)
        }
    }
}

pub(crate) fn load_failure(error: &LoadError) -> Failure {
    match error {
        LoadError::Store(error) => store_failure(error),
        _ => {
            Failure::new(Exit::System, error.to_string()).help("`abide audit verify` looks at the whole log")
        }
    }
}

pub(crate) fn service_failure(error: &ServiceError) -> Failure {
    match error {
        ServiceError::Workspace(error) => {
            let failure = Failure::new(Exit::NotFound, error.message.clone());
            match &error.help {
                Some(help) => failure.help(help.clone()),
                None => failure,
            }
        }
        ServiceError::Load(error) => load_failure(error),
        ServiceError::Store(error) => store_failure(error),
        ServiceError::Unsupported { .. } => Failure::new(Exit::Refused, error.to_string())
            .help("an agent in Claude Code, OpenCode or Codex can run it: see `abide install --help`"),
        ServiceError::Inputs(problems) => {
            Failure::several(Exit::Usage, problems.clone()).help("give inputs as `-i name=value`")
        }
        ServiceError::Answered(given) => {
            Failure::new(Exit::Refused, format!("{given}, {}", moment(given.at)))
        }
        _ => Failure::new(Exit::Refused, error.to_string()),
    }
}

/// Returns the exit code that stands for how a run is.
pub(crate) fn exit_of(status: RunStatus) -> Exit {
    match status {
        RunStatus::Completed => Exit::Done,
        RunStatus::Failed => Exit::RunFailed,
        RunStatus::Cancelled => Exit::RunCancelled,
        RunStatus::TimedOut => Exit::RunTimedOut,
        RunStatus::AwaitingPlan | RunStatus::Running | RunStatus::Waiting | RunStatus::Interrupted => {
            Exit::RunUnfinished
        }
    }
}

/// Returns who sits at this terminal.
pub(crate) fn user(session: &Session<'_>) -> String {
    let names = ["ABIDE_USER", "USER", "LOGNAME"];
    names.iter().find_map(|name| session.surroundings.variable(name)).unwrap_or_else(|| "somebody".to_owned())
}
