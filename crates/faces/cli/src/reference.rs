//! The reference page of the command line, generated from the same texts as `--help`.

use crate::args::Arguments;
use clap::CommandFactory as _;
use std::fmt::Write as _;

/// Returns the page as Markdown.
pub fn markdown() -> String {
    let mut command = Arguments::command().term_width(100);
    command.build();
    let mut page = String::from(
        "# The command line\n\nGenerated from `abide --help` by `cargo xtask generated`.\n\nStandard output is data, standard error is talk. With `--json`, standard output is one JSON document.\n",
    );
    section(&mut page, &mut command.clone(), "abide");
    for sub in command.get_subcommands() {
        if sub.get_name() != "help" {
            section(&mut page, &mut sub.clone(), &format!("abide {}", sub.get_name()));
        }
    }
    page
}

fn section(page: &mut String, command: &mut clap::Command, name: &str) {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    // Writing to a string cannot fail.
    let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
}
