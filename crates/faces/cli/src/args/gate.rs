//! What can be typed about the gate.

use clap::Args;

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

/// Arguments of `abide hook`.
#[derive(Debug, Args)]
pub struct HookArguments {
    /// Who asks: `claude`, `opencode` or `codex`
    #[arg(value_name = "CLIENT")]
    pub client: String,
    /// The event, when standard input does not say it
    #[arg(value_name = "EVENT")]
    pub event: Option<String>,
}
