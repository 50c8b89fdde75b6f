//! The traits that the engine needs, each a contract that adapters keep.
//!
//! Every port has a contract suite in `testkit` that all its implementations run.

mod process;
mod store;

pub use process::{Ending, Line, Process, ProcessError, Signal, Spec, Stream, Variable};
pub use store::{Appended, Holder, Lease, NewEvent, OutputKey, Store, StoreError, Stored, StreamHead};
