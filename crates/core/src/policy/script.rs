//! What the script of a step may not run when an agent starts the ability: what another ability reserves.
//!
//! abide runs scripts itself, past the gate of the session. Without this an agent could write an ability of its own around a
//! reserved command.

use super::call::{Arguments, ToolCall};
use super::kind::Client;
use super::path::{Files, Place};
use super::reserve::reserved;
use super::situation::{Reserved, Situation, Standing};
use super::subject::Subject;

/// Returns the reserved call that a script certainly makes and that neither its ability nor one that called it reserves.
///
/// `abilities` are the ability of the script and those that called it. What is in doubt is let pass: a script is mostly code that
/// is read by nobody here, and a file that it runs is not looked into either.
pub fn made_by_script(
    script: &str,
    abilities: &[&str],
    place: &Place,
    all: &[Reserved],
    files: &dyn Files,
) -> Option<Reserved> {
    let situation = Situation { reserved: all.to_vec(), ..Situation::at_place(place) };
    let arguments = Arguments { command: Some(script.to_owned()), ..Arguments::default() };
    let call = ToolCall { client: Client::Other, name: "bash".to_owned(), arguments };
    let subject = Subject::new(&situation, &call, files);
    let is_own = |reserved: &Reserved| {
        reserved.standing == Standing::Current && abilities.contains(&reserved.ability.as_str())
    };
    let hits = reserved(&subject);
    hits.iter().find(|hit| hit.doubt.is_none() && !is_own(hit.reserved)).map(|hit| hit.reserved.clone())
}
