//! Which files are abilities, and what they are called.

use crate::support::{BAD, GOOD, Project};

#[test]
fn names_come_from_paths_and_name_overrides() {
    let project = Project::new();
    project
        .write(".abide/abilities/test.yaml", GOOD)
        .write(".abide/abilities/other.yml", GOOD)
        .write(".abide/abilities/deploy/production/ability.yaml", GOOD)
        .write(".abide/abilities/deploy/staging.yaml", GOOD)
        .write(".abide/abilities/x/ability.yml", format!("name: renamed/here\n{GOOD}"));
    assert_eq!(project.names(), ["deploy/production", "deploy/staging", "other", "renamed/here", "test"]);
}

#[test]
fn a_place_that_gives_no_name_is_explained() {
    let project = Project::new();
    project.write(".abide/abilities/Bad Name.yaml", GOOD).write(".abide/abilities/ability.yaml", GOOD);
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.out.contains("the file's place gives it no name"), "{outcome:?}");
    assert!(outcome.out.contains("give it a `name:`"), "{outcome:?}");
}

#[test]
fn helpers_and_hidden_folders_are_not_entered() {
    let project = Project::new();
    for folder in ["scripts", "hooks", "node_modules", ".hidden", "a/scripts", "a/b/hooks/before"] {
        project.write(&format!(".abide/abilities/{folder}/ability.yaml"), BAD);
    }
    project.write(".abide/abilities/a/b/ability.yaml", GOOD);
    assert_eq!(project.names(), ["a/b"]);
    assert_eq!(project.abide(&["validate"]).code, Some(0));
}

#[test]
fn only_what_has_steps_or_the_name_of_an_ability_counts() {
    let project = Project::new();
    project
        .write(".abide/abilities/good/ability.yaml", GOOD)
        .write(".abide/abilities/good/values.yaml", "replicas: 3\nnested:\n  steps: [1]\n")
        .write(".abide/abilities/good/not-yaml.yaml", "{{{ : : :\n")
        .write(".abide/abilities/good/README.md", "steps: none\n")
        .write(".abide/abilities/good/steps.json", "{\"steps\": []}")
        .write(".abide/abilities/empty.yaml", "");
    assert_eq!(project.names(), ["good"]);
    assert_eq!(project.abide(&["validate"]).code, Some(0));

    project.write(".abide/abilities/without/ability.yaml", "description: No steps\n");
    project.write(".abide/abilities/torn.yaml", "description: [\nsteps:\n  - id: a\n");
    let listed = project.listed();
    let broken: Vec<&str> =
        listed.iter().filter(|(_, status, _)| status == "broken").map(|(name, ..)| name.as_str()).collect();
    assert_eq!(broken, ["torn", "without"]);
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.out.contains("needs `steps`"), "{outcome:?}");
    assert!(outcome.out.contains(".abide/abilities/torn.yaml:"), "{outcome:?}");
}

#[test]
fn steps_are_recognised_however_they_are_written() {
    let project = Project::new();
    project
        .write(".abide/abilities/quoted.yaml", "\"description\": x\n\"steps\":\n  - { id: a, run: ls }\n")
        .write(".abide/abilities/single.yaml", "'description': x\n'steps':\n  - { id: a, run: ls }\n")
        .write(".abide/abilities/flow.yaml", "{ description: x, steps: [{ id: a, run: ls }] }\n")
        .write(".abide/abilities/flow-lines.yaml", "{\n  description: x,\n  steps: [{ id: a, run: ls }]\n}\n")
        .write(".abide/abilities/marked.yaml", "---\ndescription: x\nsteps:\n  - { id: a, run: ls }\n...\n")
        .write(".abide/abilities/crlf.yaml", GOOD.replace('\n', "\r\n"))
        .write(".abide/abilities/bom.yaml", "\u{feff}steps:\n  - { id: a, run: ls }\ndescription: x\n");
    assert_eq!(project.names(), ["bom", "crlf", "flow", "flow-lines", "marked", "quoted", "single"]);
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn a_folder_deeper_than_eight_is_not_entered_and_that_is_said() {
    let project = Project::new();
    project.write(".abide/abilities/1/2/3/4/5/6/7/8/ability.yaml", GOOD);
    project.write(".abide/abilities/1/2/3/4/5/6/7/8/9/ability.yaml", GOOD);
    assert_eq!(project.names(), ["1/2/3/4/5/6/7/8"]);
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.out.contains("more than 8 levels deep"), "{outcome:?}");
    assert_eq!(project.abide(&["validate", "--deny-warnings"]).code, Some(1));
}
