//! `abide validate`: by name, by path, all; as text, JSON and SARIF; warnings.

use crate::support::{BAD, GOOD, Project};
use serde_json::json;

const WARNED: &str = "description: x\nsteps:\n  - { id: a, run: \"echo {{ input | raw }}\" }\n";

fn project() -> Project {
    let project = Project::new();
    project
        .write(".abide/abilities/good.yaml", GOOD)
        .write(".abide/abilities/fine.yaml", GOOD)
        .write(".abide/abilities/bad.yaml", BAD);
    project
}

#[test]
fn one_and_several_names() {
    let project = project();
    let outcome = project.abide(&["validate", "good"]);
    assert_eq!((outcome.code, outcome.out.as_str(), outcome.err.as_str()), (Some(0), "good is valid\n", ""));
    let outcome = project.abide(&["validate", "good", "fine"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "all 2 are valid\n"));
    let outcome = project.abide(&["validate", "good", "bad"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.out.contains(".abide/abilities/bad.yaml:4:5"), "{outcome:?}");
    assert!(outcome.out.contains("did you mean `run`?"), "{outcome:?}");
    assert!(outcome.out.ends_with("1 file\n"), "{outcome:?}");
}

#[test]
fn an_unknown_name_is_answered_with_the_one_that_was_meant() {
    let project = project();
    for command in ["validate", "show", "graph"] {
        let outcome = project.abide(&[command, "goood"]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(3), ""));
        assert!(outcome.err.contains("no ability is called `goood`"), "{outcome:?}");
        assert!(outcome.err.contains("did you mean `good`?"), "{outcome:?}");
        let outcome = project.abide(&[command, "entirely-different"]);
        assert!(outcome.err.contains("`abide list` shows every ability"), "{outcome:?}");
    }
    // One unknown name among known ones is not passed over.
    assert_eq!(project.abide(&["validate", "good", "goood"]).code, Some(3));
}

#[test]
fn files_by_path_known_to_the_catalog_or_not() {
    let project = project();
    project.write("draft.yaml", BAD).write("ready.yml", GOOD);
    let outcome = project.abide(&["validate", ".abide/abilities/bad.yaml"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.out.contains(".abide/abilities/bad.yaml:4:5"), "{outcome:?}");
    let outcome = project.abide(&["validate", "draft.yaml"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.out.contains("draft.yaml:4:5"), "{outcome:?}");
    let ready = project.path("ready.yml");
    assert_eq!(project.abide(&["validate", "./ready.yml"]).code, Some(0));
    assert_eq!(project.abide(&["validate", ready.to_str().unwrap()]).code, Some(0));
    assert_eq!(project.abide(&["validate", "absent.yaml"]).code, Some(3));
    assert_eq!(project.abide(&["validate", ".abide"]).code, Some(3));
}

#[test]
fn json_has_every_field_and_the_right_places() {
    let project = project();
    let outcome = project.abide(&["validate", "bad", "--json"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(1), ""));
    let document = outcome.json();
    let file = &document["files"][0];
    assert_eq!(file["path"], ".abide/abilities/bad.yaml");
    let problem = file["problems"].as_array().unwrap().iter().find(|problem| problem["line"] == 4).unwrap();
    assert_eq!(
        (&problem["column"], &problem["end_column"], &problem["severity"]),
        (&json!(5), &json!(8), &json!("error"))
    );
    assert_eq!(problem["fix"]["text"], "run");
    let (offset, length) = (problem["offset"].as_u64().unwrap(), problem["length"].as_u64().unwrap());
    assert_eq!(&BAD[usize::try_from(offset).unwrap()..usize::try_from(offset + length).unwrap()], "rum");
    assert_eq!(project.abide(&["validate", "bad", "--format", "json"]).out, outcome.out);
}

#[test]
fn sarif_has_the_same_places() {
    let outcome = project().abide(&["validate", "--format", "sarif"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (Some(1), ""));
    let document = outcome.json();
    assert_eq!(document["version"], "2.1.0");
    let results = document["runs"][0]["results"].as_array().unwrap();
    let place = |result: &serde_json::Value| result["locations"][0]["physicalLocation"].clone();
    let found = results.iter().find(|result| place(result)["region"]["startLine"] == 4).unwrap();
    assert_eq!(place(found)["region"]["startColumn"], 5);
    assert_eq!(place(found)["artifactLocation"]["uri"], ".abide/abilities/bad.yaml");
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.iter().any(|rule| rule["id"] == found["ruleId"]), "{rules:?}");
}

#[test]
fn documents_are_complete_when_there_is_nothing_wrong_and_nothing_at_all() {
    let project = Project::new();
    for round in 0..2 {
        let document = project.abide(&["validate", "--json"]).json();
        assert_eq!((&document["errors"], &document["warnings"]), (&json!(0), &json!(0)), "{round}");
        let sarif = project.abide(&["validate", "--format", "sarif"]).json();
        assert_eq!(sarif["runs"][0]["results"], json!([]), "{round}");
        project.write(".abide/abilities/good.yaml", GOOD);
    }
}

#[test]
fn warnings_fail_only_when_they_are_denied() {
    let project = Project::new();
    project.write(".abide/abilities/warned.yaml", WARNED);
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.out.contains("warning") && outcome.out.ends_with("1 warning in 1 file\n"), "{outcome:?}");
    assert_eq!(project.abide(&["validate", "--deny-warnings"]).code, Some(1));
    assert_eq!(project.abide(&["validate", "--deny-warnings", "--json"]).code, Some(1));
    let (name, status, _) = &project.listed()[0];
    assert_eq!((name.as_str(), status.as_str()), ("warned", "usable"));
}

#[test]
fn every_problem_of_every_file_is_shown_at_once() {
    let project = Project::new();
    project.write(
        ".abide/abilities/many.yaml",
        "description: x\nsteps:\n  - { id: a, run: ls, needs: [b] }\n  - { id: a, run: \"echo {{inputs.nope}}\", timeout: 5 }\n  - { id: c, when: 3, run: ls }\nextra: 1\n",
    );
    project.write(".abide/abilities/other.yaml", BAD);
    let document = project.abide(&["validate", "--json"]).json();
    let codes = |file: &serde_json::Value| {
        let problems = file["problems"].as_array().unwrap();
        problems.iter().map(|problem| problem["line"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(codes(&document["files"][0]), [3, 4, 4, 4, 5, 6]);
    assert_eq!(document["files"].as_array().unwrap().len(), 2);
}
