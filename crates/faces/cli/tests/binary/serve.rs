//! `abide serve` and `abide key`: what an operator types, and what a caller gets.

use crate::server::Server;
use crate::support::Project;
use serde_json::Value;

#[test]
fn a_key_opens_the_server_until_it_is_revoked() {
    let project = Project::new();
    let made = project.abide(&["key", "create", "ada", "--scope", "run,admin"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let server = Server::start(&project, &["--require-key"]);
    assert_eq!(server.get("/v1/health", None).0, 200);
    assert_eq!(server.get("/v1/version", None).0, 401);
    let (status, keys) = server.get("/v1/keys", Some(&made.out));
    assert_eq!((status, &keys["items"][0]["name"]), (200, &Value::from("ada")));
    let listed = project.json(&["key", "list"]);
    assert_eq!(listed["keys"], keys["items"]);
    let id = listed["keys"][0]["id"].as_str().unwrap();
    assert_eq!(project.abide(&["key", "revoke", id]).code, Some(0));
    assert_eq!(server.get("/v1/keys", Some(&made.out)).0, 401, "another process has revoked it");
    assert_eq!(project.abide(&["key", "revoke", "nothing"]).code, Some(3));
    let file = std::fs::read(project.path(".abide/state/server.db")).unwrap();
    let secret = made.out.trim().rsplit('_').next().unwrap();
    assert!(!file.windows(64).any(|window| window == secret.as_bytes()), "the secret is kept nowhere");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_server_that_others_reach_does_not_start_without_a_key() {
    let project = Project::new();
    let refused = project.abide(&["serve", "--bind", "0.0.0.0:0", "--check"]);
    assert_eq!(refused.code, Some(9), "{refused:?}");
    assert!(refused.err.contains("abide key create"), "{refused:?}");
    assert_eq!(project.abide(&["serve", "--bind", "127.0.0.1:0", "--check"]).code, Some(0));
    assert_eq!(project.abide(&["key", "create", "ada"]).code, Some(0));
    assert_eq!(project.abide(&["serve", "--bind", "0.0.0.0:0", "--check"]).code, Some(0));
    let bad = project.abide(&["serve", "--database", "mysql://x", "--check"]);
    assert_eq!(bad.code, Some(2), "{bad:?}");
}

const RELEASE: &str = "description: Releases\ninputs:\n  version: { type: string, required: true }\nsteps:\n  - id: build\n    run: echo built {{inputs.version}}\n  - id: ask\n    type: approval\n    prompt: Ship it?\n    needs: [build]\n  - id: ship\n    run: echo shipped\n    needs: [ask]\n";

#[test]
fn an_ability_is_run_and_approved_over_http_and_seen_on_the_command_line() {
    let project = Project::new();
    project.write(".abide/abilities/team/release.yaml", RELEASE);
    let key = project.abide(&["key", "create", "ada", "--scope", "approve"]).out;
    let server = Server::start(&project, &[]);
    let (_, list) = server.get("/v1/abilities", None);
    assert_eq!(list["abilities"][0]["name"], "team/release");
    let page = server.get("/v1/abilities?limit=1", None).1;
    assert_eq!((&page["abilities"], &page["next"]), (&list["abilities"], &Value::Null));
    let (status, shown) = server.get("/v1/abilities/team%2Frelease", None);
    assert_eq!((status, &shown["status"]), (200, &Value::from("usable")));
    assert_eq!(server.get("/v1/abilities/team%2Frelease/graph", None).1["steps"][1]["id"], "ask");
    assert_eq!(server.get("/v1/abilities/team%2Frelease/problems", None).0, 200);
    let path = project.path(".abide/abilities/team/release.yaml").display().to_string().replace('/', "%2F");
    assert_eq!(
        server.get(&format!("/v1/abilities/{path}/problems"), None).0,
        404,
        "a name, and never a path"
    );
    assert_eq!(server.get("/v1/abilities/nothing", None).0, 404);
    let (status, plan) =
        server.ask("POST", "/v1/abilities/team%2Frelease/plan", None, r#"{"inputs": {"version": "v1"}}"#);
    assert_eq!(status, 200, "{plan}");
    assert_eq!(server.ask("POST", "/v1/abilities/team%2Frelease/plan", None, "{}").0, 422);
    let body = r#"{"ability": "team/release", "inputs": {"version": "v1"}}"#;
    let (status, run) = server.ask("POST", "/v1/runs", None, body);
    assert_eq!(status, 201, "{run}");
    let id = run["run"].as_str().unwrap().to_owned();
    server.until(&id, "waiting");
    let answer = r#"{"step": "ask", "answer": "approved"}"#;
    assert_eq!(server.ask("POST", &format!("/v1/approvals/{id}"), None, answer).0, 403);
    assert_eq!(server.ask("POST", &format!("/v1/approvals/{id}"), Some(&key), answer).0, 200);
    let over = server.until(&id, "completed");
    assert_eq!(project.json(&["status", &id]), over, "both faces say the same");
    let rows = server.get("/v1/runs", None).1;
    assert_eq!(project.json(&["runs"])["runs"], rows["items"]);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn skills_and_models_are_told_as_the_command_line_tells_them_and_never_a_key() {
    let project = Project::new();
    project.write(
        ".abide/skills/review/SKILL.md",
        "---\nname: review\ndescription: Reviews\n---\nLook at it.\n",
    );
    project.write(
        ".abide/skills/far/SKILL.md",
        "---\nname: far\ndescription: Needs a tool\nrequires: [env:NO_SUCH_VARIABLE_HERE]\n---\nx\n",
    );
    project.write(".abide/config.yaml", "model: anthropic/claude-sonnet-4\n");
    let server = Server::start_with(&project, &[], &[("ANTHROPIC_API_KEY", "sk-very-secret-key")]);
    let (status, skills) = server.get("/v1/skills", None);
    assert_eq!(status, 200, "{skills}");
    let listed = project.json(&["skill", "list"]);
    assert_eq!(skills, listed, "both faces say the same");
    let (status, skill) = server.get("/v1/skills/review", None);
    assert_eq!((status, skill["body"].as_str().map(str::trim)), (200, Some("Look at it.")), "{skill}");
    let rows = skills["skills"].as_array().unwrap();
    // Page by page it is the same list.
    let (mut paged, mut next) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/skills?limit=1{next}"), None).1;
        paged.extend(page["skills"].as_array().unwrap().iter().cloned());
        let Some(after) = page["next"].as_str() else { break };
        next = format!("&after={}", after.replace('/', "%2F"));
    }
    assert_eq!(&paged, rows);
    let far = rows.iter().find(|row| row["name"] == "far").unwrap();
    assert_eq!(far["state"], "unavailable", "{far}");
    assert!(far["reason"].is_string(), "{far}");
    assert_eq!(server.get("/v1/skills/nothing", None).0, 404);
    let (status, models) = server.get("/v1/models", None);
    assert_eq!((status, &models["models"][0]["usable"]), (200, &Value::from(true)), "{models}");
    assert!(!models.to_string().contains("very-secret"), "{models}");
    let checked = project.abide(&["serve", "--bind", "127.0.0.1:0", "--check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.err.contains("anthropic/claude-sonnet-4 cannot be asked"), "{checked:?}");
    let without = Server::start(&project, &[]);
    let models = without.get("/v1/models", None).1;
    assert_eq!(models["models"][0]["usable"], false, "{models}");
    assert!(models["models"][0]["help"].as_str().unwrap().contains("ANTHROPIC_API_KEY"), "{models}");
}

#[test]
fn a_log_has_one_json_document_for_each_request() {
    let project = Project::new();
    let mut child = project
        .command(&["serve", "--bind", "127.0.0.1:0", "--log", "json", "--log-level", "info"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let first = lines.next().unwrap().unwrap();
    let address = first.split("http://").nth(1).and_then(|rest| rest.split(';').next()).unwrap().to_owned();
    let mut stream = std::net::TcpStream::connect(&address).unwrap();
    let request = format!(
        "GET /v1/version HTTP/1.1\r\nHost: {address}\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n"
    );
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        (&line["request"], &line["route"], &line["status"], &line["level"]),
        (&Value::from("mine"), &Value::from("/v1/version"), &Value::from(200), &Value::from("info")),
        "{line}"
    );
}

#[test]
fn a_backup_of_a_server_under_way_brings_everything_back_and_overwrites_nothing() {
    let project = Project::new();
    project.write(".abide/abilities/team/release.yaml", RELEASE);
    let key = project.abide(&["key", "create", "ada", "--scope", "admin"]).out;
    let server = Server::start(&project, &[]);
    let body = r#"{"ability": "team/release", "inputs": {"version": "v1"}}"#;
    let run = server.ask("POST", "/v1/runs", Some(&key), body).1["run"].as_str().unwrap().to_owned();
    server.until(&run, "waiting");
    let (status, agent) = server.ask("POST", "/v1/agents", Some(&key), r#"{"name": "helper"}"#);
    assert_eq!(status, 201);
    let sessions = format!("/v1/agents/{}/sessions", agent["id"].as_str().unwrap());
    let session = server.ask("POST", &sessions, Some(&key), "{}").1["id"].as_str().unwrap().to_owned();
    // Without a model its turn fails, which is told in its log as everything is.
    let messages = format!("/v1/sessions/{session}/messages");
    assert_eq!(server.ask("POST", &messages, Some(&key), r#"{"text": "hello"}"#).0, 202);
    let turn = |server: &Server| server.get(&messages, Some(&key)).1["items"][0]["turn"]["status"].clone();
    while turn(&server) != "failed" {
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    let events = format!("/v1/sessions/{session}/events");
    let told = server.get(&events, Some(&key)).1["items"].clone();
    let made = project.abide(&["backup", "all.backup", "--json"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let made: Value = serde_json::from_str(&made.out).unwrap();
    for entry in std::fs::read_dir(project.path(".abide/state")).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy();
        let is_kept = made["files"].as_array().unwrap().iter().any(|kept| *kept == *name);
        assert!(is_kept || file.extension().is_none_or(|end| end != "db"), "{name} is not in: {made}");
    }
    assert_ne!(project.abide(&["backup", "all.backup"]).code, Some(0), "a backup is not overwritten");
    let left: Vec<String> = std::fs::read_dir(project.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("all.backup"))
        .collect();
    assert_eq!(left, ["all.backup"], "nothing else is left");
    assert_eq!(project.abide(&["restore", "all.backup"]).code, Some(9), "what is there is not overwritten");
    assert_eq!(server.end(), Some(0));
    std::fs::rename(project.path(".abide/state"), project.path("old")).unwrap();
    let backup = std::fs::read(project.path("all.backup")).unwrap();
    // A byte of the data, and not of the tables around it.
    let mut damaged = backup.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    project.write("text", "no backup at all");
    std::fs::write(project.path("damaged"), damaged).unwrap();
    for file in ["text", "damaged", "nothing", "old/log.db"] {
        let got = project.abide(&["restore", file]);
        assert_ne!(got.code, Some(0), "{file}: {got:?}");
        let there = std::fs::read_dir(project.path(".abide/state")).map_or(0, Iterator::count);
        assert_eq!(there, 0, "{file} left something behind");
    }
    let back = project.abide(&["restore", "all.backup"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert_eq!(project.abide(&["audit", "verify"]).code, Some(0));
    assert_eq!(project.abide(&["audit", "changes"]).code, Some(0));
    let server = Server::start(&project, &["--require-key"]);
    assert_eq!(server.get("/v1/agents", Some(&key)).1["items"][0]["name"], "helper");
    assert_eq!(turn(&server), "failed");
    assert_eq!(server.get(&events, Some(&key)).1["items"], told);
    let answer = r#"{"step": "ask", "answer": "approved"}"#;
    assert_eq!(server.ask("POST", &format!("/v1/approvals/{run}"), Some(&key), answer).0, 200);
    for _ in 0..400 {
        if server.get(&format!("/v1/runs/{run}"), Some(&key)).1["status"] == "completed" {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("the run that was restored never ends");
}
