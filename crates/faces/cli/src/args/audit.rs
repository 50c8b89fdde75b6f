//! What can be typed after `abide audit`.

use super::DatabaseArguments;
use clap::{Args, Subcommand};

/// Arguments of `abide audit`.
#[derive(Debug, Args)]
pub struct AuditArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: AuditCommand,
}

/// What `abide audit` does.
#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Print every event of a run; with `--json` one document per line
    Show {
        /// The run, or the beginning of its id; the newest when none is given
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Check the hashes of the log, that every event can be read, and that the runs can be replayed
    Verify {
        /// The run, or the beginning of its id; all runs when none is given
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Print what was changed over the server and by `abide key`, by whom; the chain of hashes is checked first
    Changes {
        /// Where they are kept.
        #[command(flatten)]
        database: DatabaseArguments,
    },
    /// Print what the gate denied, asked or warned of outside of runs; with `--json` one document per line
    Gate {
        /// Of every project, not only of this one
        #[arg(long)]
        all: bool,
        /// How many to print, the newest last
        #[arg(long, default_value_t = 50, value_name = "COUNT")]
        limit: usize,
    },
}
