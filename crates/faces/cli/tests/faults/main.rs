//! What goes wrong around a run, through the binary: what it says, what is left, and how it goes on.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the tests start the binary, look at its files and say what they skip"
)]

mod clock;
mod disk;
mod log;
mod namespace;
mod scripts;
#[path = "../runs_end_to_end/support.rs"]
mod support;
