//! A project, a user's home, and the binary asked as a client asks it.

use abide_core::policy::Client;
use abide_gate::sessions::{Bound, BoundStep};
use abide_gate::{Gate, Relative, SessionId};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A project and a user's home, both empty at first.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["home", "project/.git", "project/.abide/abilities", "elsewhere"] {
            fs::create_dir_all(stage.folder.path().join(folder)).unwrap();
        }
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn define(&self, name: &str, text: &str) {
        fs::write(self.path("project/.abide/abilities").join(name), text).unwrap();
    }

    pub(crate) fn gate(&self) -> Gate {
        Gate::at(self.path("home/.local/state/abide/gate"))
    }

    pub(crate) fn hook(&self, input: &str) -> Output {
        self.hook_of("claude", input)
    }

    pub(crate) fn hook_of(&self, client: &str, input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_abide"))
            .args(["hook", client])
            .env_clear()
            .env("HOME", self.path("home"))
            .current_dir(self.path("project"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Does what a person does in a terminal, in a folder; returns the exit code and everything that was said.
    pub(crate) fn person(&self, folder: &str, arguments: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command.args(arguments).env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin");
        abide_testkit::as_a_person(command.current_dir(self.path(folder))).unwrap()
    }

    /// Waits until hooks look again whether definitions have changed.
    pub(crate) fn settle() {
        std::thread::sleep(std::time::Duration::from_millis(1_100));
    }

    /// Asks about a shell command in a folder; returns the reason of a denial.
    pub(crate) fn shell_in(&self, folder: &Path, command: &str) -> Result<(), String> {
        let question = serde_json::json!({
            "session_id": "s1", "cwd": folder, "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": { "command": command },
        });
        answer(&self.hook(&question.to_string()))
    }

    pub(crate) fn shell(&self, command: &str) -> Result<(), String> {
        self.shell_in(&self.path("project"), command)
    }

    pub(crate) fn tool(&self, event: &str, more: &serde_json::Value) -> Output {
        let mut question = serde_json::json!({
            "session_id": "s1", "cwd": self.path("project"), "hook_event_name": event,
        });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.hook(&question.to_string())
    }

    /// Binds the session to a run at an agent's step, driven by this test.
    pub(crate) fn bind(&self, level: &str) {
        self.bind_to("r1", level);
    }

    /// The same for a run that is in a log.
    pub(crate) fn bind_to(&self, run: &str, level: &str) {
        let step = BoundStep {
            id: "review".into(),
            step_type: "agent".into(),
            tools: Some(vec!["Read".into()]),
            task: "Look for problems.".into(),
            waits_for_human: false,
        };
        let bound = Bound {
            run: run.into(),
            ability: "deploy".into(),
            level: level.into(),
            step: Some(step),
            done: 1,
            total: 3,
            root: self.path("project"),
            log: self.path("project/.abide/state/log.db"),
            driver: Relative::of(std::process::id()).unwrap(),
            sub_agent: None,
            guarded: Vec::new(),
        };
        self.gate().bind(&SessionId::new(Client::ClaudeCode, "s1"), &bound).unwrap();
    }
}

/// Returns the reason of a denial.
pub(crate) fn answer(output: &Output) -> Result<(), String> {
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => {
            assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), talk.as_str()), ("", ""));
            Ok(())
        }
        Some(2) => {
            assert!(!talk.trim().is_empty(), "a denial without a reason is none");
            Err(talk)
        }
        code => panic!("{code:?}: {talk}"),
    }
}
