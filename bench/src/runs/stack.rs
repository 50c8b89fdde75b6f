//! The real stack in this process: the driver, the log in SQLite, real processes.

use super::steps::WIDTH;
use abide_core::event::RunId;
use abide_core::run::RunStatus;
use abide_engine::driver::{Driver, Nobody};
use abide_engine::port::{Clock as _, Definition, FoundTexts, Holder, Workspace, WorkspaceError};
use abide_engine::service::{self, Start};
use abide_process::LocalProcess;
use abide_store_sqlite::{Settings, SqliteStore};
use abide_testkit::RealClock;
use anyhow::ensure;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// How the steps of an ability hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One after the other.
    Chain,
    /// All at once, as far as `max_parallel` allows.
    FanOut,
}

/// Writes an ability of so many steps, each of which runs `script`.
pub(crate) fn ability(shape: Shape, steps: usize, script: &str) -> String {
    let mut text = "name: bench\ndescription: As many steps as wanted\n".to_owned();
    if shape == Shape::FanOut {
        let _ = write!(text, "settings:\n  parallel: true\n  max_parallel: {WIDTH}\n");
    }
    text.push_str("steps:\n");
    for number in 0..steps {
        let _ = writeln!(text, "  - id: step-{number}\n    run: {script}");
        if shape == Shape::Chain && number > 0 {
            let _ = writeln!(text, "    needs: [step-{}]", number - 1);
        }
    }
    text
}

/// Everything that a run needs.
pub(crate) struct Stack {
    runtime: Runtime,
    driver: Driver<SqliteStore, LocalProcess, OneAbility, RealClock>,
}

impl Stack {
    /// Puts it together as the command line does, with a log of its own in a folder.
    pub(crate) fn open(folder: &Path, source: String) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let now = || RealClock::default().now().0;
        let store = SqliteStore::open(&folder.join("log.db"), Settings::new(now))?;
        let workspace = OneAbility { source, root: folder.to_path_buf() };
        let ports = (
            Arc::new(store),
            Arc::new(LocalProcess::new().only_parent()),
            Arc::new(workspace),
            Arc::new(RealClock::default()),
        );
        let holder = Holder { name: "bench".to_owned(), process: std::process::id() };
        let driver = Driver::new(ports, holder, Arc::new(Nobody), Arc::new(|_| false));
        Ok(Self { runtime, driver })
    }

    /// Starts a run, drives it to its end and returns its id.
    pub(crate) fn run(&self) -> anyhow::Result<RunId> {
        let start = Start {
            ability: "bench".to_owned(),
            inputs: Vec::new(),
            input: String::new(),
            by: "bench".into(),
            session: None,
            parent: None,
            depth: 0,
            id: None,
            trace: None,
        };
        self.runtime.block_on(async {
            let id = service::start(&self.driver, start).await?;
            let (_stop, stopped) = watch::channel(None);
            let status = self.driver.drive(id.clone(), stopped).await?;
            ensure!(status == RunStatus::Completed, "the run is {}", status.word());
            Ok(id)
        })
    }
}

/// A workspace with one ability in it.
struct OneAbility {
    source: String,
    root: PathBuf,
}

impl Workspace for OneAbility {
    fn ability(&self, name: &str) -> Result<Definition, WorkspaceError> {
        Ok(Definition {
            name: name.to_owned(),
            source: self.source.clone(),
            folder: None,
            root: self.root.clone(),
            files: Vec::new(),
            hooks: Vec::new(),
        })
    }

    async fn secret(&self, name: &str) -> Result<String, WorkspaceError> {
        Err(WorkspaceError { message: format!("there is no secret `{name}`"), help: None })
    }

    fn secret_at_hand(&self, _: &str) -> Option<String> {
        None
    }

    fn secret_variables(&self) -> Vec<String> {
        Vec::new()
    }

    fn exists(&self, _root: &Path, _path: &str) -> bool {
        false
    }

    fn texts(&self, _root: &Path, _pattern: &str) -> Result<FoundTexts, WorkspaceError> {
        Ok(FoundTexts::default())
    }

    fn digest(&self, _path: &Path) -> Option<String> {
        None
    }
}
