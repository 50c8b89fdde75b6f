//! What executes the steps of agents and skills on this machine: the one place where runners are put together.
//!
//! A step that names no runner is executed by the first one: what the configuration says, else abide's own loop.

mod briefed;
mod judge;
mod posts;
mod profiles;

use crate::runs::{LocalWorkspace, SystemClock};
use crate::session::Session;
use crate::{Surroundings, builtin, commands, runs};
use abide_clients::launch::codex_has_sandbox;
use abide_core::definition;
use abide_engine::driver::{Driver, Observer};
use abide_engine::port::{
    Answer, Cancellation, Holder, Later, Listener, Runner, RunnerEnd, Runners, Store, Task,
};
use abide_process::LocalProcess;
use abide_runners::{AcpRunner, Client, ClientRunner, Finder};
use abide_store_sqlite::SqliteStore;
pub(crate) use briefed::Briefed;
use posts::Posts;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Puts a driver together that can execute every step.
pub(crate) fn driver(
    session: &Session<'_>,
    store: SqliteStore,
    observer: Arc<dyn Observer>,
) -> runs::LocalDriver {
    let posts = Arc::new(Posts::new(session, observer));
    let runners = all(session, &posts);
    runs::driver(session, store, posts).with_runners(runners)
}

/// Puts a driver together for the runs of sessions: a step that names no runner is the session's, all others are executed as when
/// somebody runs the ability by hand.
pub(crate) fn session_driver(
    session: &Session<'_>,
    store: SqliteStore,
    observer: Arc<dyn Observer>,
    own: Arc<dyn Runner>,
) -> runs::LocalDriver {
    let posts = Arc::new(Posts::new(session, observer));
    let default = session.configuration().config.runner.map(|runner| runner.value);
    let others = others(session, &posts, default.as_ref());
    let runners = Runners::default().with_summarizer(builtin::summarizer(session)).with("session", own);
    let runners = others.into_iter().fold(runners, |runners, (word, runner)| runners.with(word, runner));
    runs::driver(session, store, posts).with_runners(runners)
}

/// Puts a driver together for a server whose log lies beside the project.
pub(crate) fn server_driver<S: Store>(
    session: &Session<'_>,
    store: Arc<S>,
    observer: Arc<dyn Observer>,
) -> Driver<S, LocalProcess, LocalWorkspace, SystemClock> {
    let posts = Arc::new(Posts::new(session, observer));
    let runners = all(session, &posts);
    let who = (runs::holder(), Arc::new(runs::is_dead) as runs::IsDead);
    runs::driver_on(session, store, posts, who).with_runners(runners)
}

/// Puts a driver together for a server whose log is a database that others may share.
///
/// The gate finds a run in the log beside the project, and takes one that is not there for over: an agent in a client would not be held.
pub(crate) fn shared_driver<S: Store>(
    session: &Session<'_>,
    store: Arc<S>,
    observer: Arc<dyn Observer>,
) -> Driver<S, LocalProcess, LocalWorkspace, SystemClock> {
    let mut runners = Runners::default()
        .with_summarizer(builtin::summarizer(session))
        .with("builtin", builtin::runner(session));
    for word in ["claude", "opencode", "codex", "session", "acp"] {
        runners = runners.with(word, Arc::new(Absent(NO_CLIENT)));
    }
    runs::driver_on(session, store, observer, shared_holder()).with_runners(runners)
}

/// Returns who a server is whose log others share, and what it knows of them: whether a process of another machine lives cannot be
/// seen from here, and its lease ends by itself.
pub(crate) fn shared_holder() -> (Holder, runs::IsDead) {
    let mut holder = runs::holder();
    holder.name = format!("{} {}", holder.name, uuid::Uuid::now_v7());
    (holder, Arc::new(|_| false))
}

/// Returns the runners, to see whether a step could be executed; what they execute is nobody's.
pub(crate) fn runners(session: &Session<'_>) -> Runners {
    all(session, &Arc::new(Posts::new(session, Arc::new(abide_engine::driver::Nobody))))
}

fn all(session: &Session<'_>, posts: &Arc<Posts>) -> Runners {
    let default = session.configuration().config.runner.map(|runner| runner.value);
    let mut all = others(session, posts, default.as_ref());
    all.push(("session".to_owned(), Arc::new(Absent(NO_SESSION))));
    let first = match &default {
        Some(definition::Runner::Acp(_)) => "acp".to_owned(),
        Some(runner) => runner.to_string(),
        None => "builtin".to_owned(),
    };
    // Of those that a step could mean, the first of a name counts.
    all.sort_by_key(|(word, _)| *word != first);
    let runners = Runners::default().with_summarizer(builtin::summarizer(session));
    all.into_iter().fold(runners, |runners, (word, runner)| runners.with(word, runner))
}

