//! Files and folders that are not what their names say: a clear answer, never a crash or a hang.

use crate::support::{GOOD, Outcome, Project};
use std::fs;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs the binary, and fails when it has not ended in time.
fn within_seconds(project: &Project, arguments: &[&str]) -> Outcome {
    let mut child = project.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{arguments:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    Outcome { code: status.code(), out, err }
}

fn pipe(project: &Project, name: &str) {
    let path = project.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn pipes_in_the_place_of_files_do_not_hang() {
    let project = Project::new();
    project.write(".abide/abilities/good.yaml", GOOD);
    project.write(
        ".abide/abilities/asks.yaml",
        "description: x\nsteps: [{ id: a, agent: b, prompt: c }, { id: s, skill: d }]\n",
    );
    for name in [
        ".abide/abilities/pipe/ability.yaml",
        ".abide/abilities/other.yaml",
        ".abide/agents/b.md",
        ".claude/skills/d/SKILL.md",
        ".abide/config.yaml",
        "../config/abide/config.yaml",
        "direct.yaml",
    ] {
        pipe(&project, name);
    }
    for arguments in
        [&["list"][..], &["validate"], &["doctor"], &["show", "good"], &["validate", "direct.yaml"]]
    {
        let outcome = within_seconds(&project, arguments);
        assert!(outcome.code.is_some(), "{arguments:?}: {outcome:?}");
    }
    let outcome = within_seconds(&project, &["validate"]);
    assert!(
        outcome.out.contains(".abide/config.yaml") && outcome.out.contains("not a regular file"),
        "{outcome:?}"
    );
}

#[test]
fn folders_named_like_files_are_told_apart() {
    let project = Project::new();
    fs::create_dir_all(project.path(".abide/abilities/folder.yaml/ability.yaml")).unwrap();
    fs::create_dir_all(project.path(".abide/config.yaml")).unwrap();
    project.write(".abide/abilities/good.yaml", GOOD);
    assert_eq!(project.names(), ["good"]);
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.out.contains(".abide/config.yaml"), "{outcome:?}");
}

#[test]
fn a_file_in_the_place_of_a_folder_is_no_folder() {
    let project = Project::new();
    project.write(".abide/abilities", "not a folder").write(".opencode", "neither");
    let outcome = project.abide(&["list"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.err.contains("abide init"), "{outcome:?}");
}

#[test]
fn files_that_may_not_be_read_are_listed_as_broken() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    project.write(".abide/abilities/secret.yaml", GOOD);
    let path = project.path(".abide/abilities/secret.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&path).is_ok() {
        return; // root may read everything
    }
    let (name, status, _) = &project.listed()[0];
    assert_eq!((name.as_str(), status.as_str()), ("secret", "broken"));
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.out.contains("the file cannot be read"), "{outcome:?}");
}

#[test]
fn what_is_not_text_is_refused_with_its_reason() {
    let project = Project::new();
    let utf16: Vec<u8> = "\u{feff}steps:\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    project
        .write(".abide/abilities/wide/ability.yaml", utf16)
        .write(".abide/abilities/latin/ability.yaml", b"description: caf\xe9\nsteps: []\n")
        .write(".abide/abilities/nul/ability.yaml", "description: a\0b\nsteps: []\n");
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(1));
    for wanted in ["UTF-16", "not UTF-8", "NUL byte"] {
        assert!(outcome.out.contains(wanted), "{wanted}: {outcome:?}");
    }
    for arguments in [["validate", "--json"], ["list", "--json"]] {
        project.abide(&arguments).json();
    }
}

#[test]
fn a_folder_that_is_gone_is_named() {
    let project = Project::new();
    let gone = project.path("gone");
    fs::create_dir(&gone).unwrap();
    let script = format!("cd gone && rmdir ../gone && exec '{}' list", env!("CARGO_BIN_EXE_abide"));
    let output = Command::new("sh").args(["-c", &script]).current_dir(project.path("")).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(err.starts_with("error: cannot work in"), "{err}");
}
