//! `abide mcp --server URL`: what the agent of a client can do at a server, and what it cannot.

use crate::server::Server;
use crate::support::{Project, finish};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const RELEASE: &str = "description: Releases\ninputs:\n  version: { type: string, required: true }\nsteps:\n  - id: build\n    run: echo built {{inputs.version}}\n  - id: ask\n    type: approval\n    prompt: Ship it?\n    needs: [build]\n  - id: ship\n    run: echo shipped >> shipped\n    needs: [ask]\n";
const QUICK: &str = "description: Quick\nsettings: { enforcement: loose }\nsteps:\n  - id: wait\n    type: approval\n    prompt: Go on?\n";
const MINE: &str = "description: A step of the session\nsteps:\n  - id: think\n    agent: default\n    runner: session\n    prompt: Think.\n";
const THEIRS: &str = "description: For one agent\nexclusive_agent: deployer\nsteps:\n  - id: one\n    run: echo one >> theirs\n";

/// A client that has started its server.
struct Client {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
}

impl Client {
    fn start(project: &Project, server: &Server, key: &str) -> Self {
        let url = format!("http://{}", server.address);
        let mut command = project.command(&["mcp", "--server", &url]);
        command.env("ABIDE_KEY", key.trim());
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut client = Self { child, stdin, lines, next: 0 };
        let asked = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
        let answer = client.request("initialize", &asked);
        assert!(answer["instructions"].as_str().unwrap().contains("at a server"), "{answer}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters }));
        loop {
            let message: Value = serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap();
            if message["id"] == self.next {
                return message["result"].clone();
            }
        }
    }

    /// Calls a tool; returns whether it failed, its text and its data.
    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String, Value) {
        let report = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = report["content"][0]["text"].as_str().unwrap().to_owned();
        (report["isError"] == true, text, report["structuredContent"].clone())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a project whose server has abilities, and one whose user has a client.
fn projects() -> (Project, Project) {
    let (there, here) = (Project::new(), Project::new());
    for (name, text) in [("release", RELEASE), ("quick", QUICK), ("mine", MINE), ("theirs", THEIRS)] {
        there.write(&format!(".abide/abilities/{name}.yaml"), text);
    }
    here.write(
        ".abide/abilities/local.yaml",
        "description: Only here\nsteps:\n  - id: one\n    run: echo one\n",
    );
    (there, here)
}

#[test]
fn an_agent_runs_an_ability_of_a_server_and_only_a_human_approves_it() {
    let (there, here) = projects();
    let (run_key, human) = (
        there.abide(&["key", "create", "ci", "--scope", "run"]).out,
        there.abide(&["key", "create", "ada", "--scope", "approve"]).out,
    );
    let server = Server::start(&there, &["--require-key"]);
    let mut client = Client::start(&here, &server, &run_key);
    let (_, text, listed) = client.call("ability_list", &json!({}));
    assert!(text.contains("- release: Releases (inputs: version)") && !text.contains("local"), "{text}");
    assert_eq!(listed["abilities"].as_array().unwrap().len(), 4, "{listed}");
    let (failed, text, data) =
        client.call("ability_run", &json!({ "ability": "release", "inputs": { "version": "v1" } }));
    assert!(!failed && text.contains("Ship it?") && text.contains("you cannot"), "{text}");
    let run = data["run"].as_str().unwrap().to_owned();
    assert_eq!((&data["status"], &data["done"]), (&json!("waiting"), &json!(1)), "{data}");
    let (failed, text, _) = client.call("ability_run", &json!({ "ability": "quick" }));
    assert!(failed && text.contains(&run), "one at a time: {text}");
    let (failed, text, _) = client.call("ability_cancel", &json!({}));
    assert!(failed && text.contains("a human's right"), "{text}");
    let (failed, text, _) =
        client.call("ability_submit", &json!({ "run": run, "step": "ask", "output": "approved" }));
    assert!(failed && text.contains("not yours"), "{text}");
    let answer = r#"{"step": "ask", "answer": "approved"}"#;
    assert_eq!(server.ask("POST", &format!("/v1/approvals/{run}"), Some(&human), answer).0, 200);
    let (_, text, data) = loop {
        let seen = client.call("ability_status", &json!({}));
        if seen.2["status"] != "waiting" {
            break seen;
        }
    };
    assert_eq!(data["status"], "completed", "{text}");
    assert_eq!(std::fs::read_to_string(there.path("shipped")).unwrap(), "shipped\n");
    assert!(!here.path("shipped").exists());
}

#[test]
fn what_rests_on_the_session_is_refused_with_the_reason() {
    let (there, here) = projects();
    let key = there.abide(&["key", "create", "ci", "--scope", "run"]).out;
    let server = Server::start(&there, &["--require-key"]);
    let mut client = Client::start(&here, &server, &key);
    let (failed, text, _) = client.call("ability_run", &json!({ "ability": "mine" }));
    assert!(failed && text.contains("session that starts the run"), "{text}");
    let (failed, text, _) = client.call("ability_run", &json!({ "ability": "theirs" }));
    assert!(failed && text.contains("exclusive_agent"), "{text}");
    let (failed, _, _) = client.call("ability_run", &json!({ "ability": "local" }));
    assert!(failed, "it is not at the server");
    assert!(!there.path("theirs").exists());
    let (_, _, data) = client.call("ability_run", &json!({ "ability": "quick" }));
    let (failed, text, data) =
        client.call("ability_cancel", &json!({ "run": data["run"], "reason": "no need" }));
    assert!(!failed && data["status"] == "cancelled", "what is loose an agent may end: {text}");
    drop(client);
    let refused = finish(
        here.command(&["mcp", "--server", "http://127.0.0.1:1", "--http", "127.0.0.1:0"])
            .stdin(Stdio::null()),
    );
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for server in ["", "http://127.0.0.1:1"] {
        let refused = finish(here.command(&["mcp", "--key-file", "nowhere"]).env("ABIDE_SERVER", server));
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
}

#[test]
fn what_install_writes_is_a_server_that_answers() {
    let (there, here) = projects();
    let key = there.abide(&["key", "create", "ci", "--scope", "run"]).out;
    here.write("key", &key);
    let server = Server::start(&there, &["--require-key"]);
    let url = format!("http://{}", server.address);
    let installed = here.abide(&["install", "opencode", "--server", &url, "--key-file", "key"]);
    assert_eq!(installed.code, Some(0), "{installed:?}");
    let settings = std::fs::read_to_string(here.path("opencode.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let words = settings["mcp"]["abide"]["command"].as_array().unwrap();
    let words: Vec<&str> = words[1..].iter().map(|word| word.as_str().unwrap()).collect();
    let mut client = Client::of(here.command(&words));
    let (_, text, _) = client.call("ability_list", &json!({}));
    assert!(text.contains("- release: Releases") && !text.contains("local"), "{text}");
}
