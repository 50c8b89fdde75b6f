//! Anthropic Messages.

mod ask;
mod hear;

pub(crate) use ask::body;
pub(crate) use hear::Hearing;
