//! Looks whether a project's definitions have changed before hooks have to, as long as a server is there for its client.

use super::situation::{VERSION, anchored, compiled};
use crate::Surroundings;
use abide_catalog::Place;
use abide_gate::Gate;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long it is between two looks: a hook believes one for a second.
const PAUSE: Duration = Duration::from_millis(350);
/// How long it goes on after a hook asked.
const ATTENTIVE: Duration = Duration::from_secs(30);
/// How long a project is left alone whose hooks need no help, or where something is wrong.
const LEFT_ALONE: Duration = Duration::from_secs(5);

/// Keeps the index of a place until this process ends. What goes wrong is left to hooks, which look for themselves.
pub(crate) fn keep_index(surroundings: &Surroundings, place: &Place) {
    let Some(gate) = super::gate(surroundings) else { return };
    let (surroundings, place) = (surroundings.clone(), anchored(&gate, place));
    // A server without it serves all the same.
    let _ =
        thread::Builder::new().name("keeper".to_owned()).spawn(move || keep(&surroundings, &place, &gate));
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether definitions have changed is told by the clock of files"
)]
fn keep(surroundings: &Surroundings, place: &Place, gate: &Gate) {
    let root = place.start.clone();
    loop {
        if gate.wait_for_hooks().is_err() {
            thread::sleep(LEFT_ALONE);
            continue;
        }
        let heard = Instant::now();
        while heard.elapsed() < ATTENTIVE {
            let compile = |before: Option<&_>| compiled(surroundings, place, before);
            if !matches!(gate.keep_index(&root, VERSION, SystemTime::now(), compile), Ok(true)) {
                thread::sleep(LEFT_ALONE);
                break;
            }
            thread::sleep(PAUSE);
        }
    }
}
