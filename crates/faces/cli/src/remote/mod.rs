//! `abide --server URL …`: abilities and runs at a server, in the place of the engine of this machine.
//!
//! Only what a server has is asked there. Everything else works on this machine, and says so when it is told a server.

mod decide;
mod desk;
mod find;
mod follow;
mod look;

use crate::args::{Arguments, Command, Shared};
use crate::session::Session;
use crate::{Exit, Failure, commands, runs};
use abide_sdk::{Abide, Error, Options};

/// A server, and what it is called in what is typed next.
struct Remote {
    abide: Abide,
    /// The beginning of every command that asks it again.
    typed: String,
}

/// Does what a command asks at a server, if one is named and the command can be used there.
pub(crate) fn run(session: &mut Session<'_>, arguments: &Arguments) -> Result<Option<Exit>, Failure> {
    let shared = &arguments.shared;
    let Some(server) = shared.server.clone().or_else(|| session.surroundings.variable("ABIDE_SERVER")) else {
        return match shared.key_file {
            // That of `abide mcp --http` opens its own door.
            Some(_) if !matches!(&arguments.command, Command::Mcp(mcp) if mcp.http.is_some()) => {
                Err(keyless())
            }
            _ => Ok(None),
        };
    };
    match &arguments.command {
        Command::Mcp(_) if shared.server.is_none() => {
            // A session that was held to its runs yesterday is not let go because a variable is set.
            return Ok(None);
        }
        // It asks no server, and writes down which one is to be asked.
        Command::Install(_) => return Ok(None),
        Command::Mcp(mcp) if mcp.http.is_some() => {
            return Err(Failure::new(
                Exit::Usage,
                "`--http` serves the abilities of this machine, and `--server` those of a server",
            )
            .help("leave out one of them"));
        }
        Command::List
        | Command::Show(_)
        | Command::Plan(_)
        | Command::Run(_)
        | Command::Resume(_)
        | Command::Runs(_)
        | Command::Status(_)
        | Command::Logs(_)
        | Command::Approve(_)
        | Command::Reject(_)
        | Command::Cancel(_)
        | Command::Mcp(_) => {}
        // A run of a server would be looked for on this machine, and another one be found.
        Command::Rerun(_) | Command::Audit(_) => return Err(only_here()),
        _ if shared.server.is_some() => return Err(only_here()),
        _ => return Ok(None),
    }
    let remote = Remote::new(session, shared, server)?;
    if matches!(arguments.command, Command::Mcp(_)) {
        return commands::serve_desk(desk::RemoteDesk::new(remote)).map(Some);
    }
    runs::block_on(async { remote.done(session, &arguments.command).await })?.map(Some)
}

/// Says that a key needs a server.
pub(crate) fn keyless() -> Failure {
    Failure::new(Exit::Usage, "`--key-file` is the key of a server").help("name it with `--server URL`")
}

fn only_here() -> Failure {
    Failure::new(Exit::Usage, "this command works on this machine alone, and not with a server").help(
        "list, show, plan, run, resume, runs, status, logs, approve, reject, cancel, mcp and install use a server; leave out `--server`, or unset ABIDE_SERVER",
    )
}

impl Remote {
    fn new(session: &Session<'_>, shared: &Shared, server: String) -> Result<Self, Failure> {
        let mut typed = String::from("abide");
        if shared.server.is_some() {
            typed = format!("{typed} --server {server}");
        }
        if let Some(file) = &shared.key_file {
            typed = format!("{typed} --key-file {}", file.display());
        }
        let options = Options::new(server);
        let options = match key(session, shared)? {
            Some(key) => options.key(key),
            None => options,
        };
        let abide = Abide::new(&options).map_err(|error| failure(&error))?;
        Ok(Self { abide, typed })
    }

    async fn done(&self, session: &mut Session<'_>, command: &Command) -> Result<Exit, Failure> {
        match command {
            Command::List => self.list(session).await,
            Command::Show(arguments) => self.show(session, arguments).await,
            Command::Plan(arguments) => self.plan(session, arguments).await,
            Command::Run(arguments) => self.start(session, arguments).await,
            Command::Resume(arguments) => self.resume(session, arguments).await,
            Command::Runs(arguments) => self.runs(session, arguments).await,
            Command::Status(arguments) => self.status(session, arguments).await,
            Command::Logs(arguments) => self.logs(session, arguments).await,
            Command::Approve(arguments) => self.answer(session, arguments, commands::Answer::Approve).await,
            Command::Reject(arguments) => self.answer(session, arguments, commands::Answer::Reject).await,
            Command::Cancel(arguments) => self.cancel(session, arguments).await,
            _ => Err(only_here()),
        }
    }
}

/// Finds the key: never among the words that are typed, where every user of the machine could read it.
#[expect(clippy::disallowed_methods, reason = "`--key-file` names a file to read")]
fn key(session: &Session<'_>, shared: &Shared) -> Result<Option<String>, Failure> {
    let variable = |name| session.surroundings.variable(name);
    let file = match &shared.key_file {
        Some(file) => file.clone(),
        None => match (variable("ABIDE_KEY"), variable("ABIDE_KEY_FILE")) {
            (Some(key), _) => return Ok(Some(key)),
            (None, Some(file)) => file.into(),
            (None, None) => return Ok(None),
        },
    };
    let unreadable = |why: &dyn std::fmt::Display| {
        Failure::new(Exit::NotFound, format!("the key cannot be read from {}: {why}", file.display()))
    };
    let text =
        std::fs::read_to_string(session.place.start.join(&file)).map_err(|error| unreadable(&error))?;
    match text.trim() {
        "" => Err(unreadable(&"the file is empty")),
        key => Ok(Some(key.to_owned())),
    }
}

/// Says what a server said no to, or that it did not answer.
fn failure(error: &Error) -> Failure {
    let Error::Problem(problem) = error else {
        let exit = if matches!(error, Error::Unsendable(_)) { Exit::Usage } else { Exit::System };
        return Failure::new(exit, error.to_string());
    };
    let exit = match problem.status {
        404 => Exit::NotFound,
        400 | 422 => Exit::Usage,
        401 | 403 | 409 | 412 | 429 => Exit::Refused,
        _ => Exit::System,
    };
    // Several problems are lines of one detail.
    let failure = Failure::several(exit, problem.detail.split('\n').map(str::to_owned));
    match (&problem.help, problem.status) {
        (Some(help), _) => failure.help(help.clone()),
        (None, 401) => failure.help("the key is in the variable ABIDE_KEY, or in the file of `--key-file`"),
        (None, _) => failure,
    }
}
