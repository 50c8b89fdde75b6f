//! What can be typed about agents.

use clap::{Args, Subcommand};

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
}
