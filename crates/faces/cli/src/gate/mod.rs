//! The gate, wired: where its files lie, what a project's definitions say to it, and what a session is in.

mod compile;
mod situation;

pub(crate) use situation::situation;

use crate::Surroundings;
use abide_gate::Gate;
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
