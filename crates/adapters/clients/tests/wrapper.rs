//! The command line that Codex starts, in a real shell: whatever abide does wrong, a tool is denied with a reason.
#![expect(clippy::disallowed_methods, reason = "these tests write programs and start them")]

use abide_clients::{Client, Places, Scope, Target, plan};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// Returns exit code and standard error of the hook of an event, with a program that does this.
fn hook(event: &str, body: Option<&str>) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("it's mine").join("abide");
    if let Some(body) = body {
        fs::create_dir(binary.parent().unwrap()).unwrap();
        fs::write(&binary, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let places = Places {
        root: folder.path().to_path_buf(),
        home: Some(folder.path().join("home")),
        config_home: None,
        state_home: None,
        claude_home: None,
        codex_home: None,
    };
    let target = Target {
        client: Client::Codex,
        scope: Scope::Project,
        binary: &binary,
        places: &places,
        server: None,
    };
    plan::install(target).unwrap().apply().unwrap();
    let hooks: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join(".codex/hooks.json")).unwrap()).unwrap();
    let command = hooks["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
    let output = Command::new("sh").args(["-c", command]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "Codex takes what it does not know for a yes");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_answer_is_passed_on() {
    assert_eq!(hook("PreToolUse", Some("exit 0")), (Some(0), String::new()));
    assert_eq!(hook("PreToolUse", Some("echo not now >&2; exit 2")), (Some(2), "not now\n".to_owned()));
}

#[test]
fn whatever_else_happens_denies_with_a_reason() {
    for event in ["PreToolUse", "PermissionRequest"] {
        let bodies = [
            "exit 1",
            "exit 101",
            "kill -9 $$",
            "exit 2",
            "printf '{\"half'",
            "echo ran; exit 0",
            "exit 124",
        ];
        for body in std::iter::once(None).chain(bodies.map(Some)) {
            let (code, reason) = hook(event, body);
            assert_eq!(code, Some(2), "{event} {body:?}: {reason}");
            assert!(reason.contains("abide: its hook failed (exit code "), "{event} {body:?}: {reason}");
        }
    }
}

#[test]
fn a_stop_is_not_held_by_a_program_that_is_gone() {
    assert_ne!(hook("Stop", None).0, Some(2));
}
