//! Events of a session ⇄ JSON: the stored form of a conversation, which outlives the code.
//!
//! As for [`crate::event`]: a field that is not there has its default, and one that is not known is an error.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read;
pub use write::write;
