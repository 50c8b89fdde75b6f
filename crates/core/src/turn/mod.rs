//! A conversation with a model as a pure state machine over its log: what an agent's loop does next.
//!
//! ```text
//! told → (asked → answered → (each call: decided → started → result | held))* → ended
//! ```
//! Every [`TurnEvent`] is stored before anything follows from it; [`Conversation::apply`] is the only way a conversation
//! changes, and [`next`] says what is to be done now. So a loop that dies goes on where its log ends: an answer that
//! was paid for is never asked for again, and a call that may have run is never silently made again
//! ([`Conversation::lost`]). What a loop may use is an [`Envelope`]; a call that goes round in circles is noticed by
//! [`Repeats`]; a conversation that grows too long is cut by [`compaction`].

mod compaction;
mod conversation;
mod envelope;
mod event;
mod judgement;
mod next;
mod repeats;
mod stopping;
#[cfg(test)]
mod tests;

pub use compaction::{PICTURE_BYTES, Room, compaction, cut, size, transcript};
pub use conversation::{Call, Conversation, Stage, Turn};
pub use envelope::{Envelope, Exhausted, Spent};
pub use event::{
    Answered, Charged, Check, Compacted, Decision, EventKind, Outcome, SessionCreated, TurnEnd, TurnEvent,
};
pub use judgement::{Judgement, Ruling, judged};
pub use next::{Next, next};
pub use repeats::Repeats;
pub use stopping::{Stopping, stopping};
