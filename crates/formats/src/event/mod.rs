//! Events ⇄ JSON: the stored form of the log, which outlives the code.
//!
//! A field that is not there has its default, and a field that is not known is an error, so an older abide
//! refuses a newer log instead of misreading it. The kind of an event stands beside its data, in the store.

pub(crate) mod fields;
pub(crate) mod read;
pub(crate) mod write;

pub use read::{BadEvent, read};
pub use write::write;
