//! How far a run has come ⇄ JSON, so that a long log need not be read from its beginning.
//!
//! A snapshot is only ever a shortcut: the log stays the truth, and what cannot be read here is read there. It is
//! therefore read by the very version that wrote it and by no other, and needs no compatibility. Steps to which
//! nothing has happened are left out.

mod page;
mod read;
mod write;

pub use page::{read_page, write_page};
pub use read::read;
pub use write::write;
