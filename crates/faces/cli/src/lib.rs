//! The command line of abide: the only place that wires things together.
//!
//! [`args`] says what can be typed, `commands` what happens then, [`ui`] how it looks. [`main`] takes
//! everything that it touches as arguments, so a test can run it like a user does.
#![warn(missing_docs)]

pub mod args;
mod builtin;
mod capabilities;
mod commands;
mod desk;
mod exit;
mod failure;
mod gate;
mod house;
mod human;
mod models;
pub mod reference;
mod remote;
mod runners;
mod runs;
mod session;
mod skills;
mod traces;
pub mod ui;
mod webhooks;

pub use abide_hooks::answer::Spoken;
pub use commands::{HOOK_LONGEST, hook, hook_failed, hook_is_late};
pub use exit::Exit;
pub use failure::Failure;
pub use session::Surroundings;

use args::{Arguments, Command};
use clap::Parser as _;
use session::Session;
use std::ffi::OsString;
use std::io::Write;

/// Runs one command line and returns how it ended.
pub fn main(
    surroundings: &Surroundings,
    arguments: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    talk: &mut dyn Write,
) -> Exit {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match args::status(&words).map_or_else(|| Arguments::try_parse_from(&words), Ok) {
        Ok(arguments) => arguments,
        Err(error) => {
            let text = error.render();
            // Help and the version were asked for: they are data.
            if error.use_stderr() {
                let _ = write!(talk, "{text}");
                return Exit::Usage;
            }
            let _ = write!(out, "{text}");
            return Exit::Done;
        }
    };
    match run(surroundings, &arguments, out, talk) {
        Ok(exit) => exit,
        Err(failure) => {
            // There is nobody left to tell when standard error is closed too.
            let _ = write!(talk, "{failure}");
            failure.exit
        }
    }
}

fn run(
    surroundings: &Surroundings,
    arguments: &Arguments,
    out: &mut dyn Write,
    talk: &mut dyn Write,
) -> Result<Exit, Failure> {
    human::must_decide(surroundings, &arguments.command)?;
    let mut session = Session::open(surroundings, &arguments.shared, out, talk)?;
    if let Some(exit) = remote::run(&mut session, arguments)? {
        return Ok(exit);
    }
    match &arguments.command {
        Command::Init(arguments) => commands::init(&mut session, arguments),
        Command::List => commands::list(&mut session),
        Command::Show(arguments) => commands::show(&mut session, arguments),
        Command::Validate(arguments) => commands::validate(&mut session, arguments),
        Command::Graph(arguments) => commands::graph(&mut session, arguments),
        Command::Schema(arguments) => commands::schema(&mut session, arguments),
        Command::Explain(arguments) => commands::explain(&mut session, arguments),
        Command::Completions(arguments) => commands::completions(&mut session, arguments),
        Command::Install(install) => commands::install(&mut session, &arguments.shared, install),
        Command::Uninstall(arguments) => commands::uninstall(&mut session, arguments),
        Command::Doctor(arguments) => commands::doctor(&mut session, arguments),
        Command::Model(arguments) => commands::model(&mut session, arguments),
        Command::Plan(arguments) => commands::plan(&mut session, arguments),
        Command::Run(arguments) => commands::run(&mut session, arguments),
        Command::Rerun(arguments) => commands::rerun(&mut session, arguments),
        Command::Detect(arguments) => commands::detect(&mut session, arguments),
        Command::Demo(arguments) => commands::demo(&mut session, arguments),
        Command::Resume(arguments) => commands::resume(&mut session, arguments),
        Command::Runs(arguments) => commands::runs(&mut session, arguments),
        Command::Status(arguments) => commands::status(&mut session, arguments),
        Command::Logs(arguments) => commands::logs(&mut session, arguments),
        Command::Approve(arguments) => commands::answer(&mut session, arguments, commands::Answer::Approve),
        Command::Reject(arguments) => commands::answer(&mut session, arguments, commands::Answer::Reject),
        Command::Cancel(arguments) => commands::cancel(&mut session, arguments),
        Command::Audit(arguments) => commands::audit(&mut session, arguments),
        Command::Backup(arguments) => commands::backup(&mut session, arguments),
        Command::Restore(arguments) => commands::restore(&mut session, arguments),
        Command::Mcp(mcp) => commands::mcp(&mut session, &arguments.shared, mcp),
        Command::Serve(serve) => commands::serve(&mut session, &arguments.shared, serve),
        Command::Key(arguments) => commands::key(&mut session, arguments),
        Command::Agent(agent) => commands::agent(&mut session, &arguments.shared, agent),
        Command::Chat(chat) => commands::chat(&mut session, &arguments.shared, chat),
        Command::Capability(arguments) => commands::capability(&mut session, arguments),
        Command::Skill(arguments) => commands::skill(&mut session, arguments),
        Command::Hook(arguments) => commands::answer_hook(&mut session, arguments),
    }
}
