//! Every case, one after the other, on stores of one kind.
#![expect(clippy::disallowed_methods, reason = "cases are chosen by the environment and compared with files")]
#![expect(clippy::disallowed_macros, reason = "each case has a line of its own in the output of the test")]

use super::{Case, perform};
use abide_engine::port::Store;
use abide_process::LocalProcess;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How many cases are played at the same time.
const THREADS: usize = 2;

/// Stores of one kind, each of its own for a case.
pub trait Stores: Sync {
    /// What the store of a case lies in, gone when this is dropped.
    type Place;
    /// The store.
    type Store: Store;
    /// What the kind is called.
    const NAME: &'static str;

    /// Makes room for a store.
    fn place(&self) -> Self::Place;

    /// Opens the store in a runtime.
    fn open(&self, place: &Self::Place) -> Self::Store;
}

/// Plays the cases of `conformance/` whose name contains what `ABIDE_CASE` says; with `blesses`, `ABIDE_BLESS` rewrites
/// their logs.
///
/// # Panics
/// If one is not as it says, or none is called like that.
pub fn every_case<K: Stores>(kind: &K, blesses: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let wanted = std::env::var("ABIDE_CASE").unwrap_or_default();
    let mut cases = Case::all(&folder).unwrap_or_else(|problem| panic!("{problem}"));
    cases.retain(|case| case.name.contains(&wanted));
    assert!(!cases.is_empty(), "no case is called like `{wanted}`");
    let blesses = blesses && std::env::var_os("ABIDE_BLESS").is_some();
    let process = Arc::new(LocalProcess::new());
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
            let began = Instant::now();
            let differences = play(case, kind, &process, blesses);
            let verdict = if differences.is_empty() { "ok" } else { "FAILED" };
            println!("{verdict} {} ({}, {:?})", case.name, K::NAME, began.elapsed());
            if !differences.is_empty() {
                let text = differences.join("\n    ");
                let text = format!("{} ({})\n    {}\n    {text}\n", case.name, K::NAME, case.shows);
                failures.lock().unwrap_or_else(PoisonError::into_inner).push(text);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_unstable();
    assert!(failures.is_empty(), "{} of {} fail:\n\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// Plays a case on a store; returns what is not as the case says.
fn play<K: Stores>(case: &Case, kind: &K, process: &Arc<LocalProcess>, blesses: bool) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return vec![error.to_string()],
    };
    let place = kind.place();
    let performed = runtime.block_on(async {
        let store = Arc::new(kind.open(&place));
        perform(case, store, Arc::clone(process)).await
    });
    // What a store still has open belongs to the runtime.
    drop(runtime);
    let performed = match performed {
        Ok(performed) => performed,
        Err(problem) => return vec![problem],
    };
    let path = case.folder.join("expected.log");
    if blesses && let Err(error) = std::fs::write(&path, performed.log_text(case)) {
        return vec![format!("{}: {error}", path.display())];
    }
    performed.differences(case, &std::fs::read_to_string(&path).unwrap_or_default())
}
