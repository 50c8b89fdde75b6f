//! `cargo xtask CHORE`: reads the arguments and calls the chore.
#![expect(clippy::disallowed_macros, reason = "chores talk to a developer")]

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use xtask::generated::{FILES, Mode};

const USAGE: &str = "\
usage: cargo xtask CHORE

  readme [FILE…]       run the commands of README.md and docs/**/*.md (or of FILE…) as they are printed
  generated [--check]  write the generated files, or fail if one is not up to date
";

fn main() -> ExitCode {
    match chore(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn chore(arguments: Vec<String>) -> anyhow::Result<()> {
    let repository = xtask::repository();
    let mut arguments = arguments.into_iter();
    let chore = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    match (chore.as_str(), rest.as_slice()) {
        ("readme", files) => {
            xtask::documents::run(&repository, &files.iter().map(PathBuf::from).collect::<Vec<_>>())
        }
        ("generated", []) => xtask::generated::bring_up_to_date(&repository, FILES, Mode::Write),
        ("generated", [flag]) if flag == "--check" => {
            xtask::generated::bring_up_to_date(&repository, FILES, Mode::Check)
        }
        ("help" | "--help" | "-h", _) => {
            print!("{USAGE}");
            Ok(())
        }
        ("", _) => bail!("which chore?\n\n{USAGE}"),
        (other, _) => bail!("`{other}` with these arguments is not a chore\n\n{USAGE}"),
    }
}
