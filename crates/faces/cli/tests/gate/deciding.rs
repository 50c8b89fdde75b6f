//! Only a human decides, whatever the command is called and however an agent starts it.

use crate::stage::Stage;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const ASK: &str = "description: Asks\nsteps:\n  - { id: approve, type: approval, prompt: Go on? }\n  - { id: go, needs: [approve], run: echo gone > gone }\n";

/// Runs a program with variables below this process, which is the client as soon as it has called a hook.
fn below(stage: &Stage, program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(program)
        .args(arguments)
        .env_clear()
        .env("HOME", stage.path("home"))
        .env("PATH", "/usr/bin:/bin")
        .envs(variables.iter().copied())
        .current_dir(stage.path("project"))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn abide(stage: &Stage, arguments: &[&str]) -> Output {
    below(stage, Path::new(env!("CARGO_BIN_EXE_abide")), arguments, &[])
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn no_descendant_of_a_client_decides_by_whatever_name() {
    let stage = Stage::new();
    stage.define("ask.yaml", ASK);
    // It waits for a human, and is left.
    let run = abide(&stage, &["run", "ask", "--detach"]);
    assert!(run.status.success(), "{}", talk(&run));
    let copy = stage.path("elsewhere/bb");
    fs::copy(env!("CARGO_BIN_EXE_abide"), &copy).unwrap();
    stage.shell("ls").unwrap();
    for command in [
        &["approve"][..],
        &["reject"],
        &["cancel"],
        &["resume", "--rerun"],
        &["resume", "--fail"],
        &["key", "create", "me"],
        &["skill", "trust", "x"],
        &["skill", "lock"],
        &["capability", "trust", "x"],
        &["--server", "http://127.0.0.1:9", "approve"],
    ] {
        for program in [Path::new(env!("CARGO_BIN_EXE_abide")), &copy] {
            let output = below(&stage, program, command, &[]);
            let said = talk(&output);
            assert!(!output.status.success(), "{command:?}");
            assert!(said.contains("this process was started by claude (process"), "{command:?}: {said}");
            assert!(said.contains("a human types it in a terminal that no agent started"), "{said}");
        }
    }
    for shell in
        ["eval \"$(echo $BB approve)\"", "echo $BB approve | sh", "(sleep 0.1; $BB approve) & wait $!"]
    {
        let output = below(&stage, Path::new("/bin/sh"), &["-c", shell], &[("BB", copy.to_str().unwrap())]);
        assert!(talk(&output).contains("this process was started by claude"), "{shell}");
    }
    // Whoever only looks is answered.
    let status = abide(&stage, &["runs"]);
    assert!(status.status.success(), "{}", talk(&status));
    assert!(!stage.path("project/gone").exists());
}

#[test]
fn what_lost_its_ancestors_is_known_by_its_variables() {
    let stage = Stage::new();
    stage.define("ask.yaml", ASK);
    assert!(abide(&stage, &["run", "ask", "--detach"]).status.success());
    // Whoever is too quick is told that nothing is asked yet.
    let began = std::time::Instant::now();
    while !String::from_utf8_lossy(&abide(&stage, &["status"]).stdout).contains("waiting") {
        assert!(began.elapsed() < std::time::Duration::from_secs(30), "it never asks");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    for mark in ["CLAUDECODE", "OPENCODE", "CODEX_THREAD_ID", "CODEX_SANDBOX", "ABIDE_MARK", "ABIDE_SEAT"] {
        let output = below(&stage, Path::new(env!("CARGO_BIN_EXE_abide")), &["approve"], &[(mark, "1")]);
        assert!(talk(&output).contains(&format!("({mark} is set)")), "{}", talk(&output));
    }
    // Nobody is above this process yet, and it has no mark: it is a human's.
    let output = abide(&stage, &["approve"]);
    assert!(output.status.success(), "{}", talk(&output));
}
