//! A project, a driver on a real store with real processes, and somebody who answers.

use abide_core::event::{RunId, StepKey};
use abide_core::run::{Command, Run};
use abide_core::value::Value;
use abide_core::view::status::step_lines;
use abide_engine::driver::{Driver, Nobody, Observer};
use abide_engine::port::{
    Cancel, Clock, Ending, Holder, Process, ProcessError, Runner, Runners, Sink, Spec, Variable,
};
use abide_engine::service::{self, Start};
use abide_process::LocalProcess;
use abide_store_sqlite::{Settings, SqliteStore};
use abide_testkit::RealClock;
use abide_testkit::conformance::FolderWorkspace;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A project in a folder that is gone when this is dropped.
pub(crate) struct Project(tempfile::TempDir);

impl Project {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.root().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a script that can be called by its path.
    pub(crate) fn script(&self, file: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(file, &format!("#!/bin/sh\nset -eu\n{text}\n"));
        std::fs::set_permissions(self.root().join(file), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.root().join(file)).ok()
    }
}

/// Real processes that find the project's stand-ins in `bin/` first.
pub(crate) struct StandIns {
    process: LocalProcess,
    bin: PathBuf,
}

impl Process for StandIns {
    async fn run(
        &self,
        mut spec: Spec,
        cancel: impl Cancel,
        sink: impl Sink,
    ) -> Result<Ending, ProcessError> {
        let value = format!("{}:{}", self.bin.display(), std::env::var("PATH").unwrap());
        spec.variables.push(Variable { name: "PATH".to_owned(), value, secret: false });
        self.process.run(spec, cancel, sink).await
    }

    async fn sweep(&self, marks: &[String]) -> usize {
        self.process.sweep(marks).await
    }
}

pub(crate) type TestDriver<C> = Driver<SqliteStore, StandIns, FolderWorkspace, C>;

/// Puts a driver together in a project.
pub(crate) fn driver<C: Clock>(
    project: &Project,
    clock: C,
    runner: Arc<dyn Runner>,
) -> (TestDriver<C>, Arc<SqliteStore>) {
    driver_for(project, clock, runner, Arc::new(Nobody))
}

/// Puts a driver together that somebody watches.
pub(crate) fn driver_for<C: Clock>(
    project: &Project,
    clock: C,
    runner: Arc<dyn Runner>,
    observer: Arc<dyn Observer>,
) -> (TestDriver<C>, Arc<SqliteStore>) {
    let settings = Settings::new(|| RealClock::default().now().0);
    let store = Arc::new(SqliteStore::open(&project.root().join(".abide/state/log.db"), settings).unwrap());
    let process = StandIns { process: LocalProcess::new(), bin: project.root().join("bin") };
    let workspace = FolderWorkspace::new(project.root(), Vec::new());
    let ports = (Arc::clone(&store), Arc::new(process), Arc::new(workspace), Arc::new(clock));
    let holder = Holder { name: "test".to_owned(), process: std::process::id() };
    let driver = Driver::new(ports, holder, observer, Arc::new(|_| false));
    (driver.with_runners(Runners::default().with("scripted", runner)), store)
}

/// Starts a run.
pub(crate) async fn start<C: Clock>(driver: &TestDriver<C>, ability: &str, inputs: &[(&str, &str)]) -> RunId {
    let inputs = inputs.iter().map(|(name, value)| ((*name).to_owned(), Value::Text((*value).to_owned())));
    let start = Start {
        ability: ability.to_owned(),
        inputs: inputs.collect(),
        input: String::new(),
        by: "ada".into(),
        session: None,
        parent: None,
        depth: 0,
        id: None,
        trace: None,
    };
    service::start(driver, start).await.unwrap()
}

/// Starts a run and drives it to its end, while grace answers what is asked.
pub(crate) async fn run_to_end(
    project: &Project,
    runner: Arc<dyn Runner>,
    ability: &str,
    inputs: &[(&str, &str)],
    answers: &[(&str, &str)],
) -> Run {
    let (driver, store) = driver(project, RealClock::default(), runner);
    let id = start(&driver, ability, inputs).await;
    let (_stop, stopped) = tokio::sync::watch::channel(None);
    let answering = async {
        for (step, answer) in answers {
            let key = StepKey::parse(step).unwrap();
            loop {
                let run = abide_engine::load(&*store, &id).await.unwrap().run;
                if run.questions().iter().any(|(asked, _)| *asked == key) {
                    break;
                }
                assert!(!run.is_finished(), "`{step}` was never asked");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let now = RealClock::default().now();
            let answer =
                Command::Answer { key, answer: (*answer).into(), by: "grace".into(), comment: None, now };
            service::command(&driver, &id, answer).await.unwrap();
        }
    };
    let both = async { tokio::join!(driver.drive(id.clone(), stopped), answering) };
    let (status, ()) = tokio::time::timeout(Duration::from_secs(30), both).await.unwrap();
    status.unwrap();
    abide_engine::load(&*store, &id).await.unwrap().run
}

/// Returns how the run and its steps are.
pub(crate) fn picture(run: &Run) -> String {
    let steps = step_lines(run).into_iter().map(|line| {
        let note = line.note.map(|note| format!(" {note}")).unwrap_or_default();
        format!("{} {}{note}\n", line.mark.sign(), line.key)
    });
    format!("{}\n{}", run.status().word(), steps.collect::<String>())
}
