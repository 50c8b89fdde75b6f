//! The examples that run, run as their page says: what it prints is what is done here.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests start processes and look at files")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Copies an example out of the repository.
fn example(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join(name);
    copied(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples").join(name), &project);
    (folder, project)
}

/// Runs a line of a page as a shell does, with our own `abide`.
fn run(project: &Path, line: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_abide")).parent().unwrap();
    Command::new("sh")
        .args(["-c", line])
        .current_dir(project)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", binary.display()))
        .env("HOME", project.parent().unwrap())
        .env("ABIDE_USER", "ada")
        .output()
        .unwrap()
}

/// Returns the commands that a page prints.
fn commands(page: &str) -> Vec<String> {
    let (_, rest) = page.split_once("```sh\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    block.lines().map(str::to_owned).collect()
}

#[test]
fn the_agents_do_what_their_page_says_and_no_more() {
    let (_folder, project) = example("agents");
    let page = std::fs::read_to_string(project.join("README.md")).unwrap();
    let lines = commands(&page);
    assert_eq!(lines.len(), 2, "{lines:?}");
    let notes = std::fs::read_to_string(project.join("notes.txt")).unwrap();
    let output = run(&project, &lines[0]);
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 problems in notes.txt"), "{said}");
    assert_eq!(
        std::fs::read_to_string(project.join("review.md")).unwrap(),
        "Nobody has tried the installer.\n"
    );
    assert_eq!(std::fs::read_to_string(project.join("notes.txt")).unwrap(), notes, "its profile denies that");
    let output = run(&project, &lines[1]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "I look at the clock first.\nOne thing is open, and I may not install it.\n"
    );
    assert!(said.contains("rule `bash") && !project.join("installed").exists(), "{said}");
}

#[test]
fn the_agents_and_abilities_of_the_example_are_in_order() {
    let (_folder, project) = example("agents");
    for line in ["abide validate --all --deny-warnings", "abide agent list", "abide agent show reviewer"] {
        let output = run(&project, line);
        assert!(output.status.success(), "{line}: {output:?}");
    }
}
