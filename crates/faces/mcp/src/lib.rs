//! abide as an MCP server: what a client asks, checked and told to a [`Desk`], and what the desk says, told to the client.
//!
//! Nothing here knows a run or a session; whoever wires things implements [`Desk`]. Start at [`desk`].

pub mod desk;

pub use desk::{Caller, Desk, Origin, Report, Talk};
