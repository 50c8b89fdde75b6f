//! What is wrong between the parts of a definition.
//!
//! [`ability`] looks at one ability alone: its inputs, its graph, its templates and its scripts.
//! [`References`] looks at what it names elsewhere, and [`workflows`] at how abilities call each other.
//! All of it takes time in proportion to the text.

mod approvals;
mod expressions;
mod graph;
mod inputs;
mod paths;
mod references;
mod scripts;
mod useless;
mod workflows;

pub(crate) use scripts::check_script as script_problems;

pub use graph::{Dependency, DependencyKind, dependencies};
pub use references::{Need, References, Signature, World};
pub use workflows::{Call, DEEPEST_WORKFLOW, workflows};

use super::Ability;
use crate::diagnostic::{Diagnostic, Problems};

/// Whether every step of the file is known.
///
/// When one could not be read, names that are not found may well be its own, and are not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// Every step was read.
    All,
    /// At least one could not be read.
    Some,
}

/// Returns everything that is wrong with an ability on its own.
pub fn ability(ability: &Ability, steps: Steps) -> Vec<Diagnostic> {
    let mut problems = Problems::default();
    inputs::check(ability, &mut problems);
    graph::check(ability, steps, &mut problems);
    expressions::check(ability, steps, &mut problems);
    paths::check(ability, &mut problems);
    scripts::check(ability, &mut problems);
    approvals::check(ability, &mut problems);
    useless::check(ability, &mut problems);
    problems.into()
}
