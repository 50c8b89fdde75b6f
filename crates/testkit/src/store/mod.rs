//! The log in memory, with faults on demand, and the contract of [`Store`](abide_engine::port::Store).
//!
//! A crate that implements the port writes `abide_testkit::store_contract!(subject)` in a test, where `subject` is an
//! expression that makes a [`Subject`]; each rule becomes a test with a name.

pub mod contract;
mod fault;
mod memory;
mod state;

pub use contract::{Subject, Tampering, check};
pub use fault::Fault;
pub use memory::{MemoryStore, MemorySubject};
