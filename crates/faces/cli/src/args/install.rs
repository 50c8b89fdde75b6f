//! The command line of `abide install`, `abide uninstall` and `abide doctor`.

use clap::{Args, ValueEnum};

/// Arguments of `abide install`.
#[derive(Debug, Args)]
pub struct InstallArguments {
    /// Where it goes.
    #[command(flatten)]
    pub into: ClientArguments,
    /// Do not ask: approve abide's hooks where the client wants that (Codex)
    #[arg(long)]
    pub yes: bool,
}

/// Arguments of `abide uninstall`, and most of `abide install`.
#[derive(Debug, Args)]
pub struct ClientArguments {
    /// The client
    #[arg(value_enum, value_name = "CLIENT")]
    pub client: ClientName,
    /// For everybody who works in this project; this is the default
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// For you, in every project
    #[arg(long)]
    pub user: bool,
    /// Show what would change, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What to look at.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Start each client that abide is in, with a model on this machine that makes a call that must be denied
    #[arg(long)]
    pub live: bool,
}

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClientName {
    /// Claude Code
    Claude,
    /// OpenCode
    Opencode,
    /// Codex
    Codex,
}
