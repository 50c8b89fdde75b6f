//! abide as an MCP server: what a client asks, checked and told to a [`Desk`], and what the desk says, told to the client.
//!
//! Nothing here knows a run or a session; whoever wires things implements [`Desk`]. Start at [`desk`]; a request goes
//! through `lines` (or HTTP), `server`, `calls` and `arguments` to it, and back.

pub mod desk;
pub mod http;

mod arguments;
mod bounds;
mod calls;
mod lines;
mod own;
mod question;
mod server;
mod stdio;
mod talk;
mod tools;
mod uri;

pub use bounds::LONGEST_MESSAGE;
pub use desk::{Caller, Desk, Origin, Report, Talk};
pub use http::Http;
pub use own::{ability_tools, call_ability_tool};
pub use stdio::{ServeError, serve, serve_stdio};
