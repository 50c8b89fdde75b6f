//! A project, and a client that asks `abide hook` before it calls a tool of `abide mcp`, as real ones do.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long an answer may take before a test gives up.
const LONGEST: Duration = Duration::from_mins(1);

/// A project and a user's home, both empty at first.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    /// The seat of the session, if abide started it.
    pub(crate) seat: Option<String>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap(), seat: None };
        for folder in ["home", "project/.git", "project/.abide/abilities"] {
            fs::create_dir_all(stage.folder.path().join(folder)).unwrap();
        }
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn define(&self, name: &str, text: &str) {
        fs::write(self.path("project/.abide/abilities").join(format!("{name}.yaml")), text).unwrap();
    }

    /// Returns what lies in a file of the project.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path("project").join(name)).ok()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("USER", "ada")
            .current_dir(self.path("project"));
        command.envs(self.seat.iter().map(|seat| ("ABIDE_SEAT", seat)));
        command
    }

    /// Notes the process above this one as a client, as a hook of that one would.
    pub(crate) fn client_above(&self) {
        let above = &abide_gate::Family::of_this().0[0];
        let folder = self.path("home").join(".local/state/abide/gate/clients");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{}-{}", above.process, above.started)), "\"claude\"").unwrap();
    }

    /// Does what a person does in a terminal; returns the exit code and everything that was said.
    pub(crate) fn person(&self, arguments: &[&str]) -> (i32, String) {
        abide_testkit::as_a_person(&self.command(arguments)).unwrap()
    }

    /// Asks the hook of a session about a moment; the error is why it says no.
    pub(crate) fn hook(&self, session: &str, event: &str, more: &Value) -> Result<String, String> {
        let mut question =
            json!({ "session_id": session, "cwd": self.path("project"), "hook_event_name": event });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut child = self
            .command(&["hook", "claude"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(question.to_string().as_bytes()).unwrap();
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        match status.code() {
            Some(0) => Ok(String::from_utf8_lossy(&stdout).into_owned()),
            _ => Err(String::from_utf8_lossy(&stderr).into_owned()),
        }
    }

    /// Asks whether a session may use a tool.
    pub(crate) fn may(&self, session: &str, tool: &str, input: &Value) -> Result<String, String> {
        self.hook(session, "PreToolUse", &json!({ "tool_name": tool, "tool_input": input }))
    }

    /// Asks whether a session may run a command.
    pub(crate) fn shell(&self, session: &str, command: &str) -> Result<String, String> {
        self.may(session, "Bash", &json!({ "command": command }))
    }

    /// Asks whether a session may stop.
    pub(crate) fn stop(&self, session: &str) -> Result<String, String> {
        self.hook(session, "Stop", &json!({ "stop_hook_active": false }))
    }

    /// Starts a server, as a client does that cannot ask its user.
    pub(crate) fn server(&self) -> Server<'_> {
        self.served(&["mcp"], None)
    }

    /// Starts a server that claims to be a client's.
    pub(crate) fn server_for(&self, client: &str) -> Server<'_> {
        self.served(&["mcp", "--for", client], None)
    }

    /// Starts a server, as a client does whose user answers every form like this.
    pub(crate) fn server_with(&self, form: Value) -> Server<'_> {
        self.served(&["mcp"], Some(form))
    }

    fn served(&self, arguments: &[&str], form: Option<Value>) -> Server<'_> {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let Ok(message) = serde_json::from_str(&line) else { panic!("no JSON: {line}") };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        let capabilities = if form.is_some() { json!({ "elicitation": {} }) } else { json!({}) };
        let mut server = Server { stage: self, child, stdin, lines, next: 0, form, told: Vec::new() };
        let asked = json!({
            "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = server.request("initialize", &asked);
        assert_eq!(answer["serverInfo"]["name"], "abide", "{answer}");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }
}

/// A server that a client has started.
pub(crate) struct Server<'a> {
    stage: &'a Stage,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
    /// What the user answers to a form.
    form: Option<Value>,
    /// What the server asked the user and told about its progress.
    pub(crate) told: Vec<Value>,
}

impl Server<'_> {
    fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("the client is there");
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Asks something, without waiting for the answer.
    pub(crate) fn ask(&mut self, method: &str, parameters: &Value) -> u64 {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters }));
        self.next
    }

    /// Waits for the answer to a question.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.lines.recv_timeout(LONGEST).expect("an answer in time");
            if message["id"] == id && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
            if message["method"] == "elicitation/create" {
                let result = self.form.clone().expect("only a client that can is asked");
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
            }
            self.told.push(message);
        }
    }

    /// Waits until the server tells something by itself.
    pub(crate) fn hears(&mut self, method: &str) {
        while self.lines.recv_timeout(LONGEST).expect("to be told in time")["method"] != method {}
    }

    /// Returns the addresses of what can be read.
    pub(crate) fn readable(&mut self) -> Vec<String> {
        let listed = self.request("resources/list", &json!({}));
        let resources = listed["resources"].as_array().unwrap().iter();
        resources.map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn request(&mut self, method: &str, parameters: &Value) -> Value {
        let id = self.ask(method, parameters);
        self.answer(id)
    }

    /// Calls a tool that no hook sees.
    pub(crate) fn unseen(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls a tool of a session, unless its hook says no.
    pub(crate) fn call(&mut self, session: &str, tool: &str, arguments: &Value) -> Result<Value, String> {
        self.stage.may(session, &format!("mcp__abide__{tool}"), arguments)?;
        Ok(self.unseen(tool, arguments))
    }

    /// Starts an ability for a session; returns the id of the run and what was reported.
    pub(crate) fn run(&mut self, session: &str, ability: &str) -> (String, Value) {
        let report = self.call(session, "ability_run", &json!({ "ability": ability })).unwrap();
        assert_ne!(report["isError"], true, "{report}");
        let data = report["structuredContent"].clone();
        (data["run"].as_str().unwrap().to_owned(), data)
    }

    /// Hands in a result.
    pub(crate) fn submit(
        &mut self,
        session: &str,
        run: &str,
        step: &str,
        output: &Value,
    ) -> Result<Value, String> {
        self.call(session, "ability_submit", &json!({ "run": run, "step": step, "output": output }))
    }

    pub(crate) fn status(&mut self, session: &str) -> Value {
        self.call(session, "ability_status", &json!({})).unwrap()["structuredContent"].clone()
    }

    /// Goes away as a client does that ends: the pipes are closed, and its child is killed.
    pub(crate) fn go_away(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Goes away, and waits until the process that served has left its runs.
    pub(crate) fn end(&mut self) {
        let serving = children_of(self.child.id());
        self.go_away();
        let gone = || serving.iter().all(|process| !PathBuf::from(format!("/proc/{process}")).exists());
        let until = Instant::now() + LONGEST;
        while !gone() {
            assert!(Instant::now() < until, "{serving:?} still serve");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends the server and what it started at once, as a machine does that loses power.
    pub(crate) fn crash(&mut self) {
        let serving = children_of(self.child.id());
        assert!(!serving.is_empty(), "the server has no process that serves");
        for process in serving {
            let _ = Command::new("kill").args(["-9", &process.to_string()]).status();
        }
        let _ = self.child.wait();
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the processes that a process has started.
fn children_of(parent: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|process| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            let parent_of =
                stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
            parent_of == Some(parent)
        })
        .collect()
}
