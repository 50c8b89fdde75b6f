//! A runner cannot hold a run: not beyond its time, and not when it is told to end.

use crate::stage::{Project, TestDriver, driver, picture, start};
use abide_core::event::{RunId, Timestamp};
use abide_core::run::RunStatus;
use abide_engine::port::{Answer, Cancellation, Clock, Later, Listener, Runner, RunnerEnd, Signal, Task};
use abide_store_sqlite::SqliteStore;
use abide_testkit::RealClock;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A clock on which a second passes in ten milliseconds.
struct QuickClock {
    real: RealClock,
    began: Instant,
}

const FASTER: u32 = 100;

impl QuickClock {
    fn new() -> Self {
        Self { real: RealClock::default(), began: Instant::now() }
    }
}

impl Clock for QuickClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000_000).after(self.began.elapsed() * FASTER)
    }

    async fn sleep_until(&self, moment: Timestamp) {
        tokio::time::sleep(moment.since(self.now()) / FASTER).await;
    }

    fn new_run(&self) -> RunId {
        self.real.new_run()
    }
}

/// Never answers, whatever it is told, and counts how often it was dropped in the middle.
#[derive(Default)]
struct Stubborn(Arc<AtomicUsize>);

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Runner for Stubborn {
    fn execute(&self, _: Task, cancel: Cancellation, listener: Listener) -> Later<Answer> {
        let dropped = Dropped(Arc::clone(&self.0));
        Box::pin(async move {
            let _held = (cancel, listener, dropped);
            std::future::pending().await
        })
    }
}

/// Says that it was cancelled, though nobody asked for that.
struct Deserter;

impl Runner for Deserter {
    fn execute(&self, _: Task, _: Cancellation, _: Listener) -> Later<Answer> {
        Box::pin(async { Answer::ended(RunnerEnd::Cancelled) })
    }
}

fn project() -> Project {
    let project = Project::new();
    project.write(
        ".abide/abilities/review.yaml",
        "description: A review\nsteps:\n  - { id: review, agent: default, prompt: Review it., timeout: 5s }\n  - { id: after, run: touch after }\n",
    );
    project
}

async fn end_of<C: Clock>(driver: &TestDriver<C>, id: &RunId) -> RunStatus {
    let (_stop, stopped) = tokio::sync::watch::channel(None);
    tokio::time::timeout(Duration::from_secs(20), driver.drive(id.clone(), stopped)).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_runner_that_ignores_its_deadline_is_dropped() {
    let project = project();
    let dropped = Arc::new(AtomicUsize::new(0));
    let (driver, store) = driver(&project, QuickClock::new(), Arc::new(Stubborn(Arc::clone(&dropped))));
    let id = start(&driver, "review", &[]).await;
    assert_eq!(end_of(&driver, &id).await, RunStatus::Failed);
    let run = abide_engine::load(&*store, &id).await.unwrap().run;
    insta::assert_snapshot!(picture(&run), @r"
    failed
    ✗ review it ran out of time
    ○ after
    ");
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    assert_eq!(project.read("after"), None);
}

/// Drives a run until its runner is at work, and leaves it there.
async fn left_in_the_middle(driver: &TestDriver<RealClock>, store: &SqliteStore, id: &RunId) {
    let (stop, stopped) = tokio::sync::watch::channel(None);
    let leave = async {
        while abide_engine::load(store, id).await.unwrap().run.in_flight().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.send(Some(Signal::Kill)).unwrap();
    };
    let both = async { tokio::join!(driver.drive(id.clone(), stopped), leave) };
    let (status, ()) = tokio::time::timeout(Duration::from_secs(10), both).await.unwrap();
    assert!(!status.unwrap().is_final(), "a run that was left goes on later");
}

#[tokio::test]
async fn a_runner_that_ignores_a_cancel_is_dropped() {
    let project = project();
    let dropped = Arc::new(AtomicUsize::new(0));
    let (driver, store) = driver(&project, RealClock::default(), Arc::new(Stubborn(Arc::clone(&dropped))));
    let id = start(&driver, "review", &[]).await;
    left_in_the_middle(&driver, &store, &id).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

/// Whoever does the work remembers it: at the second time it is done.
#[derive(Default)]
struct Faithful {
    told: AtomicUsize,
    forgets: bool,
}

impl Runner for Faithful {
    fn execute(&self, _: Task, _: Cancellation, _: Listener) -> Later<Answer> {
        let told = self.told.fetch_add(1, Ordering::SeqCst);
        Box::pin(
            async move { if told == 0 { std::future::pending().await } else { Answer::finished("done") } },
        )
    }

    fn keeps(&self) -> bool {
        !self.forgets
    }
}

#[tokio::test]
async fn a_worker_that_outlives_its_driver_is_given_the_step_again() {
    for (forgets, end, times) in [(false, RunStatus::Completed, 2), (true, RunStatus::Interrupted, 1)] {
        let project = project();
        let runner = Arc::new(Faithful { forgets, ..Faithful::default() });
        let (driver, store) = driver(&project, RealClock::default(), Arc::clone(&runner) as Arc<dyn Runner>);
        let id = start(&driver, "review", &[]).await;
        left_in_the_middle(&driver, &store, &id).await;
        assert_eq!(end_of(&driver, &id).await, end);
        assert_eq!(runner.told.load(Ordering::SeqCst), times);
    }
}

#[tokio::test]
async fn a_runner_that_says_it_was_cancelled_has_failed() {
    let project = project();
    let (driver, store) = driver(&project, RealClock::default(), Arc::new(Deserter));
    let id = start(&driver, "review", &[]).await;
    assert_eq!(end_of(&driver, &id).await, RunStatus::Failed);
    let run = abide_engine::load(&*store, &id).await.unwrap().run;
    assert!(picture(&run).contains("✗ review its runner failed: it was cancelled"), "{}", picture(&run));
}
