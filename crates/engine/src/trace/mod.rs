//! Traces: what a log tells, as spans for whoever collects those of many programs.
//!
//! ```text
//! run ─┬─ step (each attempt) ─┬─ turn of its agent ─┬─ what a model was asked
//!      │                       │                     └─ each call of a tool, and the question whether it may be made
//!      ├─ question to a human  └─ run that it called ─ …
//!      └─ hook
//! ```
//! Nothing is noted while things happen: a trace is a fold of a log that is over ([`trace_of_run`], [`trace_of_turn`]). So it is
//! whole after crashes, whoever drove which part of it, and its ids are the same however often it is told. How spans get out
//! is an adapter's; how many did is in the [`Tally`].

mod gather;
mod names;
mod run;
mod session;
mod span;
mod tally;

pub use gather::{Trace, TraceError, trace_of_run, trace_of_turn};
pub use run::{AgentAttempt, RunFold, RunSpans};
pub use session::{PlaceOf, SessionFold};
pub use span::{Attribute, Attributes, Place, Span, SpanEvent, SpanId, SpanKind, TraceId};
pub use tally::{Fate, Tally};
