//! A temporary project, and the binary in it.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A project with abilities.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// Makes a project with abilities by name.
    pub(crate) fn new(abilities: &[(&str, &str)]) -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        for (name, text) in abilities {
            project.write(&format!(".abide/abilities/{name}.yaml"), text);
        }
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("ABIDE_USER", "ada")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command line to its end.
    pub(crate) fn abide(&self, arguments: &[&str]) -> Said {
        Said::of(self.command(arguments).output().unwrap())
    }

    /// Starts a command line, and leaves it running.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits until the newest run has this status, and returns its id.
    pub(crate) fn wait_for(&self, status: &str) -> String {
        for _ in 0..600 {
            let said = self.abide(&["runs", "--json"]);
            let runs: Value = serde_json::from_str(&said.out).unwrap_or_default();
            if runs["runs"][0]["status"] == status {
                return runs["runs"][0]["run"].as_str().unwrap().to_owned();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("no run is {status}: {}", self.abide(&["runs"]).out);
    }
}

/// What a command line said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) talk: String,
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            talk: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.talk);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(
            self.out.contains(text) || self.talk.contains(text),
            "{text}\nis not in\n{}\n{}",
            self.out,
            self.talk
        );
        self
    }
}

pub(crate) const APPROVAL: &str = "description: Asks
steps:
  - id: approve
    type: approval
    prompt: Go on?
  - id: go
    needs: [approve]
    run: echo gone >> gone.txt
";
