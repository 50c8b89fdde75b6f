//! Documents that stay true: their commands are run as they are printed, in order, by `cargo xtask readme`.
//!
//! What a fenced block's info string means:
//!
//! | info string        | what happens                                                                  |
//! |--------------------|-------------------------------------------------------------------------------|
//! | `sh`               | run by `bash -euo pipefail`                                                   |
//! | `console`          | each `$ ` line is run, and the lines below it must be what it prints          |
//! | `sh no-run`        | not run, and said so (a first clone and build, `./test` itself)               |
//! | `console exit=2`   | run; its last command must end with this status (works with `sh`, too)        |
//! | `yaml file=a.yaml` | saved under that name, as a reader would do (any language but these two)      |
//!
//! In expected output, `…` or `[..]` stands for any text within a line, and a line of only `…` for any number
//! of lines. All blocks of a document share one empty folder, the working folder and exported variables, with
//! the freshly built `abide` first on the `PATH` and an empty home.

mod expectation;
mod markdown;
mod shell;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use markdown::{Block, Task};
use shell::Shell;

/// Runs the commands of the given documents, or of `README.md` and everything under `docs/`.
///
/// A document is left at its first failure, because its later blocks build on the earlier ones; the other
/// documents are still run.
pub fn run(repository: &Path, chosen: &[PathBuf]) -> anyhow::Result<()> {
    let documents = if chosen.is_empty() { all(repository)? } else { chosen.to_vec() };
    let binaries = build(repository)?;
    let mut failures = Vec::new();
    let mut tally = Tally::default();
    for document in documents {
        let name = document.strip_prefix(repository).unwrap_or(&document).display().to_string();
        let text = fs::read_to_string(&document).with_context(|| format!("could not read {name}"))?;
        let played = markdown::blocks(&text).and_then(|blocks| play(&name, &blocks, &binaries, &mut tally));
        if let Err(error) = played {
            println!("  failed: {error:#}");
            failures.push(format!("  {name}: {error:#}"));
        }
    }
    println!("{} blocks ran, {} marked no-run", tally.ran, tally.skipped);
    ensure!(failures.is_empty(), "documents say what is not so\n{}", failures.join("\n"));
    Ok(())
}

#[derive(Default)]
struct Tally {
    ran: usize,
    skipped: usize,
}

fn play(name: &str, blocks: &[Block<'_>], binaries: &Path, tally: &mut Tally) -> anyhow::Result<()> {
    let mut shell = Shell::new(binaries)?;
    for block in blocks {
        let at = block.line;
        println!("{name}:{at}");
        match &block.task {
            Task::Skip => {
                println!("  skipped: marked no-run");
                tally.skipped += 1;
            }
            Task::Save { path } => {
                shell.save(path, &block.text).with_context(|| format!("line {at}"))?;
                println!("  saved as {path}");
            }
            Task::Script { exit } => {
                say("$", &block.text);
                let outcome = shell.run(&block.text)?;
                say("|", &outcome.output);
                ensure!(outcome.exit == *exit, "line {at}: {}", wrong_exit(outcome.exit, *exit));
                tally.ran += 1;
            }
            Task::Session { exit } => {
                let exchanges = markdown::exchanges(&block.text).with_context(|| format!("line {at}"))?;
                for (index, exchange) in exchanges.iter().enumerate() {
                    say("$", &exchange.command);
                    let outcome = shell.run(&exchange.command)?;
                    say("|", &outcome.output);
                    let wanted = if index + 1 == exchanges.len() { *exit } else { 0 };
                    ensure!(
                        outcome.exit == wanted,
                        "line {at}: `{}`: {}",
                        exchange.command,
                        wrong_exit(outcome.exit, wanted)
                    );
                    ensure!(
                        expectation::fits(&exchange.output, &outcome.output),
                        "line {at}: `{}` does not print what the document shows\n--- the document\n{}\n--- the command\n{}",
                        exchange.command,
                        exchange.output.trim_end(),
                        outcome.output.trim_end()
                    );
                }
                tally.ran += 1;
            }
        }
    }
    Ok(())
}

fn wrong_exit(found: i32, wanted: i32) -> String {
    match found {
        shell::TIMED_OUT => format!("was stopped after {} s", shell::LIMIT_SECONDS),
        found => format!("ended with status {found} instead of {wanted}"),
    }
}

fn say(mark: &str, text: &str) {
    for line in text.lines() {
        println!("  {mark} {line}");
    }
}

/// Returns `README.md` and every Markdown file under `docs/`, in a stable order.
fn all(repository: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![repository.join("docs")];
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder).with_context(|| format!("could not list {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.insert(0, repository.join("README.md"));
    Ok(found)
}

/// Builds the binaries and returns the folder that holds them: the one this program was started from.
fn build(repository: &Path) -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("could not tell where this program is")?;
    let folder = program.parent().context("this program is in no folder")?.to_path_buf();
    if repository.join("crates/faces/cli/Cargo.toml").is_file() {
        // The whole workspace with its tests, so that features are those of `./test` and nothing is compiled twice.
        let status = Command::new("cargo")
            .args(["build", "--quiet", "--workspace", "--all-targets"])
            .current_dir(repository)
            .status()
            .context("could not start cargo")?;
        ensure!(status.success(), "abide does not build");
        if !folder.join("abide").is_file() {
            bail!("the build left no `abide` in {}", folder.display());
        }
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(text: &str) -> anyhow::Result<(usize, usize)> {
        let mut tally = Tally::default();
        play("a.md", &markdown::blocks(text)?, Path::new("/nowhere"), &mut tally)?;
        Ok((tally.ran, tally.skipped))
    }

    #[test]
    fn blocks_share_a_folder_the_working_folder_and_exported_variables() {
        let text = "\
```sh
mkdir inner && cd inner
export GREETING='hello there'
```
```console
$ echo \"$GREETING from $(basename \"$PWD\")\"
hello there from inner
```
";
        assert_eq!(played(text).unwrap(), (2, 0));
    }

    #[test]
    fn a_block_marked_no_run_is_not_run() {
        assert_eq!(played("```sh no-run\nexit 1\n```\n").unwrap(), (0, 1));
    }

    #[test]
    fn a_saved_file_is_there_for_the_next_block() {
        let text = "```yaml file=a/b.yaml\nx: 1\n```\n```console\n$ cat a/b.yaml\nx: 1\n```\n";
        assert_eq!(played(text).unwrap(), (1, 0));
    }

    #[test]
    fn a_failing_command_in_the_middle_of_a_block_fails_it() {
        let error = played("```sh\nfalse\necho on\n```\n").unwrap_err().to_string();
        assert_eq!(error, "line 1: ended with status 1 instead of 0");
    }

    #[test]
    fn a_document_may_show_a_failure() {
        assert_eq!(played("```console exit=3\n$ echo no >&2; exit 3\nno\n```\n").unwrap(), (1, 0));
        assert!(played("```console exit=3\n$ true\n```\n").is_err());
    }

    #[test]
    fn output_that_differs_is_shown_beside_the_document() {
        let error = played("```console\n$ echo two\none\n```\n").unwrap_err().to_string();
        assert_eq!(
            error,
            "line 1: `echo two` does not print what the document shows\n\
             --- the document\none\n--- the command\ntwo"
        );
    }
}
