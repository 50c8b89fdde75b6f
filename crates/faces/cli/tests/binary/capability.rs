//! `abide capability`: what there is, what it says about itself, and what its tools answer.

use crate::support::Project;
use serde_json::json;
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn capabilities_are_listed_in_the_shape_of_the_api() {
    let project = Project::new();
    let list = project.json(&["capability", "list"]);
    let items = list["items"].as_array().unwrap();
    assert_eq!(list["total"], items.len());
    let time = items.iter().find(|item| item["id"] == "current_time").unwrap();
    assert_eq!(
        *time,
        json!({
            "id": "current_time", "name": "Current Time",
            "description": "Tool to get current date and time in various formats and timezones.",
            "status": "available", "icon": "clock", "category": "Utilities",
            "version": 1, "risk": "none", "depends_on": []
        })
    );
    let table = project.abide(&["capability", "list"]);
    assert_eq!((table.code, table.err.as_str()), (Some(0), ""));
    assert!(table.out.contains("session_file_system") && table.out.contains("File Operations"), "{table:?}");
    assert!(!project.path(".abide").exists(), "looking leaves nothing behind");
}

#[test]
fn a_capability_shows_its_tools_and_how_to_try_them() {
    let project = Project::new();
    let shown = project.abide(&["capability", "show", "test_math"]);
    assert!(shown.out.starts_with("Test Math (test_math)\n"), "{shown:?}");
    assert!(shown.out.contains("try: abide capability test test_math add '{\"a\":6,\"b\":3}'"), "{shown:?}");
    let shown = project.json(&["capability", "show", "web_fetch"]);
    assert_eq!(shown["tools"][0]["arguments"]["required"], json!(["url"]));
    assert_eq!((&shown["tools"][0]["policy"], &shown["system_prompt"]), (&json!("auto"), &json!(null)));
    let unknown = project.abide(&["capability", "show", "web_fetsh"]);
    assert_eq!(unknown.code, Some(3));
    assert!(unknown.err.contains("did you mean `web_fetch`?"), "{unknown:?}");
}

