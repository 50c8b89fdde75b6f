//! The rules of the repository that a compiler does not know.
//!
//! - [`arrows`]: which crate may depend on which, and what the pure ones must do without.
//! - [`files`]: what every file says first, and what none may hold.
//!
//! Both return sentences, one per broken rule; `tests/architecture.rs` fails if there are any.

pub mod arrows;
pub mod files;