/// Returns what abide itself starts: every runner but the session of somebody.
fn others(
    session: &Session<'_>,
    posts: &Arc<Posts>,
    usual: Option<&definition::Runner>,
) -> Vec<(String, Arc<dyn Runner>)> {
    // abide's own loop fills skills in itself; nobody else knows what they are.
    let here = Arc::new(builtin::Here::of(session));
    let briefed = |runner| Arc::new(Briefed::new(runner, Arc::clone(&here))) as Arc<dyn Runner>;
    let mut all: Vec<(String, Arc<dyn Runner>)> = vec![("builtin".to_owned(), builtin::runner(session))];
    all.extend(clients(session, posts).into_iter().map(|(word, runner)| (word, briefed(runner))));
    all.push(("acp".to_owned(), briefed(acp(session, posts, usual))));
    all
}

/// Returns the runners of the clients.
fn clients(session: &Session<'_>, posts: &Arc<Posts>) -> Vec<(String, Arc<dyn Runner>)> {
    let profiles = Arc::clone(posts.profiles());
    let process = Arc::new(LocalProcess::new().only_parent());
    let of = |client: Client| {
        let program = on_path(session.surroundings, client.word());
        let machine = (Arc::clone(&process), Arc::new(SystemClock));
        let has_sandbox = client == Client::Codex && codex_has_sandbox(&commands::places(session));
        let runner =
            ClientRunner::new(client, program, machine, Arc::clone(posts) as _, Arc::clone(&profiles) as _)
                .with_own_sandbox(has_sandbox);
        (client.word().to_owned(), Arc::new(runner) as Arc<dyn Runner>)
    };
    Client::ALL.map(of).to_vec()
}

/// Returns the runner of agents that speak the Agent Client Protocol.
fn acp(session: &Session<'_>, posts: &Arc<Posts>, usual: Option<&definition::Runner>) -> Arc<dyn Runner> {
    let machine = (Arc::new(LocalProcess::new().only_parent()), Arc::new(SystemClock));
    let (surroundings, root) = (session.surroundings.clone(), session.place.root());
    let find: Finder = Arc::new(move |name| {
        if name.contains('/') {
            // As a word of a script would: from the root of the project.
            let path = root.join(name);
            return is_executable(&path).then_some(path);
        }
        on_path(&surroundings, name)
    });
    let usual = match usual {
        Some(definition::Runner::Acp(command)) => Some(command.clone()),
        _ => None,
    };
    let profiles = Arc::clone(posts.profiles());
    Arc::new(AcpRunner::new(machine, Arc::clone(posts) as _, profiles as _, find, posts.level(), usual))
}

/// Says of each runner whether it can be used, in the order in which people are told.
pub(crate) fn survey(session: &Session<'_>) -> Vec<(String, Option<String>)> {
    let runners = runners(session);
    let words = ["builtin", "claude", "opencode", "codex"];
    let found = words.iter().filter_map(|word| {
        let runner = runners.find(definition::Runner::parse(word).as_ref())?;
        Some(((*word).to_owned(), runner.unusable()))
    });
    found.collect()
}

/// Finds a program as the system would.
pub(crate) fn on_path(surroundings: &Surroundings, name: &str) -> Option<PathBuf> {
    let path = surroundings.variable("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

#[expect(clippy::disallowed_methods, reason = "whether a program is there is asked of the disk")]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

const NO_CLIENT: &str = "a server on PostgreSQL cannot hold an agent in a client to its step: name the runner `builtin`, or serve without `--database`";
const NO_SESSION: &str = "its runner is the session that starts the run, and a terminal is none: let an agent start it (see `abide install --help`), or name another `runner`";

/// A runner that cannot be used here, with the reason.
struct Absent(&'static str);

impl Runner for Absent {
    fn execute(&self, _: Task, _: Cancellation, _: Listener) -> Later<Answer> {
        let answer = Answer::ended(RunnerEnd::Failed(self.0.to_owned()));
        Box::pin(std::future::ready(answer))
    }

    fn unusable(&self) -> Option<String> {
        Some(self.0.to_owned())
    }
}
