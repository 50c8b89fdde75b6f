//! The command line, as clap reads it; the texts here are the `--help` and the reference page.

mod agent;
mod audit;
mod capability;
mod chat;
mod gate;
mod install;
mod model;
mod often;
mod serve;
mod skill;

pub use agent::{AgentArguments, AgentCommand};
pub use audit::{AuditArguments, AuditCommand};
pub use capability::{CapabilityArguments, CapabilityCommand};
pub use chat::ChatArguments;
pub use gate::{DetectArguments, HookArguments, McpArguments};
pub use install::{ClientArguments, ClientName, DoctorArguments, InstallArguments};
pub use model::{MockArguments, ModelArguments, ModelCommand};
pub(crate) use often::status;
pub use serve::{
    DatabaseArguments, FileArguments, KeyArguments, KeyCommand, LogForm, LogLevel, ScopeName, ServeArguments,
};
pub use skill::{SkillArguments, SkillCommand};

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Makes AI agents follow the workflow.
///
/// Abilities are workflows in YAML that are enforced, validated and resumable. abide finds them, explains
/// them, draws them, and says everything that is wrong with them.
#[derive(Debug, Parser)]
#[command(name = "abide", version, propagate_version = true, after_help = after_help())]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub shared: Shared,
}

fn after_help() -> String {
    use std::fmt::Write as _;
    let mut text = String::from("Exit codes:\n");
    for (exit, meaning) in crate::Exit::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}  {meaning}", exit.code());
    }
    text
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Shared {
    /// Work as if started in this folder
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: Option<PathBuf>,
    /// Print one JSON document to standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// Use a server instead of the engine of this machine, also in the variable `ABIDE_SERVER`; its key is in the variable `ABIDE_KEY`
    #[arg(long, global = true, value_name = "URL", value_hint = ValueHint::Url)]
    pub server: Option<String>,
    /// The file that has the key of the server, also in the variable `ABIDE_KEY_FILE`
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub key_file: Option<PathBuf>,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Play a small release, to see what abide does: no key, no network, nothing left behind
    Demo(DemoArguments),
    /// Write a first ability that works, with a schema for editors
    Init(InitArguments),
    /// List the abilities that are found, the broken and the shadowed ones too
    List,
    /// Show everything about one ability
    Show(ShowArguments),
    /// Find everything that is wrong with abilities and the configuration
    Validate(ValidateArguments),
    /// Draw the steps of an ability
    Graph(GraphArguments),
    /// Print the JSON Schema of a file format
    Schema(SchemaArguments),
    /// Explain the code of a problem
    Explain(ExplainArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Put abide into Claude Code, OpenCode or Codex: hooks or a plugin, and its tools, or with `--server` those of a server
    Install(InstallArguments),
    /// Take abide out of a client again
    Uninstall(ClientArguments),
    /// Check that abide can work here, and that it is in the clients
    Doctor(DoctorArguments),
    /// See which models can be asked, and whether they answer
    Model(ModelArguments),
    /// Show what a run would do, without doing any of it
    Plan(PlanArguments),
    /// Run an ability
    Run(RunArguments),
    /// Run an ability again from one of its steps on
    Rerun(RerunArguments),
    /// Drive an unfinished run on
    Resume(ResumeArguments),
    /// List runs
    Runs(RunsArguments),
    /// Show how far a run is
    Status(StatusArguments),
    /// Print what the steps of a run wrote
    Logs(LogsArguments),
    /// Say yes to a question of a run
    Approve(AnswerArguments),
    /// Say no to a question of a run
    Reject(AnswerArguments),
    /// End a run
    Cancel(CancelArguments),
    /// Look at the log of runs, and check that nobody changed it
    Audit(AuditArguments),
    /// Copy everything in .abide/state into one file, while servers and runs go on
    Backup(FileArguments),
    /// Bring back what `abide backup` has copied; nothing that is there is overwritten
    Restore(FileArguments),
    /// Show which ability a message suggests, and why
    Detect(DetectArguments),
    /// Serve abilities to an agent over MCP; clients start this, people do not
    Mcp(McpArguments),
    /// Serve abilities, runs and approvals over HTTP
    Serve(ServeArguments),
    /// Keys of the server: who may use it, and for what
    Key(KeyArguments),
    /// Agents: who there is, what each may use, and what is missing
    Agent(AgentArguments),
    /// Talk with an agent of abide's own loop; what is said is kept
    Chat(ChatArguments),
    /// Look at the capabilities that agents can be given, and try their tools
    Capability(CapabilityArguments),
    /// See the skills of every client, why one cannot be used, and what it may do
    Skill(SkillArguments),
    /// Answer a client's hook about one moment of a session; clients call this, people do not
    Hook(HookArguments),
}

/// What a run is given.
#[derive(Debug, Args)]
pub struct GivenArguments {
    /// An input
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub input: Vec<String>,
    /// A JSON or YAML file with inputs
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub inputs: Option<PathBuf>,
    /// The text that templates see as `input`
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
}

/// Arguments of `abide plan`.
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// The ability
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What it is given.
    #[command(flatten)]
    pub given: GivenArguments,
}

