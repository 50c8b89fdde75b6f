//! `abide status` alone: prompts and scripts ask it often, and putting all commands together takes longer than answering.

use super::{Arguments, Colour, Command, Shared, StatusArguments};
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
    if let Some(arguments) = plain(words) {
        return Some(arguments);
    }
    let Often { asked: Asked::Status(arguments), shared } = Often::try_parse_from(words).ok()?;
    Some(Arguments { command: Command::Status(arguments), shared })
}

/// Reads the forms that nearly all have: `[-C DIR] [--json] status [RUN]`, in any order. What is left is read as usual.
fn plain(words: &[OsString]) -> Option<Arguments> {
    let mut shared =
        Shared { directory: None, json: false, server: None, key_file: None, color: Colour::Auto };
    let mut asked = None;
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match (word.to_str()?, &mut asked) {
            ("-C" | "--directory", _) if shared.directory.is_none() => {
                let folder = words.next()?;
                shared.directory = (!folder.to_str()?.starts_with('-')).then(|| folder.into());
                shared.directory.as_ref()?;
            }
            ("--json", _) if !shared.json => shared.json = true,
            ("", _) => return None,
            (option, _) if option.starts_with('-') => return None,
            ("status", None) => asked = Some(StatusArguments { run: None }),
            (run, Some(StatusArguments { run: none @ None })) => *none = Some(run.to_owned()),
            _ => return None,
        }
    }
    Some(Arguments { command: Command::Status(asked?), shared })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_forms_are_read_as_the_others_are() {
        let lines = [
            ("status", true),
            ("status r1", true),
            ("-C x status r1", true),
            ("status -C x --json", true),
            ("--json --directory x status", true),
            ("status status", true),
            ("-C status status", true),
            ("status help", true),
            ("status r1 r2", false),
            ("--json status --json", false),
            ("-C x status -C y", false),
            ("-C -x status", false),
            ("-C --json status", false),
            ("status -C", false),
            ("status --color never", false),
            ("status -h", false),
            ("status --", false),
            ("status -", false),
            ("-C status", false),
            ("run status", false),
            ("help status", false),
            ("--json", false),
        ];
        for (line, is_plain) in lines {
            let words: Vec<OsString> =
                std::iter::once("abide").chain(line.split(' ')).map(OsString::from).collect();
            let read = plain(&words);
            assert_eq!(read.is_some(), is_plain, "{line}");
            if let Some(read) = read {
                let whole = Arguments::try_parse_from(&words).unwrap();
                assert_eq!(format!("{read:?}"), format!("{whole:?}"), "{line}");
            }
        }
    }

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
