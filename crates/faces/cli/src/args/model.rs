//! What can be typed about models.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `abide model`.
#[derive(Debug, Args)]
pub struct ModelArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: ModelCommand,
}

/// What `abide model` does.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// List models and who serves them: what is usable, what is missing, and how to mend it; nobody is asked
    List,
    /// Ask a model one short question, to see that it answers
    Test {
        /// The model, as `provider/model`; the configuration's when none is given
        #[arg(value_name = "MODEL")]
        model: Option<String>,
    },
    /// Serve a model that answers by a script, on 127.0.0.1, to test abilities without a key or a network
    Mock(MockArguments),
}

/// Arguments of `abide model mock`.
#[derive(Debug, Args)]
pub struct MockArguments {
    /// The script: a YAML list of turns, such as `- text: hello`
    pub script: PathBuf,
    /// The port; one that is free when none is given
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// A command to run with the model behind it; without one, the address is printed and served until Ctrl-C
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
