//! That `doctor` proves the gate by a call, with what each client's files really start, and says in one line what is wrong.

use crate::support::{Project, finish};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

const CLIENTS: [(&str, &str); 3] = [
    ("claude", ".claude/settings.json"),
    ("opencode", ".opencode/plugins/abide.js"),
    ("codex", ".codex/hooks.json"),
];

fn real() -> String {
    Path::new(env!("CARGO_BIN_EXE_abide")).canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn installed(client: &str) -> Project {
    let project = Project::new();
    assert_eq!(project.abide(&["install", client, "--yes"]).code, Some(0));
    project
}

/// Returns what `doctor` says about a client, without what cannot be stopped there.
fn said(project: &Project, client: &str) -> Vec<(String, String)> {
    let outcome = finish(project.command(&["doctor", "--json"]).env("PATH", "/nowhere"));
    let document = outcome.json();
    let checks = document["checks"].as_array().unwrap().iter().filter(|check| check["check"] == client);
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let checks = checks.map(|check| (text(&check["result"]), text(&check["found"])));
    checks.filter(|(_, found)| !found.starts_with("cannot be stopped: ")).collect()
}

/// Lets a client start another program in the place of abide.
fn replace(project: &Project, file: &str, program: &str) {
    let path = project.path(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(&real()));
    fs::write(&path, text.replace(&real(), program)).unwrap();
}

fn program(project: &Project, body: &str, mode: u32) -> String {
    project.write("../bin/abide", format!("#!/bin/sh\n{body}\n"));
    let path = project.path("../bin/abide").canonicalize().unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_a_client_starts_is_proved_by_a_call() {
    for (client, file) in CLIENTS {
        let project = installed(client);
        assert!(said(&project, client)[0].1.contains("and denies a canary call"), "{client}");
        for (body, mode, why) in [
            (None, 0, "not found"),
            (Some("exit 0"), 0o644, "Permission denied"),
            (Some("echo boom >&2; exit 101"), 0o755, "boom"),
            (Some("kill -9 $$"), 0o755, ""),
            (Some("echo 'no tools today' >&2; exit 2"), 0o755, "no tools today"),
            (Some("echo '{}'"), 0o755, ""),
        ] {
            let project = installed(client);
            let path = body.map_or("/gone/abide".to_owned(), |body| program(&project, body, mode));
            replace(&project, file, &path);
            let said = said(&project, client);
            let (result, found) = said.last().unwrap();
            assert_eq!(result, "failed", "{client} {body:?}: {said:?}");
            let answers = ["abide does not answer in", "the gate does not hold in"];
            assert!(answers.iter().any(|start| found.starts_with(start)), "{client} {body:?}: {found}");
            assert!(found.contains(why) && !found.contains('\n'), "{client} {body:?}: {found}");
        }
    }
}

#[test]
fn a_program_that_lets_everything_through_is_told_from_one_that_denies() {
    for (client, file) in CLIENTS {
        let project = installed(client);
        let path = program(&project, "exit 0", 0o755);
        replace(&project, file, &path);
        let said = said(&project, client);
        let found = &said.last().unwrap().1;
        assert!(found.ends_with("a call that must be denied was let through"), "{client}: {found}");
        // One that denies the canary in our words and everything else too is of no use either.
        let path = program(&project, "echo \"this is a human's to call\" >&2; exit 2", 0o755);
        let text = fs::read_to_string(project.path(file)).unwrap();
        assert!(text.contains(&path));
        let said = self::said(&project, client);
        let found = &said.last().unwrap().1;
        assert!(found.starts_with("the gate denies harmless calls in"), "{client}: {found}");
    }
}

#[test]
fn a_plugin_of_another_version_is_told_in_one_line() {
    let project = installed("opencode");
    let path = project.path(".opencode/plugins/abide.js");
    let text = fs::read_to_string(&path).unwrap();
    let own = concat!("const VERSION = \"", env!("CARGO_PKG_VERSION"), "\";");
    assert!(text.contains(own));
    fs::write(&path, text.replace(own, "const VERSION = \"9.9.0\";")).unwrap();
    let said = said(&project, "opencode");
    let (result, found) = said.last().unwrap();
    assert_eq!(result, "failed");
    assert!(
        found.contains("the plugin is 9.9.0 and abide is") && found.contains("abide install opencode"),
        "{found}"
    );
}

#[test]
fn a_setting_that_switches_hooks_off_is_a_failure() {
    for file in [".claude/settings.local.json", "../home/.claude/settings.json"] {
        let project = installed("claude");
        project.write(file, "{ // for a while\n  \"disableAllHooks\": true }");
        let (result, found) = &said(&project, "claude")[0];
        assert_eq!(result, "failed", "{found}");
        assert!(found.contains("but `disableAllHooks` is true (in "), "{found}");
    }
    let project = installed("codex");
    let config = project.path("../home/.codex/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    let (result, found) = &said(&project, "codex")[0];
    assert_eq!(result, "note");
    assert!(found.contains("Codex is not told to trust this project"), "{found}");
    let trusted = format!(
        "{text}\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
        project.path("").display().to_string().trim_end_matches('/')
    );
    fs::write(&config, &trusted).unwrap();
    assert!(said(&project, "codex")[0].1.ends_with("has not asked here yet"));
    fs::write(&config, format!("{trusted}\n[features]\nhooks = false\n")).unwrap();
    let (result, found) = &said(&project, "codex")[0];
    assert_eq!(result, "failed");
    assert!(found.contains("the feature `hooks` is off"), "{found}");
}

#[test]
fn a_client_that_has_asked_is_told_from_one_that_has_not() {
    let project = installed("claude");
    let (result, found) = &said(&project, "claude")[0];
    assert_eq!(result, "note");
    assert!(found.ends_with("has not asked here yet"), "the canary itself is no session: {found}");
    let mut child =
        project.command(&["hook", "claude", "SessionStart"]).stdin(Stdio::piped()).spawn().unwrap();
    let question = serde_json::json!({ "session_id": "s", "cwd": project.path(""), "source": "startup" });
    child.stdin.take().unwrap().write_all(question.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let (result, found) = &said(&project, "claude")[0];
    assert_eq!(result, "ok", "{found}");
    assert!(found.contains("; it last asked here at "), "{found}");
}

#[test]
fn a_claude_code_that_cannot_be_closed_is_told() {
    for (version, old) in
        [("2.1.100 (Claude Code)", true), ("2.1.325 (Claude Code)", false), ("3.0.0", false)]
    {
        let project = installed("claude");
        project.write("../bin/claude", format!("#!/bin/sh\necho '{version}'\n"));
        let bin = project.path("../bin").canonicalize().unwrap();
        fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
        let outcome = finish(project.command(&["doctor"]).env("PATH", bin));
        assert_eq!(outcome.out.contains("lets tools through when abide fails"), old, "{}", outcome.out);
    }
}
