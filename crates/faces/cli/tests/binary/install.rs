//! `abide install` and `uninstall`: into each client and out again, as a user types it, and what `doctor` says of it.

use crate::support::{Outcome, Project, finish};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// What a project has after an install, and in which file.
const CLIENTS: [(&str, &str); 3] = [
    ("claude", ".claude/settings.json"),
    ("opencode", ".opencode/plugins/abide.js"),
    ("codex", ".codex/hooks.json"),
];

fn abide(project: &Project, arguments: &[&str]) -> Outcome {
    // A PATH without clients, whatever the tester has.
    finish(project.command(arguments).env("PATH", "/nowhere"))
}

/// Returns result, text and help of what `doctor` says about a client.
fn doctor(project: &Project, client: &str) -> Vec<(String, String)> {
    let document = abide(project, &["doctor", "--json"]).json();
    let checks = document["checks"].as_array().unwrap().iter().filter(|check| check["check"] == client);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    checks.map(|check| (text(&check["result"]), text(&check["found"]))).collect()
}

#[test]
fn it_goes_in_and_comes_out_and_doctor_knows() {
    for (client, file) in CLIENTS {
        let project = Project::new();
        assert_eq!(doctor(&project, client), [], "a client that is not here is no matter");
        let outcome = abide(&project, &["install", client, "--yes"]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.out.contains(&format!("create {file}\n+ ")), "the change is shown: {outcome:?}");
        let text = fs::read_to_string(project.path(file)).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_abide")).canonicalize().unwrap();
        assert!(text.contains(program.to_str().unwrap()), "{text}");
        let found = doctor(&project, client);
        assert!(
            found[0].1.contains("abide is in") && found[0].1.contains("denies a canary call"),
            "{found:?}"
        );
        assert!(
            found[1..]
                .iter()
                .all(|(result, text)| result == "note" && text.starts_with("cannot be stopped: "))
        );
        assert!(found.len() > 3, "what cannot be stopped is said: {found:?}");
        let again = abide(&project, &["install", client]);
        assert_eq!((again.code, again.out.as_str()), (Some(0), ""), "{again:?}");
        assert!(again.err.starts_with("nothing to do: abide is in "), "{again:?}");
        let outcome = abide(&project, &["uninstall", client]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.out.contains(&format!("remove {file}\n- ")), "{outcome:?}");
        let left: Vec<_> =
            fs::read_dir(project.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [".git"], "nothing is left");
        let again = abide(&project, &["uninstall", client]);
        assert!(again.err.starts_with("nothing to do: abide is not in "), "{again:?}");
    }
}

#[test]
fn a_dry_run_shows_everything_and_writes_nothing() {
    for (client, file) in CLIENTS {
        let project = Project::new();
        let outcome = abide(&project, &["install", client, "--dry-run"]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.out.contains(&format!("create {file}\n")), "{outcome:?}");
        assert!(!project.path(file).exists());
        let document = project.json(&["install", client, "--dry-run"]);
        assert_eq!((&document["client"], &document["scope"]), (&client.into(), &"project".into()));
        assert!(document["changes"].as_array().unwrap().iter().all(|change| change["action"] == "create"));
    }
}

#[test]
fn the_users_own_files_are_used_with_user() {
    for (client, file) in [
        ("claude", "../home/.claude.json"),
        ("opencode", "../config/opencode/opencode.json"),
        ("codex", "../home/.codex/config.toml"),
    ] {
        let project = Project::new();
        assert_eq!(abide(&project, &["install", client, "--user", "--yes"]).code, Some(0));
        assert!(project.path(file).is_file(), "{file}");
        assert_eq!(fs::read_dir(project.path("")).unwrap().count(), 1, "the project is as it was");
        assert!(doctor(&project, client)[0].1.contains("for the user"));
        assert_eq!(abide(&project, &["uninstall", client, "--user"]).code, Some(0));
        assert!(!project.path(file).exists());
    }
}

#[test]
fn nobody_approves_hooks_for_a_person_who_was_not_asked() {
    let project = Project::new();
    let outcome = abide(&project, &["install", "codex"]);
    assert_eq!(outcome.code, Some(9), "{outcome:?}");
    assert!(outcome.err.contains("only when a person has approved them; nothing was written"), "{outcome:?}");
    assert!(!project.path(".codex").exists() && !project.path("../home/.codex").exists());
}

#[test]
fn tokens_of_the_user_are_not_printed() {
    let project = Project::new();
    project.write(".claude/settings.json", "{\n  \"env\": {\n    \"TOKEN\": \"s3cret\"\n  }\n}\n");
    for command in ["install", "uninstall"] {
        let outcome = abide(&project, &[command, "claude"]);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.out.contains("\"TOKEN\": …") && !outcome.out.contains("s3cret"), "{outcome:?}");
    }
}

