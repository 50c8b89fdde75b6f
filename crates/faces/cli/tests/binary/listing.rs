//! `abide list` and `abide show`: what a user sees of abilities.

use crate::support::{BAD, GOOD, Project};
use serde_json::json;

#[test]
fn a_newcomer_is_told_what_to_do() {
    let project = Project::new();
    let outcome = project.abide(&["list"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), ""));
    for wanted in ["no abilities here yet", "abide init", ".abide/abilities", "(does not exist)"] {
        assert!(outcome.err.contains(wanted), "{wanted}: {outcome:?}");
    }
    assert_eq!(project.json(&["list"])["abilities"], json!([]));
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.out.contains("abide init"), "{outcome:?}");
}

#[test]
fn usable_broken_and_shadowed_are_told_apart() {
    let project = Project::new();
    project
        .write(".abide/abilities/good.yaml", GOOD)
        .write(".opencode/abilities/good.yaml", GOOD)
        .write(".abide/abilities/bad.yaml", BAD);
    let outcome = project.abide(&["list"]);
    assert_eq!(outcome.code, Some(0));
    let line = |start: &str| outcome.out.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    assert!(line("✓").contains("good") && line("✓").contains("Says hello"), "{}", outcome.out);
    assert!(line("✗").contains("bad") && line("✗").contains("broken: `rum`"), "{}", outcome.out);
    assert!(line("–").contains("shadowed by .abide/abilities/good.yaml"), "{}", outcome.out);
    assert!(outcome.err.contains("1 ability cannot be used: `abide validate bad` says why"), "{outcome:?}");

    let list = project.json(&["list"]);
    let entry = &list["abilities"][0];
    assert_eq!((&entry["name"], &entry["status"]), (&json!("bad"), &json!("broken")));
    assert_eq!(entry["errors"], json!(1));
    assert_eq!(list["abilities"][1]["steps"], json!(["script"]));
    assert_eq!(list["abilities"][2]["shadowed_by"], json!(".abide/abilities/good.yaml"));
}

#[test]
fn show_tells_everything_about_one() {
    let project = Project::new();
    project.write(
        ".abide/abilities/deploy/ability.yaml",
        "description: Deploys\nversion: 2.0.0\ntriggers: { keywords: [ship it] }\ninputs:\n  tag: { type: string, required: true, pattern: '^v', description: Which one }\n  token: { type: string, secret: true, default: hush }\nsteps:\n  - { id: build, run: make }\n  - { id: ship, needs: [build], run: ./ship.sh }\nsettings: { timeout: 10m, enforcement: normal }\n",
    );
    project.write(".abide/abilities/deploy/hooks/before/check.sh", "true\n");
    project.write(".abide/abilities/deploy/hooks/before/notes.md", "notes\n");
    project.write(".abide/abilities/deploy/hooks/after/clean.sh", "true\n");
    let page = project.abide(&["show", "deploy"]).out;
    for wanted in [
        "deploy",
        "Deploys",
        "2.0.0",
        "normal (ability)",
        "10m",
        "\"ship it\" suggest it",
        "matches ^v",
        "Which one",
        "hooks/before/check.sh",
        "hooks/before/notes.md",
        "hooks/after/clean.sh",
        "build",
        "ship",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    assert!(!page.contains("hush"), "a secret's default is not shown: {page}");
    let document = project.json(&["show", "deploy"]);
    assert_eq!(document["enforcement"], json!({ "level": "normal", "set_by": "ability" }));
    assert_eq!(document["definition"]["steps"][1]["needs"], json!(["build"]));
}

#[test]
fn show_yaml_is_a_valid_ability_that_says_the_same() {
    let project = Project::new();
    project.abide(&["init"]);
    let printed = project.abide(&["show", "hello", "--yaml"]);
    assert_eq!(printed.code, Some(0));
    let copy = Project::new();
    copy.write(".abide/abilities/copy.yaml", &printed.out);
    assert_eq!(copy.abide(&["validate", "--deny-warnings"]).code, Some(0));
    let definition = |project: &Project| project.json(&["show", "hello"])["definition"].clone();
    assert_eq!(definition(&copy), definition(&project));
}

#[test]
fn show_of_a_broken_one_says_so() {
    let project = Project::new();
    project.write(".abide/abilities/bad.yaml", BAD).write(".abide/abilities/worse.yaml", "steps: [\n");
    let outcome = project.abide(&["show", "bad"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.err.contains("`abide validate bad` says why"), "{outcome:?}");
    let outcome = project.abide(&["show", "worse"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""));
    assert!(outcome.err.contains("`abide validate worse`"), "{outcome:?}");
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let project = Project::new();
    project.write(
        ".abide/abilities/evil.yaml",
        "description: \"a\\e]0;owned\\a \\e[31mred\"\nsteps: [{ id: a, run: ls, description: \"\\e[2J\" }]\n",
    );
    project
        .write(".abide/abilities/bad.yaml", "description: x\nsteps: [{ id: a, run: ls, \"\\e[31m\": 1 }]\n");
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["show", "evil"],
        &["graph", "evil"],
        &["validate"],
        &["validate", "--json"],
        &["validate", "--format", "sarif"],
    ] {
        let outcome = project.abide(arguments);
        assert!(!outcome.out.contains(['\u{1b}', '\u{7}']), "{arguments:?}: {:?}", outcome.out);
    }
}
