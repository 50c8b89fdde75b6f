//! What tests of several crates share: an in-memory twin of every port, the contract suites that all
//! implementations run, and [`play`], which walks a run through scripted happenings without a disk, a process or a
//! clock.
#![warn(missing_docs)]

mod clock;
pub mod play;
pub mod store;

pub use clock::ManualClock;
