//! What tests of several crates share: an in-memory twin of every port, the contract suites that all
//! implementations run, [`play`], which walks a run through scripted happenings without a disk, a process or a
//! clock, [`reading`], the rules that every reading of a file keeps, and for tests from end to end a scripted [`model`]
//! with the real agents in front of it ([`client`]).
#![warn(missing_docs)]

pub mod acp;
pub mod agents;
pub mod audit;
pub mod client;
mod clock;
pub mod conformance;
pub mod files;
pub mod keys;
pub mod model;
pub mod outbox;
mod person;
pub mod play;
pub mod questions;
pub mod reading;
pub mod runner;
pub mod sessions;
pub mod simulation;
pub mod starts;
pub mod store;
pub mod twin;

pub use clock::{ManualClock, RealClock};
pub use person::as_a_person;
