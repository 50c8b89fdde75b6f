//! The tool `skill` in abide's own loop.

use super::{Project, told};
use abide_testkit::model::{ToolCall, Turn};
use serde_json::json;

#[test]
fn an_agent_loads_what_it_may_use_and_is_told_what_there_is() {
    let load = |name: &str| ToolCall::new("skill", json!({ "name": name }));
    let project = Project::new(vec![
        Turn::calls([load("docs"), load("dcos"), load("secret"), load("manual"), load("needy")]),
        Turn::text("done"),
    ]);
    project
        .skill("docs", "", "Write docs with @docs-template.md and !`touch ran`.")
        .write(".abide/skills/docs/docs-template.md", "x")
        .skill("secret", "", "x")
        .skill("manual", "disable-model-invocation: true\n", "x")
        .skill("needy", "requires: { bin: no-such-program }\n", "x")
        .write(".abide/agents/writer.md", "---\npermission:\n  skill: { secret: deny }\n---\nYou write.\n");
    let said = project.output(&["chat", "writer", "--message", "go"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let requests = project.requests();
    let offered = requests[0].body["tools"].as_array().unwrap().iter();
    let tool = offered.map(|tool| &tool["function"]).find(|tool| tool["name"] == "skill").unwrap();
    let listed = tool["description"].as_str().unwrap();
    assert!(listed.contains("<name>docs</name>"), "{listed}");
    for hidden in ["secret", "manual", "needy"] {
        assert!(!listed.contains(hidden), "{hidden}: {listed}");
    }
    let last = told(&requests[1]);
    let folder = project.path().canonicalize().unwrap().join(".abide/skills/docs");
    for part in [
        "<skill_content name=\"docs\">",
        "Write docs with @docs-template.md and !`touch ran`.",
        &format!("Base directory for this skill: {}", folder.display()),
        "docs-template.md</file>",
        "Skill \"dcos\" not found. Did you mean \"docs\"? Available skills: docs",
        "`skill` is not allowed here: rule `skill (secret): deny` of the agent",
        "only people call it",
        "the program `no-such-program` is not there",
    ] {
        assert!(last.contains(part), "{part}: {last}");
    }
    assert!(!super::exists(&project.path().join("ran")), "loading runs nothing");
}

#[test]
fn without_skills_there_is_no_such_tool() {
    let project = Project::new(vec![Turn::text("done")]);
    project.output(&["chat", "--message", "go"]);
    assert!(!super::tools(&project.requests()[0]).contains(&"skill"));
}
