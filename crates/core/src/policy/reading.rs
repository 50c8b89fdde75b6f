//! Whether a call provably only reads, so that `normal` lets it pass outside the step.

use super::glob::is_known;
use super::kind::ToolKind;
use super::path::name_of;
use super::shell::{Command, EXECUTING_OPTIONS, Line, Origin, Program, only_reads, program};
use super::subject::Subject;

/// Subcommands of git that only show something.
const GIT: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "describe",
    "shortlog",
    "grep",
    "rev-list",
    "cat-file",
    "merge-base",
    "name-rev",
    "for-each-ref",
    "show-ref",
    "check-ignore",
    "version",
];

/// Returns whether a call only reads.
pub(super) fn only_looks(subject: &Subject<'_>) -> bool {
    match subject.kind {
        ToolKind::Execute => subject.line().is_some_and(line),
        kind => kind.only_reads(),
    }
}

fn line(line: &Line) -> bool {
    let quiet = |(target, _): &(String, _)| target == "/dev/null";
    let changes = |name: &String| name == "PATH" || name.starts_with("LD_") || name.starts_with("GIT_");
    line.blind.is_none()
        && !line.commands.is_empty()
        && line.writes.iter().all(quiet)
        && !line.variables.iter().any(changes)
        && line.commands.iter().filter(|command| command.origin != Origin::Mentioned).all(command)
}

fn command(command: &Command) -> bool {
    let Some(first) = command.words.first() else { return true };
    if command.origin != Origin::Runs || !is_known(first) || first.starts_with('.') {
        return false;
    }
    let words = &command.words[1..];
    let has =
        |options: &[&str]| words.iter().any(|word| options.iter().any(|option| word.starts_with(option)));
    if words.iter().any(|word| EXECUTING_OPTIONS.contains(&word.split('=').next().unwrap_or(word))) {
        return false;
    }
    let name = name_of(first).to_ascii_lowercase();
    match program(&name) {
        // What a shell runs stands beside it.
        Program::Folder | Program::Declare | Program::Receive | Program::Shell | Program::Awk => true,
        Program::Inert => only_reads(&name),
        // What these run stands beside them.
        Program::Wrapper(wrapper) => {
            matches!(
                wrapper.name,
                "env" | "timeout" | "time" | "nice" | "command" | "xargs" | "nohup" | "stdbuf"
            )
        }
        Program::Find => !has(&["-delete", "-fprint", "-fls", "-ok"]),
        Program::Sed => !super::written::in_place(words),
        Program::Git => {
            let quiet = !has(&["--output", "-c", "--ext-diff", "-O", "--open-files", "--exec-path"]);
            let subcommand = words.iter().find(|word| !word.starts_with('-'));
            quiet && subcommand.is_some_and(|word| GIT.contains(&word.as_str()))
        }
        _ => false,
    }
}
