//! The real clients against a scripted model: what the gate relies on, seen in each of them.
//!
//! `./test clients` runs these; CONTRIBUTING.md says how to run them by hand.
#![expect(clippy::disallowed_methods, reason = "tests make projects on the disk")]

mod harness;
mod hooks;
mod project;
mod real_clients;
