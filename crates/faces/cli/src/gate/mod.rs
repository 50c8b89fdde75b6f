//! The gate, wired: where its files lie, what a project's definitions say to it, and what a session is in.

mod compile;
mod keeper;
mod narrow;
mod scripts;
mod situation;
mod suggest;
mod verdicts;

pub(crate) use keeper::keep_index;
pub(crate) use narrow::narrowed;
pub(crate) use scripts::keeps_to_its_own;
pub(crate) use situation::{held, let_go, rights_in, situation};
pub(crate) use suggest::{described, detected, suggested, told};
pub(crate) use verdicts::{note_verdict, try_to_take_verdicts};

use crate::Surroundings;
use abide_catalog::Place;
use abide_gate::Gate;
use abide_gate::index::Compiled;
use std::path::PathBuf;

/// Returns the gate of the user: in their state folder, because an agent can walk out of a project.
pub(crate) fn gate(surroundings: &Surroundings) -> Option<Gate> {
    let state = surroundings
        .variable("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| surroundings.variable("HOME").map(|home| PathBuf::from(home).join(".local/state")))?;
    Some(Gate::at(state.join("abide/gate")))
}

/// Compiles the definitions of a place, whatever is kept of them.
pub(crate) fn compiled(surroundings: &Surroundings, place: &Place) -> Compiled {
    situation::compiled(surroundings, place, None)
}
