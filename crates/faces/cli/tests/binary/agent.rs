//! `abide agent`: who there is, where from, what each may use, and what is missing.

use crate::support::{GOOD, Project};
use serde_json::{Value, json};

const WRITER: &str = "---\ndescription: Writes documents\nmodel: local/qwen\ncapabilities: [session_file_system, test_math@1]\npermission:\n  write_file: { '*': ask, '/docs/*': allow }\nabilities: [hello]\n---\n\nYou write.\n";

fn agents(project: &Project) -> Vec<Value> {
    project.json(&["agent", "list"])["agents"].as_array().unwrap().clone()
}

fn local(project: &Project) {
    project.write(
        "../config/abide/config.yaml",
        "providers:\n  local: { format: openai, url: 'http://127.0.0.1:1/v1' }\n",
    );
}

#[test]
fn an_agent_shows_what_it_may_use_and_from_where() {
    let project = Project::new();
    local(&project);
    project.write(".abide/abilities/hello.yaml", GOOD).write(".abide/agents/writer.md", WRITER);
    project.write(".claude/agents/writer.md", "---\ndescription: Another\n---\n");
    let shown = project.json(&["agent", "show", "writer"]);
    assert_eq!(shown["model"], "local/qwen");
    assert_eq!((&shown["missing"], &shown["usable"]), (&json!([]), &json!(true)), "{shown:#}");
    assert_eq!(shown["abilities"], json!(["hello"]));
    assert_eq!(shown["shadows"], json!([".claude/agents/writer.md"]));
    let capabilities: Vec<&str> =
        shown["capabilities"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(capabilities, ["session_file_system", "test_math"]);
    assert_eq!(
        shown["permission"][1],
        json!({ "tool": "write_file", "pattern": "/docs/*", "action": "allow" })
    );
    assert!(shown["prompt"].as_str().unwrap().ends_with("You write."), "{shown:#}");
    let page = project.abide(&["agent", "show", "writer"]);
    assert!(page.out.contains("permission    write_file /docs/* → allow"), "{page:?}");
    assert!(page.out.contains("in place of   .claude/agents/writer.md"), "{page:?}");
    let table = project.abide(&["agent", "list"]);
    assert!(table.out.contains("not used: .abide/agents/writer.md is nearer"), "{table:?}");
}

#[test]
fn what_is_missing_is_said_with_its_reason() {
    let project = Project::new();
    project.write(".abide/abilities/hello.yaml", GOOD);
    project.write(
        ".abide/abilities/deploy.yaml",
        "description: Deploys\nexclusive_agent: deployer\nsteps:\n  - { id: a, run: echo }\n",
    );
    project.write(".abide/agents/deployer.md", "---\ndescription: Deploys\n---\n");
    project.write(
        ".abide/agents/lost.md",
        "---\nmodel: anthropic/claude-sonnet-4\ncapabilities: [web_fetsh, test_math@7, web_fetch: { max_bytes: none }]\nabilities: [helo, deploy]\n---\n",
    );
    let shown = project.json(&["agent", "show", "lost"]);
    let missing: Vec<&str> = shown["missing"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for tells in [
        "model `anthropic/claude-sonnet-4` cannot be used: ",
        "there is no capability `web_fetsh`; did you mean `web_fetch`?",
        "version 7 of capability `test_math` is needed, and version 1 is there",
        "the configuration of capability `web_fetch` does not fit",
        "there is no ability `helo`; did you mean `hello`?",
        "ability `deploy` is for deployer only",
    ] {
        assert!(missing.iter().any(|said| said.contains(tells)), "{tells}: {missing:#?}");
    }
    let unknown = project.abide(&["agent", "show", "los"]);
    assert!(unknown.code == Some(3) && unknown.err.contains("did you mean `lost`?"), "{unknown:?}");
}

#[test]
fn the_configuration_adds_agents_and_wins_over_profiles() {
    let project = Project::new();
    local(&project);
    project.write(
        ".opencode/agent/one.md",
        "---\ndescription: From a profile\ntools: { write: false }\npermission: { bash: deny }\n---\nOne.\n",
    );
    project.write(
        ".abide/config.yaml",
        "agents:\n  one: { model: local/a, permission: { bash: { 'git *': allow } } }\n  two: { description: From the configuration, model: local/b, prompt: Two., capabilities: { test_math: } }\n",
    );
    let agents = agents(&project);
    let told: Vec<(&str, &str, &str)> = agents
        .iter()
        .map(|agent| {
            let text = |key: &str| agent[key].as_str().unwrap_or_default();
            (text("name"), text("model"), text("path"))
        })
        .collect();
    assert_eq!(told, [("one", "local/a", ".opencode/agent/one.md"), ("two", "local/b", "config.yaml")]);
    let one = project.json(&["agent", "show", "one"]);
    assert_eq!(one["tools"], json!({ "switched": { "write": false } }));
    assert_eq!(
        one["permission"],
        json!([
            { "tool": "bash", "pattern": "*", "action": "deny" },
            { "tool": "bash", "pattern": "git *", "action": "allow" },
        ])
    );
    let two = project.json(&["agent", "show", "two"]);
    assert!(two["prompt"].as_str().unwrap().ends_with("Two."), "{two:#}");
}
