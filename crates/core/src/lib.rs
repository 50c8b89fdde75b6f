//! The rules of abide as pure values and functions.
//!
//! Nothing here reads a disk, a clock or a network, and nothing is `async`: the same arguments give the
//! same answer, so every rule can be tested in microseconds. A reader follows the arrow
//! `definition → plan → run → event → view`.
#![warn(missing_docs)]

pub mod capability;
pub mod definition;
pub mod diagnostic;
pub mod event;
pub mod model;
pub mod network;
pub mod plan;
pub mod policy;
pub mod run;
pub mod skill;
pub mod source;
pub mod trigger;
pub mod turn;
pub mod value;
pub mod view;
