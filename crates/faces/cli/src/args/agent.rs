//! What can be typed about agents.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `abide agent`.
#[derive(Debug, Args)]
pub struct AgentArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// What `abide agent` does.
#[derive(Debug, Subcommand)]
pub enum AgentCommand {
    /// List the agents, where each comes from, and whether something that it needs is missing
    List,
    /// Show an agent: its model, tools, rules, capabilities, abilities and skills, and why something is missing
    Show {
        /// The agent
        #[arg(value_name = "AGENT")]
        name: String,
    },
    /// Give an agent one task, in abide's own loop, and print its answer; `abide chat --resume` goes on with it
    Run {
        /// The agent
        #[arg(value_name = "AGENT")]
        name: String,
        /// The task
        #[arg(value_name = "PROMPT")]
        prompt: String,
        /// Show a picture with the task: PNG, JPEG, GIF or WebP, at most 5 MB; may be given up to 8 times
        #[arg(long = "image", value_name = "FILE")]
        images: Vec<PathBuf>,
        /// Ask this model instead of the agent's own, as `provider/name`
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
    },
}
