//! `abide model mock SCRIPT`: a model that answers by a script, for people who test their abilities.
#![expect(
    clippy::disallowed_methods,
    reason = "the script is a file, and the command is the user's own, at their terminal"
)]

use crate::args::MockArguments;
use crate::runs::block_on;
use crate::session::Session;
use crate::{Exit, Failure};
use abide_model_mock::{ModelServer, file};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Command;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How long the command has to end when it is told to.
const GRACE: Duration = Duration::from_secs(5);

/// A key that is none: clients want one.
const KEY: &str = "scripted";

pub(super) fn mock(session: &mut Session<'_>, arguments: &MockArguments) -> Result<Exit, Failure> {
    let path = session.place.start.join(&arguments.script);
    let shown = arguments.script.display();
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::new(Exit::NotFound, format!("cannot read {shown}: {error}")))?;
    let turns = file::read(&text).map_err(|why| Failure::new(Exit::Problems, format!("{shown}: {why}")))?;
    let server = ModelServer::start_on(arguments.port, turns).map_err(|error| {
        Failure::new(Exit::System, format!("cannot listen on 127.0.0.1:{}: {error}", arguments.port))
    })?;
    let exit = match arguments.command.split_first() {
        Some((program, words)) => Some(run(session, &server, program, words)?),
        None => {
            serve(session, &server)?;
            None
        }
    };
    let surprises = server.surprises();
    for surprise in &surprises {
        session.say(&format!("{shown}: {surprise}\n"))?;
    }
    // What the command says of itself comes first; a script that was not played tells that it did something else.
    match exit {
        Some(code) if code != 0 => Err(Failure::silent(exit_of(code))),
        _ if surprises.is_empty() => Ok(Exit::Done),
        _ => Ok(Exit::Problems),
    }
}

/// Returns the way to end that has a code; a command that is not abide has codes of its own.
fn exit_of(code: i32) -> Exit {
    let found = Exit::ALL.iter().find(|(exit, _)| i32::from(exit.code()) == code);
    found.map_or(Exit::Problems, |(exit, _)| *exit)
}

/// Serves until somebody has had enough.
fn serve(session: &mut Session<'_>, server: &ModelServer) -> Result<(), Failure> {
    session.print(&format!("{}\n", server.url()))?;
    session.say("serving Anthropic Messages, OpenAI Chat Completions and Responses; Ctrl-C ends it\n")?;
    let failed = |error| Failure::new(Exit::System, format!("cannot listen for Ctrl-C: {error}"));
    block_on(async {
        let mut interrupted = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut asked = signal(SignalKind::terminate()).map_err(failed)?;
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = asked.recv() => {}
        }
        Ok(())
    })?
}

/// Runs a command that finds the model where it looks for those of Anthropic and OpenAI.
fn run(session: &Session<'_>, server: &ModelServer, program: &str, words: &[String]) -> Result<i32, Failure> {
    let mut command = Command::new(program);
    command.args(words).current_dir(&session.place.start);
    command.env("ANTHROPIC_BASE_URL", server.url()).env("ANTHROPIC_API_KEY", KEY);
    command.env("OPENAI_BASE_URL", format!("{}/v1", server.url())).env("OPENAI_API_KEY", KEY);
    if session.surroundings.variable("ABIDE_MODEL").is_none() {
        command.env("ABIDE_MODEL", "anthropic/scripted");
    }
    let failed = |error| Failure::new(Exit::System, format!("cannot listen for signals: {error}"));
    let status = block_on(async {
        let mut ended = signal(SignalKind::terminate()).map_err(failed)?;
        let mut hung_up = signal(SignalKind::hangup()).map_err(failed)?;
        // A terminal tells the command of Ctrl-C by itself; how it ends is what counts.
        let mut interrupted = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| Failure::new(Exit::NotFound, format!("cannot run `{program}`: {error}")))?;
        let told = tokio::select! {
            status = child.wait() => return status.map_err(|error| lost(&error)),
            _ = ended.recv() => Signal::TERM,
            _ = hung_up.recv() => Signal::HUP,
            _ = interrupted.recv() => Signal::INT,
        };
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(id) = id.filter(|_| told != Signal::INT) {
            // It may have ended by itself a moment ago.
            let _ = kill_process(id, told);
        }
        match tokio::time::timeout(GRACE, child.wait()).await {
            Ok(status) => status.map_err(|error| lost(&error)),
            Err(_) => {
                child.kill().await.map_err(|error| lost(&error))?;
                child.wait().await.map_err(|error| lost(&error))
            }
        }
    })??;
    // One that a signal ended has no code of its own.
    Ok(status.code().unwrap_or(i32::from(Exit::System.code())))
}

fn lost(error: &std::io::Error) -> Failure {
    Failure::new(Exit::System, format!("the command was lost: {error}"))
}
