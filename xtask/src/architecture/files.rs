//! What every file of the repository says first, and what none may hold. Start at [`broken_rules`].

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

/// Folders that exist on one machine only. Written in two halves, so that this file does not hold them.
const MACHINE_PATHS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/fa", "rm/")];

/// Words that say a thought was not finished, where they stand in a comment.
const UNFINISHED: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// What a merge leaves behind at the start of a line.
const CONFLICTS: &[&str] = &[concat!("<<<<", "<<< "), concat!(">>>>", ">>> "), concat!("||||", "||| ")];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Returns one sentence per broken rule in the files that are, or could be, committed.
pub fn broken_rules(repository: &Path) -> anyhow::Result<Vec<String>> {
    let mut broken = Vec::new();
    for file in files(repository)? {
        let path = repository.join(&file);
        if !path.is_file() {
            continue; // deleted and not yet committed, or a link to a folder
        }
        let bytes = fs::read(&path).with_context(|| format!("could not read {file}"))?;
        broken.extend(broken_in(&file, &String::from_utf8_lossy(&bytes)));
    }
    Ok(broken)
}

fn files(repository: &Path) -> anyhow::Result<Vec<String>> {
    let output = Command::new("git")
        // A checkout may belong to another user, as on CI; it is only listed here.
        .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(repository)
        .output()
        .context("could not start git")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    Ok(names.split_terminator('\0').map(str::to_owned).collect())
}

fn broken_in(file: &str, text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    let is_rust = has_extension(file, "rs");
    if is_rust && !text.lines().take(3).any(|line| line.starts_with("//!")) {
        broken.push(format!("{file}:1: open with `//!` and say why the file exists"));
    }
    let has_comments =
        is_rust || has_extension(file, "toml") || has_extension(file, "sh") || text.starts_with("#!");
    for (index, line) in text.lines().enumerate() {
        let at = index + 1;
        if let Some(path) = MACHINE_PATHS.iter().find(|path| holds_path(line, path)) {
            broken.push(format!("{file}:{at}: `{path}` exists on one machine only"));
        }
        if let Some(mark) = CONFLICTS.iter().find(|mark| line.starts_with(**mark)) {
            broken.push(format!("{file}:{at}: `{}` is left over from a merge", mark.trim_end()));
        }
        if has_comments && let Some(word) = UNFINISHED.iter().find(|word| comment_says(line, word, is_rust)) {
            broken
                .push(format!("{file}:{at}: `{word}`: finish it, or open an issue and say here what holds"));
        }
        if file == "Cargo.lock" && line.starts_with("source = ") && !line.contains(CRATES_IO) {
            broken.push(format!("{file}:{at}: not from crates.io: {line}"));
        }
    }
    broken
}

fn has_extension(file: &str, extension: &str) -> bool {
    Path::new(file).extension().is_some_and(|found| found == extension)
}

/// Returns whether an absolute path stands in a line; the same letters inside a longer path do not count.
fn holds_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || "._-~*}>)]".contains(before))
    })
}

fn comment_says(line: &str, word: &str, is_rust: bool) -> bool {
    let Some(start) = line.find(if is_rust { "//" } else { "#" }) else { return false };
    let is_letter = |each: char| each.is_alphanumeric() || each == '_';
    let comment = &line[start..];
    comment.match_indices(word).any(|(at, _)| {
        !comment[..at].ends_with(is_letter) && !comment[at + word.len()..].starts_with(is_letter)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_file_breaks_nothing() {
        let text = "#![no_main]\n//! Why.\nlet todo = \"https://example.com/work/of/art\"; // a work\n";
        assert_eq!(broken_in("crates/core/src/a.rs", text), Vec::<String>::new());
        assert_eq!(broken_in("README.md", "no opening line is asked of this"), Vec::<String>::new());
    }

    #[test]
    fn each_rule_can_fail() {
        let path = MACHINE_PATHS[0];
        let word = UNFINISHED[0];
        let mark = CONFLICTS[0];
        for (file, text, expected) in [
            ("a.rs", "use x;\n".to_owned(), "a.rs:1: open with `//!` and say why the file exists".to_owned()),
            ("a.md", format!("\nsee {path}x"), format!("a.md:2: `{path}` exists on one machine only")),
            ("a.md", format!("{path}x"), format!("a.md:1: `{path}` exists on one machine only")),
            (
                "a.rs",
                format!("//! Why.\nf(); // {word}: later"),
                format!("a.rs:2: `{word}`: finish it, or open an issue and say here what holds"),
            ),
            (
                "run",
                format!("#!/bin/sh\n# {word}\n"),
                format!("run:2: `{word}`: finish it, or open an issue and say here what holds"),
            ),
            ("a.md", format!("{mark}HEAD"), format!("a.md:1: `{}` is left over from a merge", mark.trim())),
            (
                "Cargo.lock",
                "source = \"registry+https://elsewhere\"".to_owned(),
                "Cargo.lock:1: not from crates.io: source = \"registry+https://elsewhere\"".to_owned(),
            ),
        ] {
            assert_eq!(broken_in(file, &text), [expected], "{file}: {text}");
        }
    }
}
