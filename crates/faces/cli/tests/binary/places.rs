//! Where problems are pointed at, whatever the file is made of.

use crate::support::Project;

/// Returns `line:column-end_column` of the only problem of an ability.
fn place(source: impl AsRef<[u8]>) -> String {
    let project = Project::new();
    project.write(".abide/abilities/a.yaml", source);
    let problems = project.problems();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    let problem = &problems[0];
    format!("{}:{}-{}", problem["line"], problem["column"], problem["end_column"])
}

#[test]
fn lines_and_columns_are_those_of_an_editor() {
    let steps = "steps:\n  - { id: a, run: ls, needs: [b] }\n";
    assert_eq!(place(format!("description: x\n{steps}")), "3:31-32");
    assert_eq!(place(format!("\u{feff}description: x\n{steps}")), "3:31-32", "a mark is not a column");
    assert_eq!(place(format!("description: x\n{steps}").replace('\n', "\r\n")), "3:31-32");
    assert_eq!(place(format!("description: ünï 漢字 🎉\n{steps}")), "3:31-32");
    assert_eq!(
        place("description: x\nsteps:\n  - { id: a, description: 🎉漢, run: ls, needs: [b] }\n"),
        "3:48-49",
        "columns count characters"
    );
}

#[test]
fn places_inside_texts_are_those_of_the_file() {
    let step = |run: &str| format!("description: x\nsteps:\n  - id: a\n    run: {run}\n");
    assert_eq!(place(step("echo {{inputs.nope}}")), "4:24-28");
    assert_eq!(place(step("\"echo {{inputs.nope}}\"")), "4:25-29");
    assert_eq!(place(step("|\n      true\n      echo {{inputs.nope}}")), "6:21-25");
}

#[test]
fn a_file_without_its_last_line_end_is_fine() {
    assert_eq!(place("description: x\nsteps: [{ id: a, run: ls, needs: [b] }]"), "2:35-36");
}
