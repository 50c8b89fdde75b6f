//! A client without hooks: `abide mcp` and the official TypeScript SDK, over pipes and over HTTP.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const RELEASE: &str = "description: Puts a version out
inputs:
  version: { type: string, required: true }
settings: { enforcement: loose }
steps:
  - id: test
    run: echo tested {{inputs.version}} >> trace
  - id: review
    agent: default
    prompt: Say whether {{inputs.version}} is good.
    needs: [test]
    output_schema: { type: object, required: [verdict], properties: { verdict: { type: string } } }
  - id: allow
    type: approval
    prompt: Put {{inputs.version}} out?
    needs: [review]
  - id: publish
    run: echo published {{inputs.version}} >> trace
    needs: [allow]
";

const STRICT: &str = "description: Held to its steps
steps:
  - id: only
    run: echo ran >> trace
";

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        for folder in ["home", "project/.git", "project/.abide/abilities"] {
            fs::create_dir_all(project.path(folder)).unwrap();
        }
        fs::write(project.path("project/.abide/abilities/release.yaml"), RELEASE).unwrap();
        fs::write(project.path("project/.abide/abilities/strict.yaml"), STRICT).unwrap();
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn environment(&self) -> Value {
        json!({ "HOME": self.path("home"), "PATH": "/usr/bin:/bin", "USER": "ada" })
    }

    /// Starts a server over HTTP.
    fn serve(&self, key: &Path) -> Served {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command.args(["mcp", "--http", "127.0.0.1:0", "--key-file"]).arg(key).env_clear();
        for (name, value) in self.environment().as_object().unwrap() {
            command.env(name, value.as_str().unwrap());
        }
        command.current_dir(self.path("project")).stdin(Stdio::null()).stdout(Stdio::null());
        let mut served =
            Served { child: command.stderr(Stdio::piped()).spawn().unwrap(), url: String::new() };
        let mut line = String::new();
        let said = served.child.stderr.as_mut().unwrap();
        BufReader::new(said).read_line(&mut line).unwrap();
        let url = line.split([' ', ';']).find(|word| word.starts_with("http://"));
        served.url = url.unwrap_or_else(|| panic!("no address: {line}")).to_owned();
        served
    }

    /// Holds what a client saw against what must have happened; `hooked` tells whether a hook stood before its calls.
    fn saw_a_whole_run(&self, saw: &Value, hooked: bool) {
        let text = |of: &Value| of["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        assert_eq!(saw["troubles"], json!([]), "{saw:#}");
        assert_eq!(saw["server"]["name"], "abide");
        assert!(saw["instructions"].as_str().unwrap().contains("ability_submit"));
        let tools: Vec<&str> = saw["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(tools.len(), 8, "{tools:?}");
        assert!(tools.contains(&"ability_run") && tools.contains(&"skill"), "{tools:?}");
        assert!(text(&saw["list"]).contains("release: Puts a version out"), "{:#}", saw["list"]);
        assert!(text(&saw["wrong"]).contains("did you mean `ability`?") && saw["wrong"]["isError"] == true);
        assert!(saw["unknown"].as_str().unwrap().contains("did you mean `ability_run`?"));

        // Nobody would hold this agent to the steps, so only what is loose is begun.
        assert!(
            saw["strict"]["isError"] == true && text(&saw["strict"]).contains("no hook"),
            "{:#}",
            saw["strict"]
        );
        assert!(text(&saw["begun"]).contains("Say whether v1 is good."), "{:#}", saw["begun"]);
        assert_eq!(saw["begun"]["structuredContent"]["step"]["step"], "review");
        assert!(text(&saw["status"]).contains("review"), "{:#}", saw["status"]);
        let asked = saw["asked"].as_array().unwrap();
        let (status, done) = if hooked {
            assert!(asked.len() == 1, "{asked:#?}");
            assert!(asked[0]["message"].as_str().unwrap().contains("Put v1 out?"), "{asked:#?}");
            ("completed", "tested v1\npublished v1\n")
        } else {
            // Whoever calls may be the agent itself, and is not asked what only a human may answer.
            assert!(asked.is_empty(), "{asked:#?}");
            ("waiting", "tested v1\n")
        };
        assert_eq!(saw["finished"]["structuredContent"]["status"], status, "{:#}", saw["finished"]);
        assert_eq!(fs::read_to_string(self.path("project/trace")).unwrap(), done);

        assert_eq!(saw["templates"], json!(["abide://abilities/{+name}", "abide://runs/{id}"]));
        let resources: Vec<&str> =
            saw["resources"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let run = format!("abide://runs/{}", saw["begun"]["structuredContent"]["run"].as_str().unwrap());
        assert!(
            resources.contains(&"abide://abilities/release") && resources.contains(&run.as_str()),
            "{resources:?}"
        );
        assert_eq!(saw["definition"]["contents"][0]["text"], RELEASE);
        assert!(saw["log"]["contents"][0]["text"].as_str().unwrap().contains(status), "{:#}", saw["log"]);
    }
}

/// Runs the client of the SDK against a server, and returns what it saw.
fn client(generation: &str, server: &Value) -> Value {
    let clients = std::env::var("ABIDE_CLIENTS").expect("`./test tools` installs the clients and says where");
    let sdk = Path::new(&clients).join("sdk");
    assert!(sdk.join("version").is_file(), "`./test tools` installs the SDKs into {}", sdk.display());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/sdk.mjs");
    let output = Command::new("timeout")
        .args(["--kill-after=5", "100", "node", script])
        .args([sdk.to_str().unwrap(), generation, &server.to_string()])
        .output()
        .unwrap();
    let (out, talk) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{talk}", output.status);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

/// A server over HTTP, which ends with the test.
struct Served {
    child: Child,
    url: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

mod real_clients {
    use super::*;

    fn over_pipes(generation: &str) -> Value {
        let project = Project::new();
        let server = json!({
            "command": env!("CARGO_BIN_EXE_abide"), "args": ["mcp"], "cwd": project.path("project"),
            "env": project.environment(),
        });
        let saw = client(generation, &server);
        project.saw_a_whole_run(&saw, true);
        saw
    }

    fn over_http(generation: &str) -> Value {
        let project = Project::new();
        let key = "a-key-that-nobody-guesses";
        fs::write(project.path("key"), format!("{key}\n")).unwrap();
        let served = project.serve(&project.path("key"));
        let saw = client(generation, &json!({ "url": served.url, "key": key }));
        project.saw_a_whole_run(&saw, false);
        saw
    }

    #[test]
    fn an_sdk_with_a_handshake_runs_an_ability_over_pipes() {
        over_pipes("1");
    }

    #[test]
    fn an_sdk_without_one_runs_an_ability_over_pipes() {
        assert_eq!(over_pipes("2")["protocol"], "2026-07-28");
    }

    #[test]
    fn an_sdk_with_a_handshake_runs_an_ability_over_http() {
        over_http("1");
    }

    #[test]
    fn an_sdk_without_one_falls_back_to_a_session_over_http() {
        assert_eq!(over_http("2")["protocol"], "2025-11-25");
    }
}
