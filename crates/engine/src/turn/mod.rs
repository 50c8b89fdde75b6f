//! The loop of an agent: a model is asked, the tools that it calls are run, and the model is told what came of them.
//!
//! An [`Agent`] is everything that a turn needs; a [`SessionLog`] is the conversation in a store. [`Agent::turn`] tells
//! the model something and returns when it has given its final answer, or why it has not; [`Agent::go_on`] takes up a
//! turn that was interrupted. What happens next is decided by [`abide_core::turn`]; here it is done, each answer and each
//! result being in the log before anything follows from it.
//!
//! An agent that calls another one (a skill, a sub-agent) gives it a [`CallTree::child`] of its own tree: they share
//! what they may use, and what they have called already. A tool that does so keeps a clone of the tree.

mod ask;
mod beside;
mod calls;
mod ear;
mod keeping;
mod rounds;
mod rules;
mod runner;
mod session;
mod step;
mod tree;

pub use ear::{Ear, Ears, listen};
pub use keeping::{Forgetting, Needed, prune as prune_sessions};
pub use rounds::{Agent, Heard, ModelSeat, Report, TurnError, Watch};
pub use rules::{Gate, Narrowed, OpenGate, OwnTiers, Permissions, StepGate, judged_call};
pub use runner::{BuiltinRunner, Cast, Seat};
pub use session::{SessionError, SessionLog};
pub use step::{session_of, session_of_call};
pub use tree::CallTree;