#[test]
fn a_tool_is_called_and_its_errors_have_codes() {
    let project = Project::new();
    let add = project.abide(&["capability", "test", "test_math", "add", r#"{"a": 2, "b": 3}"#]);
    assert_eq!((add.code, add.out.as_str()), (Some(0), "{\n  \"result\": 5\n}\n"));
    for (tool, arguments, code, says) in [
        ("divide", r#"{"a": 1, "b": 0}"#, 1, "cannot be divided by zero"),
        ("divide", r#"{"a": 1}"#, 2, "\"b\" is a required property"),
        ("divide", "{", 2, "the arguments are no JSON"),
        ("divid", "{}", 3, "did you mean `divide`?"),
    ] {
        let outcome = project.abide(&["capability", "test", "test_math", tool, arguments]);
        assert_eq!((outcome.code, outcome.out.as_str()), (Some(code), ""), "{outcome:?}");
        assert!(outcome.err.contains(says), "{outcome:?}");
    }
    let refused = project.abide(&[
        "capability",
        "test",
        "web_fetch",
        "web_fetch",
        r#"{"url": "http://127.0.0.1/"}"#,
        "--json",
    ]);
    assert_eq!((refused.code, &refused.json()["error"]["code"]), (Some(9), &json!("refused")));
}

#[test]
fn arguments_can_come_from_standard_input() {
    let project = Project::new();
    let mut child = project
        .command(&["capability", "test", "test_math", "multiply", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(br#"{"a": 6, "b": 7}"#).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "{\n  \"result\": 42\n}\n");
}

#[test]
fn what_a_tool_keeps_is_kept_under_the_name_of_a_session_and_not_otherwise() {
    let project = Project::new();
    let files = ["capability", "test", "session_file_system"];
    let write = r#"{"path": "/notes/a.md", "content": "kept"}"#;
    let call = |rest: &[&str]| project.abide(&[&files[..], rest].concat());
    assert_eq!(call(&["write_file", write]).code, Some(0));
    assert!(!project.path(".abide").exists(), "nothing is kept without a name");
    assert_eq!(call(&["write_file", write, "--session", "mine"]).code, Some(0));
    let read = call(&["read_file", r#"{"path": "/notes/a.md"}"#, "--session", "mine", "--json"]);
    assert_eq!(read.json()["content"], "kept");
    let other = call(&["read_file", r#"{"path": "/notes/a.md"}"#, "--session", "other"]);
    assert_eq!(other.code, Some(1), "{other:?}");
    assert_eq!(call(&["read_file", "{}", "--session", "../x"]).code, Some(2));
}

const TICKETS: &str = r#"
description: Tickets of the project
tools:
  - name: find_ticket
    description: Find a ticket by its number
    arguments: { type: object, properties: { id: { type: integer } }, required: [id], additionalProperties: false }
    examples: [{ id: 7 }]
    command: [./tickets.sh, "{{arguments.id}}"]
    risk: low
"#;

/// A project with a capability, and what its script says.
fn with_tickets() -> Project {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    project.write(".abide/capabilities/tickets.yaml", TICKETS);
    project.write(".abide/capabilities/tickets.sh", "#!/bin/sh\necho \"ticket $1\"\n");
    let script = project.path(".abide/capabilities/tickets.sh");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    project
}

const FIND: [&str; 5] = ["capability", "test", "tickets", "find_ticket", r#"{"id": 7}"#];

#[test]
fn a_projects_capability_runs_once_it_is_trusted_and_asks_again_after_a_change() {
    let project = with_tickets();
    let untrusted = project.abide(&FIND);
    assert_eq!((untrusted.code, untrusted.out.as_str()), (Some(9), ""), "{untrusted:?}");
    assert!(untrusted.err.contains("abide capability trust tickets"), "{untrusted:?}");
    // Nobody is there to be asked, so what would run is shown and nothing is trusted.
    let asked = project.abide(&["capability", "trust", "tickets"]);
    assert_eq!(asked.code, Some(2), "{asked:?}");
    assert!(asked.err.contains("\"./tickets.sh\" \"{{arguments.id}}\""), "{asked:?}");
    assert_eq!(project.abide(&FIND).code, Some(9));

    assert_eq!(project.abide(&["capability", "trust", "tickets", "--yes"]).code, Some(0));
    let found = project.abide(&FIND);
    assert_eq!((found.code, found.out.as_str()), (Some(0), "ticket 7\n"), "{found:?}");
    let wrong = project.abide(&["capability", "test", "tickets", "find_ticket", r#"{"id": "7; id"}"#]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");

    project.write(".abide/capabilities/tickets.sh", "#!/bin/sh\necho hacked\n");
    let changed = project.abide(&FIND);
    assert_eq!(changed.code, Some(9), "{changed:?}");
    assert!(changed.err.contains("has changed since you trusted it"), "{changed:?}");
    let item = |project: &Project| {
        let list = project.json(&["capability", "list"]);
        list["items"].as_array().unwrap().iter().find(|item| item["id"] == "tickets").unwrap().clone()
    };
    assert_eq!(item(&project)["status"], "unavailable");
    assert_eq!(
        item(&project)["source"],
        json!({ "origin": "project", "path": ".abide/capabilities/tickets.yaml" })
    );
    project.abide(&["capability", "trust", "tickets", "--yes"]);
    assert_eq!(item(&project)["status"], "available");
    project.abide(&["capability", "untrust", "tickets"]);
    assert_eq!(item(&project)["status"], "unavailable");
    let unknown = project.abide(&["capability", "trust", "ticket", "--yes"]);
    assert!(unknown.code == Some(3) && unknown.err.contains("did you mean `tickets`?"), "{unknown:?}");
}

#[test]
fn the_users_own_capability_needs_no_trust_and_a_broken_one_is_shown() {
    let project = Project::new();
    project.write(
        "../config/abide/capabilities/hello.yaml",
        "description: Hello\ntools:\n  - { name: hello, description: Says hello, run: echo hello }\n",
    );
    let hello = project.abide(&["capability", "test", "hello", "hello"]);
    assert_eq!((hello.code, hello.out.as_str()), (Some(0), "hello\n"), "{hello:?}");
    let own = project.abide(&["capability", "trust", "hello", "--yes"]);
    assert!(own.code == Some(2) && own.err.contains("is your own"), "{own:?}");

    project.write(".abide/capabilities/broken.yaml", "descriptio: x\ntools: []\n");
    project.write(
        ".abide/capabilities/unfit.yaml",
        TICKETS.replace("examples: [{ id: 7 }]", "examples: [{ id: seven }]"),
    );
    project.write(".abide/capabilities/noop.yaml", TICKETS);
    let list = project.json(&["capability", "list"]);
    let broken: Vec<&str> =
        list["broken"].as_array().unwrap().iter().filter_map(|file| file["id"].as_str()).collect();
    assert_eq!(broken, ["broken", "noop", "unfit"]);
    let codes: Vec<String> =
        project.problems().iter().map(|problem| problem["code"].as_str().unwrap().to_owned()).collect();
    for code in ["E0201", "E0211", "E1202"] {
        assert!(codes.iter().any(|found| found == code), "{code}: {codes:?}");
    }
    assert_eq!(codes.iter().filter(|code| *code == "E1202").count(), 2, "{codes:?}");
}

/// A server over pipes with one tool, which searches.
const SEARCHER: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    params = message.get("params") or {}
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "look_up", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}}}]}
    else:
        found = [{"title": params["arguments"]["query"], "url": "https://example.com/found"}]
        result = {"content": [{"type": "text", "text": json.dumps(found)}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn research_searches_with_an_mcp_server_of_the_user_and_never_of_a_project() {
    let project = Project::new();
    project.write("server.py", SEARCHER);
    let script = project.path("server.py");
    let settings = format!(
        "capabilities:\n  finder: {{ command: [python3, {}] }}\nweb: {{ search_tool: finder__look_up }}\n",
        script.display()
    );
    project.write(".abide/config.yaml", &settings);
    let query = r#"{"query": "herons"}"#;
    let by_project = project.abide(&["capability", "test", "research", "research_web_search", query]);
    assert_eq!(by_project.code, Some(3), "{by_project:?}");
    project.write(".abide/config.yaml", "");
    project.write("../config/abide/config.yaml", &settings);
    let found = project.abide(&["capability", "test", "research", "research_web_search", query]);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(found.out.contains("https://example.com/found") && found.out.contains("herons"), "{found:?}");
}
