//! A run that is read from a snapshot is the run that its whole log tells, wherever the snapshot was taken.

use super::laws::{Timed, replay, same};
use abide_core::run::Run;
use abide_formats::snapshot;
use std::sync::Arc;

/// Of so many positions one is checked: with thousands of logs of all lengths, every kind of position is.
const ONE_OF: usize = 5;

/// Checks it along a log, going on from the snapshot before.
///
/// # Panics
/// If a snapshot cannot be read, or the run that it gives is another one or goes on otherwise.
pub(super) fn check(run: &Run, log: &[Timed]) {
    let mut whole = replay(run, log.iter().take(1).map(|(_, event)| event));
    let mut restored = whole.clone();
    for (position, (at, event)) in log.iter().enumerate().skip(1) {
        whole.apply(event);
        restored.apply(event);
        if !(position + log.len()).is_multiple_of(ONE_OF) {
            continue;
        }
        let text = snapshot::write(&whole);
        assert_eq!(text, snapshot::write(&restored), "what follows a snapshot is not what follows the log");
        restored = restore(run, &text);
        same(&whole, &restored);
        let next = |run: &Run| run.clone().advance(*at, &[]);
        assert_eq!(next(&whole), next(&restored), "a run from a snapshot goes on otherwise");
    }
}

fn restore(run: &Run, text: &str) -> Run {
    let progress = snapshot::read(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let restored = Run::restore(run.id.clone(), (*run.created).clone(), Arc::clone(&run.ability), progress);
    restored.expect("it fits its ability")
}
