//! What can be typed about models.

use clap::{Args, Subcommand};

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
}
