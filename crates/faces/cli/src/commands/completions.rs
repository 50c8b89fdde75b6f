//! `abide completions SHELL`

use crate::args::{Arguments, CompletionsArguments};
use crate::session::Session;
use crate::{Exit, Failure};
use clap::CommandFactory as _;

pub(crate) fn completions(
    session: &mut Session<'_>,
    arguments: &CompletionsArguments,
) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "abide", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    if session.json {
        session.print_json(&serde_json::json!({ "shell": arguments.shell.to_string(), "script": script }))?;
    } else {
        session.print(&script)?;
    }
    Ok(Exit::Done)
}
