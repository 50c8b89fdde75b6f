//! Which of two abilities of one name is used, and where they are looked for.

use crate::support::{GOOD, Project};

/// An ability that can be told from others.
fn from(place: &str) -> String {
    GOOD.replace("Says hello", place)
}

/// Returns the description of the ability that wins.
fn winner(project: &Project, arguments: &[&str]) -> String {
    let list = project.json(&[arguments, &["list"]].concat());
    let abilities = list["abilities"].as_array().unwrap();
    let usable: Vec<_> = abilities.iter().filter(|entry| entry["status"] == "usable").collect();
    assert_eq!(usable.len(), 1, "{list:#}");
    usable[0]["description"].as_str().unwrap().to_owned()
}

#[test]
fn the_order_is_nearest_first_then_global_then_configured() {
    let project = Project::new();
    let order = [
        ("inner/.abide/abilities/same.yaml", "nearest abide"),
        ("inner/.opencode/abilities/same.yaml", "nearest opencode"),
        (".abide/abilities/same.yaml", "root abide"),
        (".opencode/abilities/same.yaml", "root opencode"),
        ("../config/abide/abilities/same.yaml", "global abide"),
        ("../config/opencode/abilities/same.yaml", "global opencode"),
        ("first/same.yaml", "configured first"),
        ("second/same.yaml", "configured second"),
    ];
    project.write(".abide/config.yaml", "abilities:\n  directories: [first, second]\n");
    for (path, text) in order {
        project.write(path, from(text));
    }
    for (index, (path, text)) in order.iter().enumerate() {
        assert_eq!(winner(&project, &["-C", "inner"]), *text);
        let list = project.json(&["list", "-C", "inner"]);
        let shadowed =
            list["abilities"].as_array().unwrap().iter().filter(|entry| entry["status"] == "shadowed");
        assert_eq!(shadowed.count(), order.len() - 1 - index, "{list:#}");
        std::fs::remove_file(project.path(path)).unwrap();
    }
}

#[test]
fn shadowing_is_not_a_problem_but_two_in_one_folder_are() {
    let project = Project::new();
    project.write(".abide/abilities/same.yaml", GOOD).write("../config/abide/abilities/same.yaml", GOOD);
    assert_eq!(project.abide(&["validate", "--deny-warnings"]).code, Some(0));
    project.write(".abide/abilities/same/ability.yaml", GOOD);
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.out.contains("the ability `same` is also defined by"), "{outcome:?}");
    let statuses: Vec<String> = project.listed().into_iter().map(|(_, status, _)| status).collect();
    assert_eq!(statuses, ["broken", "broken", "shadowed"], "nothing says which of the two is meant");
}

#[test]
fn errors_of_a_shadowed_file_do_not_matter() {
    let project = Project::new();
    project.write(".abide/abilities/same.yaml", GOOD);
    project.write("../config/abide/abilities/same.yaml", "description: x\nsteps: [{ id: a, rum: b }]\n");
    let outcome = project.abide(&["validate"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), "all 2 abilities are valid\n"));
}

#[test]
fn a_broken_file_that_is_nearer_still_wins() {
    let project = Project::new();
    project.write(".abide/abilities/same.yaml", "description: x\nsteps: [\n");
    project.write("../config/abide/abilities/same.yaml", GOOD);
    let statuses: Vec<String> = project.listed().into_iter().map(|(_, status, _)| status).collect();
    assert_eq!(statuses, ["broken", "shadowed"], "nothing else is run in place of what the user wrote");
}

#[test]
fn folders_are_walked_up_to_the_root_of_the_repository() {
    let project = Project::new();
    std::fs::create_dir_all(project.path("repository/.git")).unwrap();
    std::fs::create_dir_all(project.path("repository/a/b")).unwrap();
    project.write(".abide/abilities/outer.yaml", GOOD);
    project.write("repository/.abide/abilities/root.yaml", GOOD);
    project.write("repository/a/.opencode/abilities/middle.yaml", GOOD);
    let list = project.json(&["list", "-C", "repository/a/b"]);
    let names: Vec<&str> =
        list["abilities"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["middle", "root"]);
}

#[test]
fn a_worktree_whose_git_is_a_file_is_a_repository_too() {
    let project = Project::outside_a_repository();
    project.write(".git", "gitdir: elsewhere\n").write(".abide/abilities/root.yaml", GOOD);
    std::fs::create_dir_all(project.path("a/b")).unwrap();
    assert_eq!(winner(&project, &["-C", "a/b"]), "Says hello");
}

#[test]
fn outside_a_repository_only_the_folder_itself_counts() {
    let project = Project::outside_a_repository();
    project.write(".abide/abilities/here.yaml", GOOD);
    std::fs::create_dir_all(project.path("below")).unwrap();
    assert_eq!(project.names(), ["here"]);
    assert_eq!(project.json(&["list", "-C", "below"])["abilities"], serde_json::json!([]));
}

#[test]
fn without_a_configuration_home_the_one_in_the_home_folder_is_used() {
    let project = Project::new();
    project.write("../home/.config/abide/abilities/mine.yaml", GOOD);
    for value in [None, Some(""), Some("relative/folder")] {
        let mut command = project.command(&["list"]);
        match value {
            Some(value) => command.env("XDG_CONFIG_HOME", value),
            None => command.env_remove("XDG_CONFIG_HOME"),
        };
        let outcome = crate::support::finish(&mut command);
        assert!(outcome.out.contains("~/.config/abide/abilities/mine.yaml"), "{value:?}: {outcome:?}");
    }
}

#[test]
fn folders_of_the_configuration_may_start_at_home() {
    let project = Project::new();
    project.write("../home/shared/team.yaml", GOOD);
    project.write(".abide/config.yaml", "abilities:\n  directories: [~/shared, absent]\n");
    let list = project.json(&["list"]);
    assert_eq!(list["abilities"][0]["origin"], "configured");
    let outcome = project.abide(&["validate"]);
    assert!(outcome.out.contains("this folder is configured and does not exist"), "{outcome:?}");
}

#[test]
fn a_folder_that_is_reached_twice_counts_once() {
    let project = Project::new();
    project.write(".abide/abilities/one.yaml", GOOD);
    std::fs::create_dir_all(project.path(".opencode")).unwrap();
    std::os::unix::fs::symlink("../.abide/abilities", project.path(".opencode/abilities")).unwrap();
    project.write(".abide/config.yaml", "abilities:\n  directories: [.abide/abilities]\n");
    assert_eq!(project.listed().len(), 1);
}
