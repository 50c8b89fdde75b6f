//! The repository's own chores, run as `cargo xtask …` and by `./test`.
//!
//! - [`documents`]: the commands that the documents print are run as they stand there.
//! - [`generated`]: the files that are made from code and checked in.
//! - [`typescript`]: the types of the TypeScript SDK.
//! - [`architecture`]: the rules that a compiler does not know, checked by `tests/architecture.rs`.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "chores read and write the repository, start processes and talk to a developer"
)]

pub mod architecture;
pub mod documents;
pub mod generated;
pub mod typescript;

use std::path::{Path, PathBuf};

/// Returns the root of the repository.
///
/// # Panics
/// Never: this crate is a folder of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is inside the repository").to_path_buf()
}
