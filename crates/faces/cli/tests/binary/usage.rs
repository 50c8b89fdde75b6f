//! The command line itself: help, the version, exit codes, and arguments that make no sense.

use crate::support::{BAD, GOOD, Project};
use abide_cli::Exit;
use std::os::unix::ffi::OsStrExt as _;

#[test]
fn help_and_version_are_data() {
    let project = Project::new();
    for arguments in
        [&["--help"][..], &["help"], &["--version"], &["validate", "--help"], &["list", "--version"]]
    {
        let outcome = project.abide(arguments);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(outcome.out.contains("abide"), "{arguments:?}: {outcome:?}");
    }
}

#[test]
fn help_documents_every_exit_code() {
    let help = Project::new().abide(&["--help"]).out;
    for (exit, meaning) in Exit::ALL {
        assert!(help.contains(&format!("{}  {meaning}", exit.code())), "{meaning}: {help}");
    }
}

#[test]
fn commands_that_look_at_definitions_end_with_their_codes() {
    let project = Project::new();
    project.write(".abide/abilities/good.yaml", GOOD).write(".abide/abilities/bad.yaml", BAD);
    for (exit, arguments) in [
        (Exit::Done, &["validate", "good"][..]),
        (Exit::Problems, &["validate", "bad"]),
        (Exit::Usage, &["validate", "--no-such-option"]),
        (Exit::NotFound, &["validate", "absent"]),
        (Exit::System, &["graph", "good", "--output", "no/such/folder/graph.svg"]),
    ] {
        let outcome = project.abide(arguments);
        assert_eq!(outcome.code, Some(i32::from(exit.code())), "{arguments:?}: {outcome:?}");
    }
}

#[test]
fn what_makes_no_sense_is_said_on_standard_error() {
    let project = Project::new();
    for arguments in [
        &[][..],
        &["lst"],
        &["show"],
        &["validate", "--all", "name"],
        &["graph", "x", "--format", "png"],
        &["list", "--color", "perhaps"],
        &["completions", "nosh"],
    ] {
        let outcome = project.abide::<&str>(arguments);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(outcome.err.contains("Usage:") || outcome.err.contains("--help"), "{outcome:?}");
    }
    assert!(project.abide(&["lst"]).err.contains("list"), "a mistyped command is recognised");
}

#[test]
fn arguments_that_are_not_text_are_refused_and_not_fatal() {
    let project = Project::new();
    let strange = std::ffi::OsStr::from_bytes(b"caf\xe9");
    for command in ["show", "validate", "graph", "explain"] {
        let outcome = project.abide(&[command.as_ref(), strange]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(2), ""), "{command}: {outcome:?}");
    }
}

#[test]
fn a_folder_whose_name_is_not_text_can_be_worked_in() {
    let project = Project::new();
    let strange = std::ffi::OsStr::from_bytes(b"caf\xe9");
    std::fs::create_dir_all(project.path(strange).join(".abide/abilities")).unwrap();
    std::fs::write(project.path(strange).join(".abide/abilities/good.yaml"), GOOD).unwrap();
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["validate"],
        &["doctor", "--json"],
        &["show", "good", "--json"],
    ] {
        let mut all: Vec<&std::ffi::OsStr> = vec!["-C".as_ref(), strange];
        all.extend(arguments.iter().map(AsRef::<std::ffi::OsStr>::as_ref));
        let outcome = project.abide(&all);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{arguments:?}: {outcome:?}");
    }
}

#[test]
fn directory_works_from_there() {
    let project = Project::new();
    project.write("inner/.abide/abilities/deep.yaml", GOOD);
    assert_eq!(project.names(), [""; 0]);
    let outcome = project.abide(&["-C", "inner", "list"]);
    assert!(outcome.out.contains("deep"), "{outcome:?}");
    let outcome = project.abide(&["list", "--directory", "absent"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(3), ""));
    assert!(outcome.err.contains("cannot work in absent"), "{outcome:?}");
}
