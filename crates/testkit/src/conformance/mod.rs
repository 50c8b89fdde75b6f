//! The rules of the spec as cases: a folder with an ability, what happens to it, and the log that comes of it.
//!
//! `conformance/README.md` says how a case is laid out. Start at [`perform`], which plays one [`Case`] with the real
//! driver on any store; [`every_case`] plays all of them; [`Performed::differences`] holds what came of it against what the case says.

mod case;
mod differences;
mod every;
pub(crate) mod fields;
mod folder;
mod lines;
mod perform;

pub use case::{Act, Case, Expected, StepExpected, What};
pub use every::{Stores, every_case};
pub use folder::{FolderWorkspace, Project};
pub use lines::line;
pub use perform::{Performed, perform};
