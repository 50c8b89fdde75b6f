//! What can be typed about capabilities.

use clap::{Args, Subcommand};

/// Arguments of `abide capability`.
#[derive(Debug, Args)]
pub struct CapabilityArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: CapabilityCommand,
}

/// What `abide capability` does.
#[derive(Debug, Subcommand)]
pub enum CapabilityCommand {
    /// List the capabilities, the ones that cannot be used here too
    List,
    /// Show a capability: what it adds to the system prompt, its tools and what can be configured
    Show {
        /// The capability
        #[arg(value_name = "CAPABILITY")]
        id: String,
    },
    /// Call one tool of a capability, as a model would
    Test {
        /// The capability
        #[arg(value_name = "CAPABILITY")]
        id: String,
        /// The tool
        #[arg(value_name = "TOOL")]
        tool: String,
        /// Its arguments as JSON; `-` reads them from standard input
        #[arg(value_name = "JSON", default_value = "{}")]
        arguments: String,
        /// What is configured for the capability, as JSON
        #[arg(long, value_name = "JSON")]
        configuration: Option<String>,
        /// Keep what the tool keeps (files, notes) under this name in the project; without it nothing is kept
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
    },
    /// Let a capability that the project brings along run code here, as its files are now
    Trust {
        /// The capability
        #[arg(value_name = "CAPABILITY")]
        id: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Take that back
    Untrust {
        /// The capability
        #[arg(value_name = "CAPABILITY")]
        id: String,
    },
}
