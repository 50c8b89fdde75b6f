//! `abide graph`: every format, to standard output and to a file.

use crate::support::{BAD, Project};

fn project() -> Project {
    let project = Project::new();
    project.write(
        ".abide/abilities/deploy.yaml",
        "description: \"<Deploys> & \\\"more\\\"\"\nsteps:\n  - { id: build, run: \"make < in > out && echo \\\"done\\\"\" }\n  - { id: test, run: make test }\n  - { id: ask, type: approval, needs: [build, test], prompt: \"Really? <b>\" }\n  - { id: ship, needs: [ask], when: 'steps.ask.answer == \"approved\"', run: ./ship.sh }\nsettings: { parallel: true }\n",
    );
    project
}

#[test]
fn text_mermaid_and_dot_name_every_step() {
    let project = project();
    for format in ["text", "mermaid", "dot", "svg"] {
        let outcome = project.abide(&["graph", "deploy", "--format", format]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{format}");
        for step in ["build", "test", "ask", "ship"] {
            assert!(outcome.out.contains(step), "{format}: {step}: {}", outcome.out);
        }
        assert!(outcome.out.ends_with('\n'), "{format}");
    }
    assert!(project.abide(&["graph", "deploy", "-f", "mermaid"]).out.contains("flowchart"));
    assert!(project.abide(&["graph", "deploy", "-f", "dot"]).out.contains("digraph"));
}

#[test]
fn the_picture_is_well_formed_and_shows_the_steps() {
    let svg = project().abide(&["graph", "deploy", "--format", "svg"]).out;
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let text: String = document.descendants().filter_map(|node| node.text()).collect();
    for step in ["build", "test", "ask", "ship"] {
        assert!(text.contains(step), "{step}");
    }
}

#[test]
fn json_has_steps_and_edges() {
    let document = project().json(&["graph", "deploy"]);
    assert_eq!(document["ability"], "deploy");
    let edges: Vec<String> = document["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| format!("{} → {}", edge["from"].as_str().unwrap(), edge["to"].as_str().unwrap()))
        .collect();
    assert_eq!(edges, ["build → ask", "test → ask", "ask → ship"]);
    assert_eq!(document["steps"][3]["conditional"], true);
}

#[test]
fn output_goes_to_a_file() {
    let project = project();
    let outcome = project.abide(&["graph", "deploy", "-f", "svg", "-o", "deploy.svg"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(0), ""));
    assert_eq!(outcome.err, "wrote deploy.svg\n");
    let written = std::fs::read_to_string(project.path("deploy.svg")).unwrap();
    assert_eq!(written, project.abide(&["graph", "deploy", "-f", "svg"]).out);
}

#[test]
fn what_can_be_read_of_a_broken_ability_is_drawn_and_the_rest_is_said() {
    let project = project();
    project.write(".abide/abilities/bad.yaml", BAD).write(".abide/abilities/torn.yaml", "steps: [\n");
    let outcome = project.abide(&["graph", "torn"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""));
    assert!(outcome.err.contains("`abide validate torn`"), "{outcome:?}");
    let outcome = project.abide(&["graph", "bad"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.err.contains("`abide validate bad` says why"), "{outcome:?}");
}
