//! Random runs, each of them replayable from one number.
//!
//! A seed makes an ability ([`ability()`]), lets things happen to it and breaks what can break: [`machine`] plays the
//! pure machine alone, [`driven`] the real driver on twins of its ports. What must hold whatever happens is
//! written once, in [`laws`].

mod ability;
mod chance;
pub mod driven;
pub mod laws;
pub mod machine;
mod snapshots;
mod world;

pub use ability::ability;
pub use chance::Chance;

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs a simulation for many seeds; with `only`, for that one.
///
/// # Panics
/// With the first seed that does not hold, after the line that runs it alone was shown.
pub fn seeds(test: &str, all: Range<u64>, only: Option<u64>, simulate: impl Fn(u64)) {
    let range = only.map_or(all, |seed| seed..seed + 1);
    for seed in range {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| simulate(seed))) {
            let why = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            let Some(why) = why else { resume_unwind(panic) };
            panic!(
                "seed {seed}: {why}\nagain: ABIDE_SEED={seed} cargo nextest run -p abide-testkit --no-capture {test}"
            );
        }
    }
}
