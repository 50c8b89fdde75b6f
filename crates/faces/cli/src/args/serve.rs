//! What can be typed about the server and its keys.

use clap::{Args, Subcommand, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Arguments of `abide serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// The address to listen on; one that other machines can reach needs a key (`abide key create`)
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    pub bind: SocketAddr,
    /// Where everything is kept.
    #[command(flatten)]
    pub database: DatabaseArguments,
    /// Check that the server could start with these options, and end
    #[arg(long)]
    pub check: bool,
    /// Ask callers of this machine for a key, too
    #[arg(long)]
    pub require_key: bool,
    /// A further name by which clients call the server
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// How many seconds runs have, when the server ends, to come to where they can be left; a step that takes longer is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub grace: u64,
    /// How many requests a second each caller may make for long; 0 for no bound
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    pub rate: u32,
    /// How requests are logged on standard error
    #[arg(long, value_name = "FORM", value_enum, default_value_t = LogForm::Text)]
    pub log: LogForm,
    /// Which requests are logged: those that failed in here, those that were kept out too, or all
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LogLevel::Warn)]
    pub log_level: LogLevel,
}

/// How a log looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogForm {
    /// A line for people
    Text,
    /// A JSON document on each line
    Json,
}

/// How much is logged; a later one holds those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum LogLevel {
    /// Requests that abide could not answer
    Error,
    /// Those that were kept out, too
    Warn,
    /// Every request
    Info,
}

impl LogLevel {
    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
        }
    }
}

/// Where a server keeps everything.
#[derive(Debug, Clone, Args)]
pub struct DatabaseArguments {
    /// A PostgreSQL database, as `postgres://USER@HOST/NAME`, or in the variable `ABIDE_DATABASE`; without, SQLite files in .abide/state
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
}

/// Arguments of `abide backup` and `abide restore`.
#[derive(Debug, Args)]
pub struct FileArguments {
    /// The file of the backup
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Arguments of `abide key`.
#[derive(Debug, Args)]
pub struct KeyArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: KeyCommand,
}

/// What `abide key` does.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key and print it; it is shown this once and kept nowhere
    Create {
        /// Who it is for: this name stands in the log of what the key does
        #[arg(value_name = "NAME")]
        name: String,
        /// What it may do, several separated by commas
        #[arg(long, value_name = "SCOPE", value_enum, value_delimiter = ',', default_value = "read")]
        scope: Vec<ScopeName>,
        /// Where the keys are.
        #[command(flatten)]
        database: DatabaseArguments,
    },
    /// List keys, revoked ones too
    List {
        /// Where the keys are.
        #[command(flatten)]
        database: DatabaseArguments,
    },
    /// Revoke a key: it opens nothing any more
    Revoke {
        /// The id of the key, as `abide key list` shows it
        #[arg(value_name = "ID")]
        id: String,
        /// Where the keys are.
        #[command(flatten)]
        database: DatabaseArguments,
    },
}

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScopeName {
    /// Look at everything
    Read,
    /// Start runs and go on with them
    Run,
    /// Answer what a human is asked, and decide about runs of others
    Approve,
    /// Everything, keys included
    Admin,
}
