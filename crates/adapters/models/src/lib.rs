//! Asks models over HTTP, in the words of Anthropic Messages or of OpenAI Chat Completions.
//!
//! [`HttpModel`] is the port. A question is written by `ask.rs` of its format, sent by `model.rs`, and the answer is
//! read byte by byte (`sse.rs`), event by event (`event.rs`, `hear.rs`), and put together within bounds (`gathered.rs`). What a
//! refusal means, and whether asking again makes sense, is said by `refusal.rs`.

mod anthropic;
mod chat;
mod event;
mod gathered;
mod model;
mod proxy;
mod refusal;
mod retry_after;
mod sse;

pub use model::HttpModel;
pub use proxy::Proxies;
