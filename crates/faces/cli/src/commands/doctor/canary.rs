//! Whether the gate holds in a client: its own hook is started as it would, with a call that must be denied.
//!
//! What the client does with the answer is the client's: that is seen by starting it (see [`live`](super::live)). Here no model is needed.

use crate::runs;
use crate::session::Session;
use abide_clients::canary::{BeforeTool, Start};
use abide_clients::{Client, Target};
use abide_engine::port::{Ending, Line, Process as _, Signal, Spec, Stream, Variable};
use abide_process::LocalProcess;
use abide_runners::NOT_INHERITED;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// How long a program may take that answers at once, in milliseconds; a hook ends itself before.
pub(super) const PATIENCE: u64 = 15_000;
/// How much of what it writes is read.
const MOST: usize = 4_096;

/// What a program did.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) talk: String,
}

impl Ended {
    /// Returns the first line that says something.
    pub(super) fn first_line(&self) -> String {
        let line = self.talk.lines().chain(self.out.lines()).find(|line| !line.trim().is_empty());
        let code = || {
            self.code
                .map_or_else(|| "it did not end by itself".to_owned(), |code| format!("exit code {code}"))
        };
        line.map_or_else(code, |line| line.trim().chars().take(200).collect())
    }
}

/// Proves that the hook of a client denies what it must and allows what it may; returns what is wrong, in one line.
pub(super) fn prove(session: &Session<'_>, target: &Target<'_>, hook: &BeforeTool) -> Result<(), String> {
    let client = target.client;
    let (shell, read) = match client {
        Client::Claude | Client::Codex => ("Bash", "Read"),
        Client::OpenCode => ("bash", "read"),
    };
    // No agent may answer for a human: that holds in every project, with and without a run.
    let forbidden = json!({ "command": "abide approve canary" });
    let denied = ask(session, target, hook, &question(target, hook, shell, &forbidden))?;
    if denied.code == Some(0) {
        return Err(format!(
            "the gate does not hold in {}: a call that must be denied was let through",
            client.name()
        ));
    }
    if denied.code != Some(2) || !denied.talk.contains(EXPECTED) {
        return Err(format!("abide does not answer in {}: {}", client.name(), denied.first_line()));
    }
    let harmless = json!({ "file_path": target.places.root.join("README.md") });
    let allowed = ask(session, target, hook, &question(target, hook, read, &harmless))?;
    if allowed.code != Some(0) || !allowed.out.is_empty() {
        return Err(format!("the gate denies harmless calls in {}: {}", client.name(), allowed.first_line()));
    }
    Ok(())
}

/// What the denial of the canary says.
pub(super) const EXPECTED: &str = "is a human's to call";

fn question(target: &Target<'_>, hook: &BeforeTool, tool: &str, arguments: &Value) -> String {
    let mut question = json!({
        "session_id": "abide-doctor",
        "cwd": target.places.root,
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": arguments,
    });
    if let Some(version) = &hook.plugin {
        question["plugin_version"] = version.as_str().into();
    }
    question.to_string()
}

/// Starts the hook as the client would, with a question on its standard input.
fn ask(
    session: &Session<'_>,
    target: &Target<'_>,
    hook: &BeforeTool,
    question: &str,
) -> Result<Ended, String> {
    let mut arguments = vec!["-c".to_owned()];
    match &hook.start {
        Start::Program(words) => {
            arguments.extend(["printf %s \"$ABIDE_CANARY\" | \"$@\"", "sh"].map(str::to_owned));
            arguments.extend(words.iter().cloned());
        }
        Start::Shell(line) => {
            arguments
                .extend(["printf %s \"$ABIDE_CANARY\" | /bin/sh -c \"$1\"", "sh", line].map(str::to_owned));
        }
    }
    let variable =
        |name: &str, value: &str| Variable { name: name.to_owned(), value: value.to_owned(), secret: false };
    let mut variables = vec![variable("ABIDE_CANARY", question)];
    if let (Client::Claude, Some(root)) = (target.client, target.places.root.to_str()) {
        variables.push(variable("CLAUDE_PROJECT_DIR", root));
    }
    run(session, "/bin/sh", arguments, &target.places.root, variables, PATIENCE)
        .ok_or_else(|| format!("the hook of {} could not be started", target.client.name()))
}

/// Runs a program to its end, within bounds.
pub(super) fn run(
    session: &Session<'_>,
    program: &str,
    arguments: Vec<String>,
    folder: &Path,
    variables: Vec<Variable>,
    longest: u64,
) -> Option<Ended> {
    let written = Arc::new(Mutex::new((Vec::new(), Vec::new())));
    let sink = |line: Line| {
        let written = Arc::clone(&written);
        async move {
            let mut written = written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let kept = if line.stream == Stream::Stdout { &mut written.0 } else { &mut written.1 };
            if kept.len() < MOST {
                kept.extend(line.bytes);
            }
        }
    };
    let spec = Spec {
        program: program.to_owned(),
        arguments,
        folder: if folder.is_dir() { folder.to_path_buf() } else { session.place.start.clone() },
        variables,
        without: NOT_INHERITED.map(str::to_owned).to_vec(),
        longest: Some(longest),
        mark: format!("doctor-{}", std::process::id()),
    };
    let process = LocalProcess::new();
    let ending = runs::block_on(process.run(spec, std::future::pending::<Signal>, sink)).ok()?.ok()?;
    let written = written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let code = match ending {
        Ending::Exited(code) => Some(code),
        _ => None,
    };
    Some(Ended { code, out: text(&written.0), talk: text(&written.1) })
}
