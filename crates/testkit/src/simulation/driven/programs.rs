//! The programs that drive a run: they come, crash, leave, and now and then there are two.

use super::host::Host;
use super::stage::{SimulatedDriver, Stage};
use abide_core::event::{Event, RunId};
use abide_core::run::{Run, RunStatus};
use abide_engine::LoadError;
use abide_engine::driver::{DriveError, Observer};
use abide_engine::port::{Signal, StoreError};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What a driver told whoever watches it.
#[derive(Debug, Default)]
struct Seen(Mutex<Vec<(RunId, Event)>>);

impl Observer for Seen {
    fn event(&self, run: &Run, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((run.id.clone(), event.clone()));
    }
}

struct Program {
    host: Arc<Host>,
    driver: SimulatedDriver,
    seen: Arc<Seen>,
    drive: Option<Drive>,
}

struct Drive {
    stop: watch::Sender<Option<Signal>>,
    task: JoinHandle<Result<RunStatus, DriveError>>,
}

impl Program {
    fn is_driving(&self) -> bool {
        self.drive.as_ref().is_some_and(|drive| !drive.task.is_finished())
    }
}

pub(super) struct Programs {
    stage: Arc<Stage>,
    id: RunId,
    all: Vec<Program>,
    /// Whether nothing has happened yet that could make a driver lose its lease while it lives.
    pub(super) at_peace: bool,
}

impl Programs {
    pub(super) fn new(stage: &Arc<Stage>, id: &RunId) -> Self {
        Self { stage: Arc::clone(stage), id: id.clone(), all: Vec::new(), at_peace: true }
    }

    /// Tells whether a program that lives drives the run, or believes so.
    pub(super) fn is_driven(&self) -> bool {
        self.all.iter().any(Program::is_driving)
    }

    /// Lets a program drive the run: a new one, or one that has driven before.
    pub(super) fn resume(&mut self) {
        let rest: Vec<usize> = (0..self.all.len())
            .filter(|at| !self.all[*at].host.is_gone() && self.all[*at].drive.is_none())
            .collect();
        let (again, at) = {
            let mut chance = self.stage.chance();
            (chance.percent(30), chance.position(rest.len()))
        };
        let which = match rest.get(at) {
            Some(known) if again => *known,
            _ => self.arrive(),
        };
        self.drive(which);
    }

    fn arrive(&mut self) -> usize {
        let host = self.stage.host();
        let seen = Arc::new(Seen::default());
        let driver = self.stage.driver(&host, Arc::clone(&seen) as Arc<dyn Observer>);
        self.all.push(Program { host, driver, seen, drive: None });
        self.all.len() - 1
    }

    fn drive(&mut self, which: usize) {
        let (stop, stopped) = watch::channel(None);
        let program = &mut self.all[which];
        // What is told now has nothing to do with what it was told the last time.
        program.seen.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.stage.ledger().tell(|| format!("{} drives", program.host.holder.name));
        let (driver, id) = (program.driver.clone(), self.id.clone());
        let task = tokio::spawn(async move { driver.drive(id, stopped).await });
        program.drive = Some(Drive { stop, task });
    }

    /// One of the programs that drive.
    fn one(&mut self, what: &str) -> Option<&mut Program> {
        let driving: Vec<usize> = (0..self.all.len()).filter(|at| self.all[*at].is_driving()).collect();
        let at = self.stage.chance().position(driving.len());
        let program = driving.get(at).map(|at| &mut self.all[*at])?;
        self.stage.ledger().tell(|| format!("{} {what}", program.host.holder.name));
        Some(program)
    }

    /// A program is gone from one moment to the next, and nobody ends what it started.
    pub(super) fn crash(&mut self) {
        if let Some(program) = self.one("crashes") {
            program.host.crash();
            if let Some(drive) = program.drive.take() {
                drive.task.abort();
            }
        }
    }

    /// A program is asked to leave the run.
    pub(super) fn leave(&mut self) {
        let signal = if self.stage.chance().percent(50) { Signal::Ask } else { Signal::Kill };
        if let Some(drive) = self.one("is asked to leave").and_then(|program| program.drive.as_ref()) {
            drive.stop.send_replace(Some(signal));
        }
    }

    /// A program goes on, but drops what drives the run.
    pub(super) fn drop_one(&mut self) {
        if let Some(drive) = self.one("drops what it drives").and_then(|program| program.drive.take()) {
            drive.task.abort();
        }
    }

    /// A second program wants the run.
    pub(super) async fn rival(&mut self) {
        let first: Vec<usize> = (0..self.all.len()).filter(|at| self.all[*at].is_driving()).collect();
        let rival = self.arrive();
        self.drive(rival);
        self.stage.clock.sleep(1).await;
        let both = first.iter().any(|at| self.all[*at].is_driving()) && self.all[rival].is_driving();
        assert!(!(self.at_peace && both), "two drivers drive one run");
        self.look().await;
    }

    /// Looks at what came of those that are done, and at whether a law was broken meanwhile.
    pub(super) async fn look(&mut self) {
        for program in &mut self.all {
            if !program.drive.as_ref().is_some_and(|drive| drive.task.is_finished()) {
                continue;
            }
            let Some(drive) = program.drive.take() else { continue };
            let ended = drive.task.await;
            let mut ledger = self.stage.ledger();
            ledger.tell(|| format!("{} is done: {ended:?}", program.host.holder.name));
            let log = ledger.log(self.id.as_str());
            match ended {
                Ok(Ok(status)) => {
                    let over = matches!(log.last(), Some((_, Event::Finished { .. })));
                    assert!(over || !status.is_final(), "the driver says {status:?}, and the log does not");
                }
                Ok(Err(error)) => assert!(is_expected(&error), "the driver gave up: {error}"),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => {}
            }
            let seen: Vec<(RunId, Event)> =
                std::mem::take(&mut *program.seen.0.lock().unwrap_or_else(PoisonError::into_inner));
            let seen: Vec<&Event> =
                seen.iter().filter(|(run, _)| *run == self.id).map(|(_, event)| event).collect();
            let told = seen.is_empty()
                || log
                    .windows(seen.len())
                    .any(|part| part.iter().map(|(_, event)| event).eq(seen.iter().copied()));
            assert!(told, "whoever watches misses events: {seen:#?}\nof {log:#?}");
        }
        let broken = std::mem::take(&mut self.stage.ledger().broken);
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }
}

/// Tells whether a driver may give up for a reason: the store's, or another driver's.
fn is_expected(error: &DriveError) -> bool {
    let of_the_store = |error: &StoreError| {
        matches!(
            error,
            StoreError::Held { .. }
                | StoreError::LeaseLost(_)
                | StoreError::Unwritable { .. }
                | StoreError::Other { .. }
        )
    };
    match error {
        DriveError::Store(error) | DriveError::Load(LoadError::Store(error)) => of_the_store(error),
        _ => false,
    }
}