#[test]
fn a_value_of_the_users_is_kept_and_said() {
    let project = Project::new();
    project.write(".claude/settings.json", "{ \"env\": { \"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"3\" } }\n");
    let outcome = abide(&project, &["install", "claude"]);
    assert!(outcome.err.contains("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"), "{outcome:?}");
    assert!(fs::read_to_string(project.path(".claude/settings.json")).unwrap().contains("\"3\""));
}

#[test]
fn a_file_that_does_not_parse_is_named_with_its_line_and_left() {
    let project = Project::new();
    project.write("opencode.json", "{\n  mcp: {}\n}\n");
    let outcome = abide(&project, &["install", "opencode"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(1), ""), "{outcome:?}");
    assert!(
        outcome.err.contains("opencode.json: line 2, column 3: expected a key in double quotes"),
        "{outcome:?}"
    );
    assert!(!project.path(".opencode").exists());
}

#[test]
fn doctor_tells_an_old_path_and_a_broken_file() {
    let project = Project::new();
    abide(&project, &["install", "claude"]);
    let path = project.path(".claude/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_abide")).canonicalize().unwrap();
    fs::write(&path, text.replace(program.to_str().unwrap(), "/gone/abide")).unwrap();
    let (result, found) = &doctor(&project, "claude")[0];
    assert_eq!(result, "failed");
    assert!(found.contains("it starts /gone/abide, which is not there"), "{found}");
    project.write("../bin/abide", "#!/bin/sh\necho abide 0.0.1\n");
    let old = project.path("../bin/abide").canonicalize().unwrap();
    fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(&path, text.replace(program.to_str().unwrap(), old.to_str().unwrap())).unwrap();
    let (_, found) = &doctor(&project, "claude")[0];
    assert!(found.ends_with("which is abide 0.0.1"), "{found}");
    fs::write(&path, "{").unwrap();
    let (result, found) = &doctor(&project, "claude")[0];
    assert!(result == "failed" && found.contains("cannot tell whether abide is in Claude Code"), "{found}");
}

#[test]
fn a_client_without_abide_is_a_note() {
    let project = Project::new();
    fs::create_dir(project.path("../home/.claude")).unwrap();
    let (result, found) = &doctor(&project, "claude")[0];
    assert_eq!(
        (result.as_str(), found.as_str()),
        ("note", "Claude Code is here (~/.claude), and abide is not in it")
    );
}

#[test]
fn a_server_is_written_kept_accepted_and_taken_out() {
    for (client, file) in
        [("claude", ".mcp.json"), ("opencode", "opencode.json"), ("codex", ".codex/config.toml")]
    {
        let project = Project::new();
        let url = "http://127.0.0.1:1";
        let words = ["install", client, "--yes", "--server", url, "--key-file", "key"];
        let outcome = abide(&project, &words);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let text = fs::read_to_string(project.path(file)).unwrap();
        let key = project.path("key");
        assert!(text.contains(url) && text.contains(key.to_str().unwrap()), "the whole path: {text}");
        let again = abide(&project, &words);
        assert!(again.err.starts_with("nothing to do: abide is in "), "{again:?}");
        assert!(!again.err.contains("note: "), "who names the server needs no word about it: {again:?}");
        // Neither a variable nor its absence changes what was written.
        for server in ["", "http://127.0.0.1:2"] {
            let again = finish(
                project.command(&["install", client]).env("PATH", "/nowhere").env("ABIDE_SERVER", server),
            );
            assert_eq!((again.code, again.out.as_str()), (Some(0), ""), "{again:?}");
            assert!(again.err.contains(&format!("abilities of the server {url}, and stays so")), "{again:?}");
        }
        let found = doctor(&project, client);
        assert!(found[0].1.contains("denies a canary call"), "{found:?}");
        assert_eq!(fs::read_to_string(project.path(file)).unwrap(), text);
        let refused = abide(&project, &["uninstall", client, "--server", url]);
        assert_eq!(refused.code, Some(2), "what is taken out is what is there: {refused:?}");
        assert_eq!(abide(&project, &["uninstall", client]).code, Some(0));
        let left: Vec<_> =
            fs::read_dir(project.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [".git"], "nothing is left");
    }
}

#[test]
fn what_is_no_server_is_not_written() {
    let project = Project::new();
    for words in
        [&["--server", "nowhere"][..], &["--server", "http://ada:secret@127.0.0.1:1"], &["--key-file", "key"]]
    {
        let words: Vec<&str> = ["install", "opencode"].into_iter().chain(words.iter().copied()).collect();
        for server in [None, Some("http://127.0.0.1:1")] {
            let mut command = project.command(&words);
            if let Some(server) = server {
                command.env("ABIDE_SERVER", server);
            }
            let refused = finish(&mut command);
            assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
            assert!(!project.path("opencode.json").exists());
        }
    }
}
