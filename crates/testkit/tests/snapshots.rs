//! Snapshots of runs: a long log is opened without its beginning, and nothing is believed that is not certain.
#![expect(clippy::disallowed_methods, reason = "a run with real processes needs a folder with an ability")]

use abide_core::event::NotedVerdict;
use abide_core::run::{Run, RunStatus};
use abide_core::view::status::Page;
use abide_engine::driver::{Driver, Nobody};
use abide_engine::port::{Holder, NewEvent, Store as _};
use abide_engine::service::{self, Start};
use abide_engine::{LoadError, Loaded, load, load_whole, snapshot, verify};
use abide_process::LocalProcess;
use abide_testkit::conformance::FolderWorkspace;
use abide_testkit::play::Do::{Answer, Fail};
use abide_testkit::play::Play;
use abide_testkit::store::MemoryStore;
use abide_testkit::store::contract::Tampering;
use abide_testkit::{ManualClock, RealClock};
use std::fmt::Write as _;
use std::sync::Arc;

const STUBBORN: &str = "
description: A step that fails, until a human has had enough
steps:
  - { id: flaky, run: make test, on_failure: ask }
";

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work)
}

/// Plays a run that has about so many events.
fn stubborn(events: usize) -> Play {
    let mut play = Play::start(STUBBORN, &[]);
    while play.log.len() < events {
        play.happen(&Fail("flaky", 1)).unwrap();
        play.happen(&Answer("flaky", "retry", "ada")).unwrap();
    }
    play
}

/// Appends what a play has added to its log.
async fn append(store: &MemoryStore, play: &Play, done: usize) {
    let events = play.log[done..].iter();
    let events = events
        .map(|event| NewEvent { kind: event.kind().to_owned(), data: abide_formats::event::write(event) });
    store.append("run-1", done as u64, None, events.collect(), "{}".to_owned()).await.unwrap();
}

fn text(run: &Run) -> String {
    abide_formats::snapshot::write(run)
}

#[test]
fn a_long_run_is_opened_without_its_beginning() {
    block_on(async {
        let store = MemoryStore::new(ManualClock::at(0));
        let mut play = stubborn(600);
        append(&store, &play, 0).await;
        let mut loaded = load(&store, &play.run.id).await.unwrap();
        snapshot::keep(&store, &mut loaded).await.unwrap();
        let done = play.log.len();
        play.happen(&Fail("flaky", 2)).unwrap();
        append(&store, &play, done).await;

        let whole = load_whole(&store, &play.run.id).await.unwrap();
        let Loaded { run, seq, .. } = load(&store, &play.run.id).await.unwrap();
        assert_eq!((seq, text(&run)), (play.log.len() as u64, text(&play.run)));
        assert_eq!((whole.seq, text(&whole.run)), (seq, text(&run)));

        // Somebody changes the middle: what opens the run does not read it, what checks the log does.
        store.tamper(&Tampering::Edit { stream: "run-1", seq: 300, data: "{}" });
        assert_eq!(text(&load(&store, &play.run.id).await.unwrap().run), text(&play.run));
        let error = load_whole(&store, &play.run.id).await.unwrap_err();
        assert!(matches!(error, LoadError::Store(_)), "{error}");
    });
}

#[test]
fn a_snapshot_that_is_not_certain_is_not_used() {
    block_on(async {
        let store = MemoryStore::new(ManualClock::at(0));
        let play = stubborn(600);
        append(&store, &play, 0).await;
        let mut loaded = load(&store, &play.run.id).await.unwrap();
        snapshot::keep(&store, &mut loaded).await.unwrap();
        let (seq, good) = store.snapshot("run-1").await.unwrap().unwrap();
        let other_run = {
            let mut forged = loaded.clone();
            forged.run = stubborn(300).run;
            snapshot::keep(&store, &mut forged).await.unwrap();
            store.snapshot("run-1").await.unwrap().unwrap().1
        };
        // One that only whoever can write the log could make is used, and found when the log is verified.
        assert_ne!(text(&load(&store, &play.run.id).await.unwrap().run), text(&play.run));
        let error = verify(&store, &play.run.id).await.unwrap_err();
        assert!(error.to_string().ends_with("its snapshot does not say what its log says"), "{error}");

        let version = concat!(" ", env!("CARGO_PKG_VERSION"), " ");
        let (head, body) = good.split_once('\n').unwrap();
        let other_event = loaded_hash(&store, seq - 1).await;
        let own_event = loaded_hash(&store, seq).await;
        assert!(good.contains(&own_event));
        for (why, bad) in [
            ("nothing", String::new()),
            ("no body", head.to_owned()),
            ("another version", good.replacen(version, " 0.0.0-other ", 1)),
            ("another format", good.replacen("abide-snapshot/3", "abide-snapshot/4", 1)),
            ("a changed body", good.replace("\"attempt\":", "\"attempt\":1")),
            ("a body cut short", good[..good.len() - 1].to_owned()),
            ("the body of another run", format!("{head}\n{}", other_run.split_once('\n').unwrap().1)),
            ("another event", good.replace(&own_event, &other_event)),
            ("a longer body", format!("{head}\n{body} ")),
        ] {
            assert_ne!(bad, good, "{why}");
            store.save_snapshot("run-1", seq, bad).await.unwrap();
            let loaded = load(&store, &play.run.id).await.unwrap();
            assert_eq!((loaded.seq, text(&loaded.run)), (seq, text(&play.run)), "{why}");
        }
    });
}

