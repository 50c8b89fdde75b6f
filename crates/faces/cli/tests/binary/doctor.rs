//! `abide doctor`: healthy, broken, and on machines that lack something.

use crate::support::{BAD, GOOD, Project, finish};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// Returns the result of one check.
fn result(project: &Project, check: &str) -> String {
    let document = project.abide(&["doctor", "--json"]).json();
    let checks = document["checks"].as_array().unwrap();
    let found = checks.iter().find(|found| found["check"] == check).unwrap();
    found["result"].as_str().unwrap().to_owned()
}

#[test]
fn a_healthy_project_is_healthy() {
    let project = Project::new();
    project.write(".abide/abilities/good.yaml", GOOD);
    // A PATH without clients, whatever the tester has.
    project.write("../bin/sh", "").write("../bin/bash", "");
    for name in ["sh", "bash"] {
        fs::set_permissions(project.path("../bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let outcome = finish(project.command(&["doctor"]).env("PATH", project.path("../bin")));
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{outcome:?}");
    assert!(!outcome.out.contains('✗') && !outcome.out.contains('!'), "{outcome:?}");
    assert!(outcome.out.contains("1 usable, 0 broken, 0 shadowed"), "{outcome:?}");
    assert_eq!(project.json(&["doctor"])["ok"], true);
}

#[test]
fn what_is_missing_is_a_note_with_advice() {
    let project = Project::outside_a_repository();
    let outcome = project.abide(&["doctor"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for wanted in ["is not in a repository", "`abide init` writes a first one", "no file: the defaults apply"]
    {
        assert!(outcome.out.contains(wanted), "{wanted}: {outcome:?}");
    }
}

#[test]
fn broken_abilities_and_configurations_fail() {
    let project = Project::new();
    project.write(".abide/abilities/bad.yaml", BAD);
    assert_eq!(result(&project, "abilities"), "failed");
    project.write(".abide/config.yaml", "abilites: {}\n");
    assert_eq!(result(&project, "configuration"), "failed");
    let outcome = project.abide(&["doctor"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.out.contains('✗') && outcome.out.contains("`abide validate --all`"), "{outcome:?}");
    assert_eq!(project.abide(&["doctor", "--json"]).code, Some(1));
}

#[test]
fn broken_agent_profiles_are_named() {
    let project = Project::new();
    project.write(".abide/agents/reviewer.md", "---\nname: [\n---\n");
    assert_eq!(result(&project, "agents"), "note");
    assert!(project.abide(&["doctor"]).out.contains("these profiles have problems: reviewer"));
}

#[test]
fn a_machine_without_a_shell_is_told_so() {
    let project = Project::new();
    project.write(".abide/abilities/good.yaml", GOOD);
    for path in ["", "/nowhere"] {
        let outcome = finish(project.command(&["doctor"]).env("PATH", path));
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        assert!(outcome.out.contains("script steps need it"), "{outcome:?}");
    }
}

#[test]
fn switched_off_abilities_are_a_note() {
    let project = Project::new();
    project.write(".abide/config.yaml", "abilities: { enabled: false }\n");
    assert_eq!(result(&project, "abilities"), "note");
}
