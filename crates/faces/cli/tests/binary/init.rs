//! `abide init`: a first ability that works, and nothing of the user's is ever overwritten.

use crate::support::{Outcome, Project};
use std::fs;

const FILES: [&str; 4] = [
    ".abide/abilities/hello/ability.yaml",
    ".abide/schema/ability.json",
    ".abide/schema/config.json",
    ".abide/.gitignore",
];

#[test]
fn the_first_ability_is_there_and_has_no_problem() {
    let project = Project::new();
    let outcome = project.abide(&["init"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for file in FILES {
        assert!(outcome.out.contains(&format!("wrote {file}\n")), "{outcome:?}");
        assert!(project.path(file).is_file(), "{file}");
    }
    assert!(outcome.err.contains("abide list"), "what comes next is said: {outcome:?}");
    assert_eq!(project.names(), ["hello"]);
    let Outcome { code, out, err } = project.abide(&["validate", "--deny-warnings"]);
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "1 ability is valid\n", ""));
}

#[test]
fn doing_it_again_changes_nothing() {
    let project = Project::new();
    project.abide(&["init"]);
    let before: Vec<Vec<u8>> = FILES.iter().map(|file| fs::read(project.path(file)).unwrap()).collect();
    project.write(FILES[0], "description: Mine\nsteps: [{ id: a, run: ls }]\n");
    let outcome = project.abide(&["init"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.out.contains("kept  .abide/abilities/hello/ability.yaml\n"), "{outcome:?}");
    assert!(!outcome.out.contains("wrote"), "{outcome:?}");
    assert!(fs::read_to_string(project.path(FILES[0])).unwrap().contains("Mine"));
    for (file, before) in FILES.iter().zip(before).skip(1) {
        assert_eq!(fs::read(project.path(file)).unwrap(), before, "{file}");
    }
}

#[test]
fn the_document_says_what_was_written_and_what_was_kept() {
    let project = Project::new();
    project.write(FILES[3], "mine\n");
    let document = project.json(&["init"]);
    assert_eq!(document["written"].as_array().unwrap().len(), 3);
    assert_eq!(document["kept"], serde_json::json!([FILES[3]]));
    assert_eq!(fs::read_to_string(project.path(FILES[3])).unwrap(), "mine\n");
}

#[test]
fn another_folder_can_be_named_and_is_made() {
    let project = Project::new();
    let outcome = project.abide(&["init", "new/place"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(project.path("new/place").join(FILES[0]).is_file());
}

#[test]
fn the_starter_points_editors_at_the_schema_that_was_written() {
    let project = Project::new();
    project.abide(&["init"]);
    let text = fs::read_to_string(project.path(FILES[0])).unwrap();
    let schema = text.lines().next().unwrap().split("$schema=").nth(1).unwrap();
    let schema = project.path(FILES[0]).parent().unwrap().join(schema);
    let schema: serde_json::Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    assert!(schema["properties"]["steps"].is_object());
}

#[test]
fn what_stands_in_the_way_is_named() {
    let project = Project::new();
    project.write(".abide", "a file where a folder should be");
    let outcome = project.abide(&["init"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(4), ""));
    assert!(outcome.err.contains(".abide/abilities/hello/ability.yaml"), "{outcome:?}");
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let project = Project::new();
    project.write("../home/precious", "keep me");
    fs::create_dir_all(project.path(".abide")).unwrap();
    std::os::unix::fs::symlink(project.path("../home/precious"), project.path(FILES[3])).unwrap();
    assert_eq!(project.abide(&["init"]).code, Some(0));
    assert_eq!(fs::read_to_string(project.path("../home/precious")).unwrap(), "keep me");
}
