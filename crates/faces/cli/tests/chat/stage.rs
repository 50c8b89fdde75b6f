//! A project with abilities, and a scripted model that knows the run it is in.

use abide_testkit::model::{ModelServer, Request, Script, ToolCall, Turn};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// No command takes as long, also on a busy machine.
const LONGEST: Duration = Duration::from_mins(1);

pub(crate) struct Stage {
    folder: tempfile::TempDir,
    server: ModelServer,
}

impl Stage {
    /// Makes a project. `$RUN` in the arguments of a call stands for the run that the model was last told of.
    pub(crate) fn new(abilities: &[(&str, &str)], turns: Vec<Turn>) -> Self {
        let mut turns: VecDeque<Turn> = turns.into();
        let script = Script::function(move |request| {
            let mut turn = turns.pop_front().unwrap_or_else(|| Turn::text("the script is over"));
            let run = run_in(request);
            for call in &mut turn.calls {
                fill(&mut call.arguments, &run);
            }
            turn
        });
        let stage =
            Self { folder: tempfile::tempdir().unwrap(), server: ModelServer::start(script).unwrap() };
        stage.write(".abide/config.yaml", "model: openai/scripted\n");
        // It may do anything by its profile: what holds it is the gate.
        let profile = "---\npermission: { write: allow, bash: allow }\n---\nYou are eager.\n";
        stage.write(".abide/agents/default.md", profile);
        for (name, text) in abilities {
            stage.write(&format!(".abide/abilities/{name}.yaml"), text);
        }
        stage
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Has a command ask the same model in the words of Anthropic.
    pub(crate) fn anthropic<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("ABIDE_MODEL", "anthropic/scripted").env("ANTHROPIC_API_KEY", "none");
        command.env("ANTHROPIC_BASE_URL", self.server.url())
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    pub(crate) fn abide(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.folder.path());
        command.env("ABIDE_USER", "ada").env("OPENAI_API_KEY", "sk-secret");
        command.env("OPENAI_BASE_URL", format!("{}/v1", self.server.url()));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn output(&self, arguments: &[&str]) -> Output {
        self.abide(arguments).output().unwrap()
    }

    /// Runs a command with lines on its standard input.
    pub(crate) fn piped(&self, arguments: &[&str], lines: &str) -> Output {
        let mut child = self.abide(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Waits for something, and fails if it does not come.
    #[expect(clippy::unused_self, reason = "it reads as what it is about")]
    pub(crate) fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let before = Instant::now();
        while !is_so() {
            assert!(before.elapsed() < LONGEST, "{what}: that did not happen");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the session that a command said it talks in.
    #[expect(clippy::unused_self, reason = "it reads as what it is about")]
    pub(crate) fn session_of(&self, output: &Output) -> String {
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = talk.lines().find_map(|line| line.strip_prefix("session "));
        line.unwrap_or_else(|| panic!("no session: {talk}")).to_owned()
    }

    /// Returns the first column of what a database answers.
    pub(crate) fn rows(&self, file: &str, query: &str) -> Vec<String> {
        let connection = rusqlite::Connection::open(self.path(file)).unwrap();
        let mut statement = connection.prepare(query).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    pub(crate) fn requests(&self) -> Vec<Arc<Request>> {
        self.server.turns()
    }
}

pub(crate) fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall::new(name, arguments)
}

pub(crate) fn shell(command: &str) -> ToolCall {
    call("bash", json!({ "command": command }))
}

/// Returns everything that a model was told, in one text.
pub(crate) fn told(request: &Request) -> String {
    let said = request.messages.iter().map(|message| {
        let results: Vec<&str> = message.results.iter().map(|result| result.text.as_str()).collect();
        format!("{} {}", message.text, results.join(" | "))
    });
    said.collect::<Vec<_>>().join("\n")
}

pub(crate) fn tools(request: &Request) -> Vec<String> {
    request.tools.iter().map(|tool| tool.name.clone()).collect()
}

/// Returns the run that a model was told of.
fn run_in(request: &Request) -> String {
    let text = told(request);
    let found = text.match_indices("run ").filter_map(|(at, _)| {
        let id: String = text[at + 4..].chars().take_while(|c| c.is_ascii_hexdigit() || *c == '-').collect();
        (id.len() == 36).then_some(id)
    });
    found.last().unwrap_or_default()
}

fn fill(value: &mut Value, run: &str) {
    match value {
        Value::String(text) if text == "$RUN" => run.clone_into(text),
        Value::Object(entries) => entries.values_mut().for_each(|value| fill(value, run)),
        _ => {}
    }
}
