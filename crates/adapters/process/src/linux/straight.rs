//! A program is started without its shell where the shell would do nothing but start it.
//!
//! Most steps are one command, and a shell for it costs about as much again as a small program. What the shell would have
//! changed for the program is done here: `PWD`, and the exit code of a program that a signal ended.

use std::path::Component;
use std::process::Command;

use abide_core::value::shell::plain_command;
use abide_engine::port::{Ending, Spec};

use crate::{FUNCTIONS, LocalProcess};

/// Returns the words of the program that the shell of `spec` would only start.
pub(super) fn words<'a>(local: &LocalProcess, spec: &'a Spec) -> Option<Vec<&'a str>> {
    let [option, script] = &spec.arguments[..] else { return None };
    let is_settled = spec.folder.is_absolute()
        && spec.folder.components().all(|part| !matches!(part, Component::CurDir | Component::ParentDir));
    let has_functions =
        local.has_functions || spec.variables.iter().any(|variable| variable.name.starts_with(FUNCTIONS));
    if spec.program != "sh" || option != "-c" || !is_settled || has_functions {
        return None;
    }
    plain_command(script)
}

/// Returns the command of such words.
pub(super) fn command(words: &[&str], spec: &Spec) -> Command {
    // `words` gives at least one.
    let (program, arguments) = words.split_first().expect("a plain command has a program");
    let mut command = Command::new(program);
    command.args(arguments).env("PWD", &spec.folder);
    command
}

/// Returns how a shell says that a signal ended its program.
pub(super) fn signalled(signal: i32) -> Ending {
    Ending::Exited(128 + signal)
}
