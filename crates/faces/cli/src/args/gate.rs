//! What can be typed about the gate.

use clap::{Args, ValueHint};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Arguments of `abide detect`.
#[derive(Debug, Args)]
pub struct DetectArguments {
    /// The message; `-` reads it from standard input
    #[arg(value_name = "MESSAGE", required = true)]
    pub message: Vec<String>,
    /// The agent that is asked; the one without a name when none is given
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
}

/// Arguments of `abide mcp`.
#[derive(Debug, Args)]
pub struct McpArguments {
    /// Serve over HTTP on this address instead of standard input and output, like 127.0.0.1:7071
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<SocketAddr>,
    /// With `--http` the file that holds the key which callers must show, needed for an address that others can reach; with `--server` the
    /// file that has the key of that server
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,
    /// The client that this serves, when another process of abide was started by it
    #[arg(long = "for", hide = true, value_name = "PROCESS")]
    pub client: Option<String>,
}

/// Arguments of `abide hook`.
#[derive(Debug, Clone, Args)]
pub struct HookArguments {
    /// Who asks: `claude`, `opencode` or `codex`
    #[arg(value_name = "CLIENT")]
    pub client: String,
    /// The event, when standard input does not say it
    #[arg(value_name = "EVENT")]
    pub event: Option<String>,
}
