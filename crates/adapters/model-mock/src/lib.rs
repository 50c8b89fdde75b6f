//! A model that answers by a script, on loopback: agents are tested without a key, a network or luck.
//!
//! [`ModelServer`] speaks the three wire formats that clients use (Anthropic Messages, OpenAI Chat Completions, OpenAI
//! Responses), streamed or whole. A [`Script`] says what the model answers, a [`Turn`] at a time; every [`Request`] is
//! kept, so that a test can say what the model was told. What a client asks beside its conversation (a title, a token
//! count, a warm-up) takes no turn: see [`Kind`].
//!
//! ```
//! use abide_model_mock::{ModelServer, ToolCall, Turn};
//! use serde_json::json;
//!
//! let server = ModelServer::start(vec![
//!     Turn::call(ToolCall::new("Bash", json!({"command": "make"}))),
//!     Turn::text("it is built"),
//! ])?;
//! // A client that is told `server.url()` talks to it now; afterwards:
//! assert_eq!(server.turns().len(), 0);
//! assert_eq!(server.surprises().len(), 1, "nobody asked, so the script is not at its end");
//! # Ok::<(), std::io::Error>(())
//! ```

#![warn(missing_docs)]

pub mod file;
mod http;
mod request;
mod script;
mod server;
mod wire;

pub use request::{Kind, Message, Request, Role, Tool, ToolResult};
pub use script::{Fault, Script, Tokens, ToolCall, Turn};
pub use server::ModelServer;
pub use wire::Wire;
