//! The tool `skill` in abide's own loop.

use super::{Project, told};
use abide_testkit::model::{ModelServer, ToolCall, Turn};
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

#[test]
fn the_files_of_a_skill_can_be_read_wherever_it_lies_by_who_may_use_it() {
    let project = Project::new(Vec::new());
    let home = project.home();
    let at = |path: &str| home.join(".claude/skills").join(path);
    let write = |path: &str, text: &str| {
        std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        std::fs::write(at(path), text).unwrap();
    };
    let skill = |name: &str| format!("---\nname: {name}\ndescription: x\n---\nRead reference/facts.md.\n");
    for name in ["mine", "secret"] {
        write(&format!("{name}/SKILL.md"), &skill(name));
        write(&format!("{name}/reference/facts.md"), &format!("the fact of {name}\n"));
    }
    std::fs::write(home.join("private.txt"), "private").unwrap();
    std::os::unix::fs::symlink(home.join("private.txt"), at("mine/out.md")).unwrap();
    let path = |name: &str| at(name).display().to_string();
    let tool = |tool: &str, arguments: serde_json::Value| ToolCall::new(tool, arguments);
    let calls = Turn::calls([
        tool("read", json!({ "path": path("mine/reference/facts.md") })),
        tool("list", json!({ "path": path("mine") })),
        tool("glob", json!({ "pattern": "*.md", "path": path("mine") })),
        tool("grep", json!({ "pattern": "fact of", "path": path("mine") })),
    ]);
    let refused = Turn::calls([
        tool("read", json!({ "path": path("secret/reference/facts.md") })),
        tool("read", json!({ "path": path("mine/out.md") })),
        tool("read", json!({ "path": path("mine/../../../private.txt") })),
        tool("grep", json!({ "pattern": "fact of", "path": at("").display().to_string() })),
        tool("write", json!({ "path": path("mine/new.md"), "content": "x" })),
    ]);
    let project =
        Project { server: ModelServer::start(vec![calls, refused, Turn::text("done")]).unwrap(), ..project };
    project.write(
        ".abide/agents/writer.md",
        "---\npermission: { skill: { secret: deny }, write: allow }\n---\nYou write.\n",
    );
    let said = project.output(&["chat", "writer", "--message", "go"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let requests = project.requests();
    let results = |turn: usize| {
        let results = requests[turn].messages.iter().flat_map(|message| &message.results);
        results.map(|result| result.text.clone()).collect::<Vec<_>>()
    };
    let seen = results(1);
    assert!(seen[0].contains("the fact of mine"), "{seen:?}");
    assert!(seen[1].contains("SKILL.md") && seen[1].contains("reference/"), "{seen:?}");
    assert!(seen[2].contains(&path("mine/reference/facts.md")), "{seen:?}");
    assert_eq!(seen[3], format!("{}:1: the fact of mine", path("mine/reference/facts.md")));
    assert_eq!(results(2).len(), 9);
    for refused in &results(2)[4..] {
        assert!(refused.contains("outside the project") && !refused.contains("fact of"), "{refused}");
    }
    assert!(!at("mine/new.md").exists());
}
