//! Skills in abide's own loop, from the command line to the wire: a scripted model stands in for a real one.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests start processes and look at files")]

mod bounds;
mod chat;
mod examples;
mod loading;
mod running;
mod steps;
mod world;

use abide_testkit::model::{ModelServer, Request, ToolCall, Turn};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

/// A project with skills, and a model that says what it is told to say.
struct Project {
    folder: tempfile::TempDir,
    server: ModelServer,
}

impl Project {
    fn new(turns: Vec<Turn>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = Self { folder, server: ModelServer::start(turns).unwrap() };
        std::fs::create_dir_all(project.home()).unwrap();
        std::fs::create_dir_all(project.path().join(".git")).unwrap();
        project.write(".abide/config.yaml", "model: openai/scripted\n");
        project
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    fn home(&self) -> std::path::PathBuf {
        self.folder.path().join("home")
    }

    fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Writes a skill of the project.
    fn skill(&self, name: &str, more: &str, body: &str) -> &Self {
        let text = format!("---\nname: {name}\ndescription: About {name}\n{more}---\n{body}\n");
        self.write(&format!(".abide/skills/{name}/SKILL.md"), &text)
    }

    fn has(&self, path: &str) -> bool {
        self.path().join(path).exists()
    }

    fn abide(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command.args(arguments).current_dir(self.path()).env("HOME", self.home());
        command.env("ABIDE_USER", "ada").env("OPENAI_API_KEY", "sk-secret");
        command.env("OPENAI_BASE_URL", format!("{}/v1", self.server.url()));
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "ANTHROPIC_API_KEY", "NO_PROXY", "http_proxy"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn output(&self, arguments: &[&str]) -> Said {
        Said::of(self.abide(arguments).output().unwrap())
    }

    /// Types lines into a conversation.
    fn chat(&self, arguments: &[&str], lines: &str) -> Said {
        let mut child = self.abide(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        Said::of(child.wait_with_output().unwrap())
    }

    fn requests(&self) -> Vec<Arc<Request>> {
        self.server.turns()
    }
}

/// What a command said.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Said {
    fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Returns everything that a model was told, in one text.
fn told(request: &Request) -> String {
    let said = request.messages.iter().map(|message| {
        let results: Vec<String> = message.results.iter().map(|result| result.text.clone()).collect();
        format!("{} {}", message.text, results.join(" | "))
    });
    said.collect::<Vec<_>>().join("\n")
}

/// Returns the names of the tools that a model was offered.
fn tools(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.name.as_str()).collect()
}

fn run(skill: &str, args: &str) -> Turn {
    Turn::call(ToolCall::new(format!("skills__{skill}"), json!({ "args": args })))
}

fn read(path: &str) -> Turn {
    Turn::call(ToolCall::new("read", json!({ "path": path })))
}

fn exists(path: &Path) -> bool {
    path.exists()
}