/// Arguments of `abide run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The ability
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What it is given.
    #[command(flatten)]
    pub given: GivenArguments,
    /// Walk through the steps without executing or writing anything; every step is said to succeed
    #[arg(long, conflicts_with = "detach")]
    pub dry_run: bool,
    /// A YAML file that says what steps do in a dry run: step, or `step/…` for a step of the ability that it calls → `exit_code`, `stdout`, `stderr`, `json`, `answer`, `missing`, `times_out`
    #[arg(long, value_name = "FILE", requires = "dry_run", value_hint = ValueHint::FilePath)]
    pub stubs: Option<PathBuf>,
    /// Go on in the background, and print the id of the run
    #[arg(long)]
    pub detach: bool,
}

/// Arguments of `abide rerun`.
#[derive(Debug, Args)]
pub struct RerunArguments {
    /// The run, or the beginning of its id
    #[arg(value_name = "RUN")]
    pub run: String,
    /// The first step to run again, and with it those that come after it; steps before it that are done are taken over
    #[arg(long, value_name = "STEP")]
    pub from: String,
    /// Take the ability and the files beside it as they are now, and not as the run had them
    #[arg(long)]
    pub with_current: bool,
    /// A secret input, which no log holds; the others are those of the run
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub input: Vec<String>,
}

/// Arguments of `abide demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Answer the approval with a yes
    #[arg(long)]
    pub yes: bool,
}

/// Arguments of `abide resume`.
#[derive(Debug, Args)]
pub struct ResumeArguments {
    /// The run, or the beginning of its id; the last unfinished one when none is given
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Run steps again that were interrupted in the middle
    #[arg(long, conflicts_with = "fail")]
    pub rerun: bool,
    /// Count steps as failed that were interrupted in the middle
    #[arg(long)]
    pub fail: bool,
    /// A secret input, which no log holds
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub input: Vec<String>,
    /// Leave the terminal, and take secret inputs as JSON from standard input
    #[arg(long, hide = true)]
    pub detached: bool,
}

/// Arguments of `abide runs`.
#[derive(Debug, Args)]
pub struct RunsArguments {
    /// How many to list, newest first
    #[arg(long, default_value_t = 20, value_name = "COUNT")]
    pub limit: usize,
}

/// Arguments of `abide status`.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// The run, or the beginning of its id; the newest when none is given
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
}

/// Arguments of `abide logs`.
#[derive(Debug, Args)]
pub struct LogsArguments {
    /// The run, or the beginning of its id; the newest when none is given, also before the name of a step
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Only this step
    #[arg(value_name = "STEP")]
    pub step: Option<String>,
    /// Stay, and print what is written until the run is over
    #[arg(short, long)]
    pub follow: bool,
}

/// Arguments of `abide approve` and `abide reject`.
#[derive(Debug, Args)]
pub struct AnswerArguments {
    /// The run, or the beginning of its id; the newest that waits when none is given
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// The step that asks; needed when several do
    #[arg(value_name = "STEP")]
    pub step: Option<String>,
    /// The value of the option to choose, for `approve`; a no is `rejected` and nothing else
    #[arg(long, value_name = "VALUE")]
    pub answer: Option<String>,
    /// Why
    #[arg(long, short = 'm', value_name = "TEXT")]
    pub comment: Option<String>,
    /// Who answers
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
}

/// Arguments of `abide cancel`.
#[derive(Debug, Args)]
pub struct CancelArguments {
    /// The run, or the beginning of its id; the last unfinished one when none is given
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Why
    #[arg(long, short = 'm', value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Arguments of `abide init`.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// The project's folder
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

/// Arguments of `abide show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The ability
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Print it as YAML, in the order of the reference
    #[arg(long)]
    pub yaml: bool,
}

/// Arguments of `abide validate`.
#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// Abilities by name, or ability files by path; all abilities when none is given
    #[arg(value_name = "NAME", conflicts_with = "all")]
    pub names: Vec<String>,
    /// All abilities, agents and the configuration
    #[arg(long)]
    pub all: bool,
    /// How to print what is found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Report::Text)]
    pub format: Report,
    /// Fail on warnings too
    #[arg(long)]
    pub deny_warnings: bool,
    /// Stay, and validate again whenever a file changes
    #[arg(long)]
    pub watch: bool,
}

/// How problems are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Report {
    /// For people
    Text,
    /// For programs
    Json,
    /// For editors and CI
    Sarif,
}

/// Arguments of `abide graph`.
#[derive(Debug, Args)]
pub struct GraphArguments {
    /// The ability
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What to draw
    #[arg(long, short, value_enum, value_name = "FORMAT", default_value_t = Drawing::Text)]
    pub format: Drawing,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// What `abide graph` draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Drawing {
    /// A tree for the terminal
    Text,
    /// A Mermaid flowchart, for Markdown
    Mermaid,
    /// Graphviz
    Dot,
    /// A picture
    Svg,
}

/// Arguments of `abide schema`.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// The file format
    #[arg(value_enum, value_name = "FORMAT", default_value_t = SchemaFormat::Ability)]
    pub format: SchemaFormat,
}

/// A file format with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaFormat {
    /// ability.yaml
    Ability,
    /// config.yaml
    Config,
    /// The frontmatter of an agent profile
    Agent,
    /// A capability of your own
    Capability,
}

/// Arguments of `abide explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// The code, such as E0302; all codes are listed when none is given
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// Arguments of `abide completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}