#[test]
fn a_run_that_goes_on_or_was_tampered_with_has_no_page() {
    block_on(async {
        let store = MemoryStore::new(ManualClock::at(0));
        let mut play = stubborn(20);
        append(&store, &play, 0).await;
        let mut loaded = load(&store, &play.run.id).await.unwrap();
        snapshot::keep(&store, &mut loaded).await.unwrap();
        assert_eq!(service::page(&store, &play.run.id).await.unwrap(), None, "it goes on");
        let done = play.log.len();
        play.happen(&Fail("flaky", 1)).unwrap();
        play.happen(&Answer("flaky", "stop", "ada")).unwrap();
        append(&store, &play, done).await;
        assert_eq!(service::page(&store, &play.run.id).await.unwrap(), None, "it has gone on since");
        let mut loaded = load(&store, &play.run.id).await.unwrap();
        assert!(loaded.run.is_finished());
        snapshot::keep(&store, &mut loaded).await.unwrap();
        assert_eq!(service::page(&store, &play.run.id).await.unwrap(), Some(Page::of(&play.run)));
        let (seq, good) = store.snapshot("run-1").await.unwrap().unwrap();
        store.save_snapshot("run-1", seq, good.replacen('✗', "✓", 1)).await.unwrap();
        assert_eq!(service::page(&store, &play.run.id).await.unwrap(), None, "a changed page");
        store.save_snapshot("run-1", seq, good).await.unwrap();
        store.tamper(&Tampering::Edit { stream: "run-1", seq, data: "{}" });
        assert!(service::page(&store, &play.run.id).await.is_err(), "the last event is not what it was");
    });
}

async fn loaded_hash(store: &MemoryStore, seq: u64) -> String {
    store.read("run-1", seq..seq + 1).await.unwrap().pop().unwrap().hash
}

#[test]
fn a_driver_keeps_snapshots_and_the_next_one_goes_on_from_them() {
    let folder = tempfile::tempdir().unwrap();
    let abilities = folder.path().join(".abide/abilities");
    std::fs::create_dir_all(&abilities).unwrap();
    let mut ability = "description: Long\nsteps:\n".to_owned();
    for step in 0..80 {
        let _ = writeln!(ability, "  - {{ id: step-{step}, run: echo {step} }}");
    }
    std::fs::write(abilities.join("long.yaml"), ability).unwrap();
    block_on(async {
        let store = Arc::new(MemoryStore::new(ManualClock::at(0)));
        let workspace = FolderWorkspace::new(folder.path(), Vec::new());
        let process = LocalProcess::new();
        let ports =
            (Arc::clone(&store), Arc::new(process), Arc::new(workspace), Arc::new(RealClock::default()));
        let holder = Holder { name: "test".to_owned(), process: std::process::id() };
        let driver = Driver::new(ports, holder, Arc::new(Nobody), Arc::new(|_| false));
        let start = Start {
            ability: "long".to_owned(),
            inputs: Vec::new(),
            input: String::new(),
            by: "ada".into(),
            session: None,
            parent: None,
            depth: 0,
            id: None,
            trace: None,
        };
        let id = service::start(&driver, start).await.unwrap();
        let (_stop, stopped) = tokio::sync::watch::channel(None);
        assert_eq!(driver.drive(id.clone(), stopped).await.unwrap(), RunStatus::Completed);

        let (seq, _) = store.snapshot(id.as_str()).await.unwrap().expect("one was kept");
        let whole = load_whole(&*store, &id).await.unwrap();
        assert_eq!(seq, whole.seq, "the last is of the end");
        let loaded = load(&*store, &id).await.unwrap();
        assert_eq!((loaded.seq, text(&loaded.run)), (whole.seq, text(&whole.run)));

        // How it ended is said without its log and its ability, as long as nothing came after it.
        assert_eq!(service::page(&*store, &id).await.unwrap(), Some(Page::of(&whole.run)));
        let noted = vec![(1, NotedVerdict::Lost("it was cut short".to_owned()))];
        let verdicts = service::take_verdicts(&*store, &id, noted).await.unwrap().verdicts;
        assert_eq!(verdicts.lost, 1);
        assert_eq!(service::page(&*store, &id).await.unwrap(), None, "it has gone on");
    });
}
