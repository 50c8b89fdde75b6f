//! The launchers of the real clients, against a scripted model.
//!
//! `./test clients` runs these; CONTRIBUTING.md says how to run them by hand.
#![expect(clippy::disallowed_methods, reason = "tests make projects on the disk")]

mod harness;
mod project;
mod real_clients;
mod skills;
