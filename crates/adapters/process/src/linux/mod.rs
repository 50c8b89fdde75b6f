//! Processes on Linux. Start at [`run()`]; the crate's documentation says by which means.

mod children;
mod family;
mod leader;
mod listing;
mod output;
mod reason;
mod run;
mod straight;

use std::sync::atomic::AtomicBool;

pub(crate) use children::adopt_orphans;
pub(crate) use run::run;

use crate::{Limits, Strangers};
use family::Family;

/// Ends what carries one of the marks, away from the threads that must not wait.
pub(crate) async fn sweep(limits: Limits, marks: Vec<String>) -> usize {
    let marks: Vec<String> = marks.into_iter().filter(|mark| !mark.is_empty()).collect();
    if marks.is_empty() {
        return 0;
    }
    let family = Family { marks, group: None, strangers: Strangers::Spared };
    tokio::task::spawn_blocking(move || {
        family.end(limits.parting, limits.dying, &AtomicBool::new(false)).found
    })
    .await
    .unwrap_or(0)
}
