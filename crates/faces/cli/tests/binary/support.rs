//! A project in a folder of its own, with its own home, and the binary started inside it.

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// An ability without a problem.
pub(crate) const GOOD: &str = "description: Says hello\nsteps:\n  - id: hello\n    run: echo hello\n";
/// An ability with one error, at line 4, column 5.
pub(crate) const BAD: &str =
    "description: Has a typo\nsteps:\n  - id: hello\n    rum: echo hello\n    type: script\n";

/// Three folders that nothing else touches: the project, the user's home and the user's configuration.
pub(crate) struct Project {
    root: TempDir,
}

/// How the binary ended, and what it printed.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Project {
    /// Makes a project that is a repository.
    pub(crate) fn new() -> Self {
        let project = Self::outside_a_repository();
        fs::create_dir(project.path(".git")).unwrap();
        project
    }

    /// Makes a project that is no repository.
    pub(crate) fn outside_a_repository() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["project", "home", "config"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    /// Returns a path in the project.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        // Resolved, because that is how abide shows it.
        self.root.path().canonicalize().unwrap().join("project").join(name)
    }

    /// Writes a file of the project; `../home/…` and `../config/…` are the user's.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Returns the binary, ready to be started in the project with nothing of the tester's environment.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command
            .args(arguments)
            .current_dir(self.path(""))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("../home").canonicalize().unwrap())
            .env("XDG_CONFIG_HOME", self.path("../config").canonicalize().unwrap())
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn abide<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Outcome {
        finish(&mut self.command(arguments))
    }

    /// Runs the binary, which must succeed and say nothing, and returns its document.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let outcome = self.abide(&[arguments, &["--json"]].concat());
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{outcome:?}");
        outcome.json()
    }

    /// Returns name, status and file of every ability that is listed.
    pub(crate) fn listed(&self) -> Vec<(String, String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = self.json(&["list"]);
        let abilities = list["abilities"].as_array().unwrap();
        abilities
            .iter()
            .map(|entry| (text(&entry["name"]), text(&entry["status"]), text(&entry["file"])))
            .collect()
    }

    /// Returns the names of the abilities that are listed.
    pub(crate) fn names(&self) -> Vec<String> {
        self.listed().into_iter().map(|(name, ..)| name).collect()
    }

    /// Validates everything, which must find problems, and returns them all.
    pub(crate) fn problems(&self) -> Vec<Value> {
        let outcome = self.abide(&["validate", "--json"]);
        let document = outcome.json();
        let problems = |file: &Value| file["problems"].as_array().cloned().unwrap_or_default();
        document["files"].as_array().unwrap().iter().flat_map(problems).collect()
    }
}

impl Outcome {
    /// Returns standard output as one JSON document.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command) -> Outcome {
    let output = command.output().unwrap();
    Outcome {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
