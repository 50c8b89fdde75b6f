//! The configuration: where it comes from, what overrides it, and what is wrong with it.

use crate::support::{GOOD, Project, finish};

#[test]
fn the_projects_wins_over_the_users_and_the_environment_over_both() {
    let project = Project::new();
    project.write(".abide/abilities/good.yaml", GOOD);
    let enforcement = |variable: Option<&str>| {
        let mut command = project.command(&["show", "good", "--json"]);
        if let Some(value) = variable {
            command.env("ABIDE_ABILITIES_ENFORCEMENT", value);
        }
        let level = finish(&mut command).json()["enforcement"].clone();
        format!("{} {}", level["level"].as_str().unwrap(), level["set_by"].as_str().unwrap())
    };
    assert_eq!(enforcement(None), "strict default");
    project.write("../config/abide/config.yaml", "abilities: { enforcement: loose }\n");
    assert_eq!(enforcement(None), "loose configuration");
    project.write(".abide/config.yaml", "abilities: { enforcement: normal }\n");
    assert_eq!(enforcement(None), "normal configuration");
    assert_eq!(enforcement(Some("strict")), "strict configuration");
    assert_eq!(enforcement(Some("")), "normal configuration", "empty is not set");
}

#[test]
fn problems_are_shown_with_their_place_and_do_not_hide_abilities() {
    let project = Project::new();
    project.write(".abide/abilities/good.yaml", GOOD);
    project.write(".abide/config.yaml", "abilities:\n  enforcment: loose\n");
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.out.contains(".abide/config.yaml:2:3"), "{outcome:?}");
    assert!(outcome.out.contains("did you mean `enforcement`?"), "{outcome:?}");
    assert_eq!(project.names(), ["good"]);
    assert!(project.abide(&["list"]).err.contains("`abide validate --all` shows them"));
    let list = project.json(&["list"]);
    assert_eq!(list["other_files_with_problems"][0]["file"], ".abide/config.yaml");
}

#[test]
fn a_bad_override_is_named() {
    let project = Project::new();
    let outcome = finish(project.command(&["validate"]).env("ABIDE_ABILITIES_ENABLED", "perhaps"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.out.contains("ABIDE_ABILITIES_ENABLED"), "{outcome:?}");
}

#[test]
fn switched_off_abilities_are_said_to_be_so() {
    let project = Project::new();
    project.write(".abide/abilities/good.yaml", GOOD);
    project.write(".abide/config.yaml", "abilities: { enabled: false }\n");
    let outcome = project.abide(&["list"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), ""));
    assert!(outcome.err.contains("`abilities.enabled: false`"), "{outcome:?}");
    let outcome = project.abide(&["show", "good"]);
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.err.contains("switched off"), "{outcome:?}");
    assert_eq!(project.json(&["list"])["enabled"], false);
    let outcome = project.abide(&["validate"]);
    assert!(outcome.out.contains("switched off"), "nothing was validated, and that is said: {outcome:?}");
    let outcome = finish(project.command(&["list"]).env("ABIDE_ABILITIES_ENABLED", "true"));
    assert!(outcome.out.contains("good"), "{outcome:?}");
}

#[test]
fn the_nearest_configuration_of_the_project_is_used() {
    let project = Project::new();
    project.write("inner/.abide/config.yaml", "abilities: { directories: [near] }\n");
    project.write(".abide/config.yaml", "abilities: { directories: [far] }\n");
    project.write("near/one.yaml", GOOD).write("far/two.yaml", GOOD);
    let names =
        |arguments: &[&str]| project.json(&[arguments, &["list"]].concat())["abilities"][0]["name"].clone();
    assert_eq!(names(&["-C", "inner"]), "one");
    assert_eq!(names(&[]), "two");
}
