//! What tests of several crates share.
//!
//! [`play`] walks a run through scripted happenings without a disk, a process or a clock.

pub mod play;
