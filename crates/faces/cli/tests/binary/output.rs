//! Standard output is data, standard error is talk; colour only where it is wanted; readers that go away.

use crate::support::{BAD, GOOD, Project, finish};
use std::process::Stdio;

fn project() -> Project {
    let project = Project::new();
    project.write(".abide/abilities/good.yaml", GOOD).write(".abide/abilities/bad.yaml", BAD);
    project
}

const EVERYTHING: [&[&str]; 12] = [
    &["list"],
    &["show", "good"],
    &["show", "good", "--yaml"],
    &["show", "bad"],
    &["validate"],
    &["graph", "good"],
    &["schema"],
    &["explain"],
    &["explain", "E0302"],
    &["completions", "bash"],
    &["doctor"],
    &["init"],
];

#[test]
fn a_pipe_gets_no_colour() {
    let project = project();
    for arguments in EVERYTHING {
        let outcome = project.abide(arguments);
        assert!(!outcome.out.contains('\u{1b}') && !outcome.err.contains('\u{1b}'), "{arguments:?}");
    }
}

#[test]
fn colour_is_there_when_asked_for_and_never_in_documents() {
    let project = project();
    for arguments in [&["validate"][..], &["list"], &["doctor"]] {
        let coloured = project.abide(&[arguments, &["--color", "always"]].concat());
        assert!(coloured.out.contains("\u{1b}["), "{arguments:?}: {coloured:?}");
        let without = project.abide(&[arguments, &["--color", "never"]].concat());
        assert!(!without.out.contains('\u{1b}'), "{arguments:?}");
        let document = project.abide(&[arguments, &["--color", "always", "--json"]].concat());
        assert!(!document.out.contains('\u{1b}'), "{arguments:?}");
    }
}

#[test]
fn no_color_and_the_asked_for_colour() {
    let project = project();
    let with = |arguments: &[&str]| finish(project.command(arguments).env("NO_COLOR", "1"));
    assert!(!with(&["validate"]).out.contains('\u{1b}'));
    // What is said on the command line wins over the environment.
    assert!(with(&["validate", "--color", "always"]).out.contains('\u{1b}'));
}

#[test]
fn every_command_prints_one_document_with_json() {
    let project = project();
    for arguments in [
        &["list"][..],
        &["show", "good"],
        &["validate"],
        &["validate", "good"],
        &["graph", "good"],
        &["schema"],
        &["schema", "config"],
        &["schema", "agent"],
        &["explain"],
        &["explain", "E0302"],
        &["completions", "zsh"],
        &["doctor"],
        &["init"],
    ] {
        let outcome = project.abide(&[arguments, &["--json"]].concat());
        assert!(outcome.json().is_object(), "{arguments:?}");
        assert_eq!(outcome.err, "", "{arguments:?}");
    }
}

#[test]
fn failures_leave_standard_output_empty() {
    let project = project();
    for (arguments, code) in [
        (&["show", "god"][..], 3),
        (&["graph", "god"], 3),
        (&["validate", "god"], 3),
        (&["explain", "E9"], 3),
    ] {
        for more in [&[][..], &["--json"]] {
            let outcome = project.abide(&[arguments, more].concat());
            assert_eq!((outcome.code, outcome.out.as_str()), (Some(code), ""), "{arguments:?} {more:?}");
            assert!(outcome.err.starts_with("error: "), "{outcome:?}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let project = project();
    for arguments in
        EVERYTHING.iter().chain(&[&["list", "--json"][..], &["--help"], &["validate", "--format", "sarif"]])
    {
        let mut child =
            project.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!err.contains("error") && !err.contains("panic"), "{arguments:?}: {err}");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {:?}", output.status);
    }
}

#[test]
fn a_full_disk_is_a_failure_of_the_system() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let outcome = project().command(&["list"]).stdout(full).output().unwrap();
    assert_eq!(outcome.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("cannot write the output"));
}
