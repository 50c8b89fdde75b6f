//! OpenAI Chat Completions, as nearly every server of models speaks it.

mod ask;
mod hear;

pub(crate) use ask::Body;
pub(crate) use hear::Hearing;
