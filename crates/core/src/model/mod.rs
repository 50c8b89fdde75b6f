//! What is said between abide and a model, whoever serves it: messages, calls of tools, and what they used.
//!
//! Pure values. A port of the engine asks with them, an adapter writes them in the words of a provider, and the log
//! keeps them, so that a conversation can be read back without asking again.

mod message;
mod name;
mod provider;
mod retry;
mod usage;

pub use message::{
    AnswerEnd, Arguments, Image, ImageMedia, Message, Part, Piece, Thought, ToolCall, ToolResult,
};
pub use name::{BadModelName, ModelName, is_model};
pub use provider::{ModelFacts, Provider, TimeLimits, Unusable};
pub use retry::{Patience, Retry};
pub use usage::{Cost, Price, Usage};
