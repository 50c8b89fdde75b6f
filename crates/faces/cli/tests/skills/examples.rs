//! The skills of `examples/`: each is valid, and each runs with the model that the examples bring along.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { copy(&from, &to) } else { std::fs::copy(&from, &to).map(drop).unwrap() }
    }
}

/// Runs abide in a copy of the examples.
fn abide(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
    command.args(arguments).current_dir(folder.join("examples")).env("HOME", folder.join("home"));
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "ABIDE_MODEL", "http_proxy", "HTTP_PROXY"] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

#[test]
fn every_skill_of_the_examples_is_valid_and_those_with_a_script_run() {
    let folder = tempfile::tempdir().unwrap();
    copy(&examples(), &folder.path().join("examples"));
    std::fs::create_dir_all(folder.path().join("home")).unwrap();
    std::fs::create_dir_all(folder.path().join("examples/.git")).unwrap();
    let valid = abide(folder.path(), &["skill", "validate", "--deny-warnings"]);
    let text = String::from_utf8_lossy(&valid.stdout).into_owned();
    assert!(valid.status.success(), "{text}");
    for (script, name, argument, answer) in [
        ("mock/tldr.yaml", "tldr", "A cat sat on a mat.", "It is about a cat."),
        (
            "mock/explain-script.yaml",
            "explain-script",
            "deploy.sh",
            "It writes the version to build/deployed-ENVIRONMENT, and changes nothing else.",
        ),
    ] {
        let binary = env!("CARGO_BIN_EXE_abide");
        let run = ["model", "mock", script, "--", binary, "skill", "run", name, argument];
        let output = abide(folder.path(), &run);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{name}: {out}{err}");
        assert!(out.contains(answer), "{name}: {out}{err}");
    }
}
