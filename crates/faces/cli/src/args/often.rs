//! `abide status` alone: prompts and scripts ask it often, and putting all commands together takes longer than answering.

use super::{Arguments, Command, Shared, StatusArguments};
use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// The command line with one command; its options are those of [`Arguments`].
#[derive(Debug, Parser)]
#[command(name = "abide", version, propagate_version = true)]
struct Often {
    #[command(subcommand)]
    asked: Asked,
    #[command(flatten)]
    shared: Shared,
}

#[derive(Debug, Subcommand)]
enum Asked {
    Status(StatusArguments),
}

/// Reads a command line that is nothing but `abide status`; whatever else it is, or is wrong with it, is not known here.
pub(crate) fn status(words: &[OsString]) -> Option<Arguments> {
    if !words.iter().any(|word| word == "status") {
        return None;
    }
    let Often { asked: Asked::Status(arguments), shared } = Often::try_parse_from(words).ok()?;
    Some(Arguments { command: Command::Status(arguments), shared })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_the_whole_command_line_reads() {
        let lines = [
            "status",
            "status r1",
            "-C x status r1",
            "status -C x --json",
            "--json status r1 --color never",
            "--color=always status",
            "status r1 r2",
            "status --help",
            "-h status",
            "status --version",
            "status --jsn",
            "-C status list",
            "run status",
            "logs status",
            "list",
            "statu",
            "status -- -x",
            "-C",
            "status --color pink",
            "hook status",
            "--directory=status runs",
        ];
        let mut read = 0;
        for line in lines {
            let words: Vec<OsString> =
                std::iter::once("abide").chain(line.split(' ')).map(OsString::from).collect();
            let whole = Arguments::try_parse_from(&words);
            if let Some(alone) = status(&words) {
                assert_eq!(format!("{alone:?}"), format!("{:?}", whole.unwrap()), "{line}");
                read += 1;
            } else {
                let other = whole.map_or(true, |whole| !matches!(whole.command, Command::Status(_)));
                assert!(other, "{line}: only the whole command line reads it");
            }
        }
        assert_eq!(read, 7);
    }
}
