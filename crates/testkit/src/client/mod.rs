//! The real clients, run headless against a scripted model: what they do is seen, not assumed.
//!
//! A launcher ([`ClaudeCode`], [`OpenCode`], [`Codex`]) has a home of its own that is gone when it is dropped, so that
//! nothing of the user's is read or written; several runs of one launcher share it, as a user's do. Each run is bounded
//! in time and output, and its whole process family is ended with it. The programs come from [`Installed`].
//!
//! ```no_run
//! use abide_testkit::client::{ClaudeCode, Client, Installed, Launch};
//! use abide_testkit::model::{ModelServer, Turn};
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let server = ModelServer::start(vec![Turn::text("hello")])?;
//! let client = ClaudeCode::new(&Installed::find()?)?;
//! let outcome = client.run(Launch::new("project".as_ref(), "say hello", &server)).await?;
//! assert_eq!(outcome.answer.as_deref(), Some("hello"));
//! # Ok(())
//! # }
//! ```

mod claude;
mod codex;
mod home;
mod installed;
mod launch;
mod opencode;

pub use claude::ClaudeCode;
pub use codex::Codex;
pub use installed::{Installed, VARIABLE};
pub use launch::{ClientError, Launch, Outcome};
pub use opencode::OpenCode;

use crate::model::{ModelServer, ToolCall};
use serde_json::Value;
use std::future::Future;
use std::path::Path;

/// Returns variables with owned names and values, and the folder of a program in front of the search path.
fn variables(program: &str, variables: &[(&str, &str)]) -> Vec<(String, String)> {
    let folder = Path::new(program).parent().unwrap_or(Path::new("")).display();
    let mut all = vec![("PATH".to_owned(), format!("{folder}:{}", launch::ours("PATH")))];
    all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    all
}

/// What every launcher can do.
pub trait Client: Sync {
    /// The client's name, as abide's commands spell it.
    const NAME: &'static str;

    /// Runs the client in a project until it is done with the prompt.
    fn run(&self, launch: Launch<'_>) -> impl Future<Output = Result<Outcome, ClientError>> + Send;

    /// Makes the call by which the model of this client runs a command in a shell.
    fn shell(&self, command: &str) -> ToolCall;

    /// Makes the call by which the model of this client reads a file.
    fn read(&self, path: &Path) -> ToolCall;

    /// Makes the call by which the model of this client writes a file.
    fn write(&self, path: &Path, text: &str) -> ToolCall;

    /// Makes the call by which the model of this client uses a tool of an MCP server.
    fn tool(&self, server: &str, tool: &str, arguments: Value) -> ToolCall;

    /// Makes the call by which the model of this client gives a task to a sub-agent.
    fn delegate(&self, task: &str) -> ToolCall;

    /// Returns what the environment must be for somebody else to start the client with a scripted model behind it.
    fn environment(&self, project: &Path, model: &ModelServer) -> Result<Vec<(String, String)>, ClientError>;

    /// Returns the client's home, where its own configuration is.
    fn home(&self) -> &Path;
}
