//! Every case of `conformance/` holds on every store.
//!
//! `ABIDE_CASE=012 cargo test -p abide-testkit --test conformance` plays the cases whose name contains that;
//! `ABIDE_BLESS=1` rewrites their `expected.log`.
#![expect(clippy::disallowed_methods, reason = "cases are chosen by the environment and compared with files")]
#![expect(clippy::disallowed_macros, reason = "each case has a line of its own in the output of the test")]

use abide_engine::port::Clock as _;
use abide_process::LocalProcess;
use abide_store_sqlite::{Settings, SqliteStore};
use abide_testkit::conformance::{Case, perform};
use abide_testkit::store::MemoryStore;
use abide_testkit::{ManualClock, RealClock};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The stores that every case is played on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Memory,
    Sqlite,
}

/// How many cases are played at the same time.
const THREADS: usize = 2;

#[test]
fn every_case_holds_on_every_store() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let wanted = std::env::var("ABIDE_CASE").unwrap_or_default();
    let mut cases = Case::all(&folder).unwrap_or_else(|problem| panic!("{problem}"));
    cases.retain(|case| case.name.contains(&wanted));
    assert!(!cases.is_empty(), "no case is called like `{wanted}`");
    // The first store is the one that blesses, so it comes first for each case.
    let jobs: Vec<(&Case, Kind)> =
        [Kind::Memory, Kind::Sqlite].iter().flat_map(|kind| cases.iter().map(|case| (case, *kind))).collect();
    let process = Arc::new(LocalProcess::new());
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((case, kind)) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let began = Instant::now();
                    let differences = play(case, *kind, &process);
                    let verdict = if differences.is_empty() { "ok" } else { "FAILED" };
                    println!("{verdict} {} ({kind:?}, {:?})", case.name, began.elapsed());
                    if !differences.is_empty() {
                        let text = differences.join("\n    ");
                        failures
                            .lock()
                            .unwrap()
                            .push(format!("{} ({kind:?})\n    {}\n    {text}\n", case.name, case.shows));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort_unstable();
    assert!(failures.is_empty(), "{} of {} fail:\n\n{}", failures.len(), jobs.len(), failures.join("\n"));
}

/// Plays a case on one store; returns what is not as the case says.
fn play(case: &Case, kind: Kind, process: &Arc<LocalProcess>) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let process = Arc::clone(process);
    let state = tempfile::tempdir().unwrap();
    let performed = runtime.block_on(async {
        match kind {
            Kind::Memory => perform(case, Arc::new(MemoryStore::new(ManualClock::at(0))), process).await,
            Kind::Sqlite => {
                let settings = Settings::new(|| RealClock::default().now().0);
                let store = SqliteStore::open(&state.path().join("log.db"), settings).unwrap();
                perform(case, Arc::new(store), process).await
            }
        }
    });
    let performed = match performed {
        Ok(performed) => performed,
        Err(problem) => return vec![problem],
    };
    let path = case.folder.join("expected.log");
    if kind == Kind::Memory && std::env::var_os("ABIDE_BLESS").is_some() {
        std::fs::write(&path, performed.log_text(case)).unwrap();
    }
    performed.differences(case, &std::fs::read_to_string(&path).unwrap_or_default())
}
