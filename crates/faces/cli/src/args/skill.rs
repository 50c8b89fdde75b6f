//! What can be typed about skills.

use clap::{Args, Subcommand};

/// Arguments of `abide skill`.
#[derive(Debug, Args)]
pub struct SkillArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: SkillCommand,
}

/// What `abide skill` does.
#[derive(Debug, Subcommand)]
pub enum SkillCommand {
    /// List the skills of every client, those that cannot be used too, with the reason
    List {
        /// List what this agent may use
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// Print only the names of those that you can call now, one on a line: completion scripts use it
        #[arg(long, conflicts_with = "agent")]
        names: bool,
    },
    /// Show a skill: where it is, what it requires, whether it is trusted, and what an agent is told
    Show {
        /// The skill
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Say everything that is wrong with skills, the limits of the standard included
    Validate {
        /// The skills; all when none is given
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Fail on warnings too
        #[arg(long)]
        deny_warnings: bool,
    },
    /// Let the commands of a project's skill run, until one of its files changes
    Trust {
        /// The skill
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Take that back
    Untrust {
        /// The skill
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Write the digests of the project's skills to .abide/skills.lock
    Lock,
    /// Check that the project's skills are those of .abide/skills.lock
    Verify,
    /// Print what a skill says with its arguments, files and commands filled in
    Expand {
        /// The skill
        #[arg(value_name = "NAME")]
        name: String,
        /// What it is given
        #[arg(value_name = "ARGUMENT")]
        arguments: Vec<String>,
    },
    /// Run a skill as an agent of its own, within its `max_turns`
    Run {
        /// The skill
        #[arg(value_name = "NAME")]
        name: String,
        /// What it is given
        #[arg(value_name = "ARGUMENT")]
        arguments: Vec<String>,
        /// The agent whose tools and rules it has
        #[arg(long, value_name = "AGENT", default_value = "default")]
        agent: String,
        /// Ask this model instead of the agent's own, as `provider/name`
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
    },
}
