//! The rules of the spec as cases: a folder with an ability, what happens to it, and the log that comes of it.
//!
//! `conformance/README.md` says how a case is laid out. Start at [`perform`], which plays one [`Case`] with the real
//! driver on any store; [`Performed::differences`] holds what came of it against what the case says.

mod case;
mod differences;
pub(crate) mod fields;
mod folder;
mod lines;
mod perform;

pub use case::{Act, Case, Expected, StepExpected, What};
pub use folder::{FolderWorkspace, Project};
pub use lines::line;
pub use perform::{Performed, perform};
