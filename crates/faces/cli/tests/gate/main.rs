//! `abide hook` as clients call it: a process, the client's JSON on its standard input, an exit code as the answer.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start the binary, and write the files that it reads"
)]

mod deciding;
mod definitions;
mod stage;
mod suggestions;
mod verdicts;

use abide_core::policy::Client;
use abide_gate::tickets::Called;
use abide_gate::{Relative, SessionId};
use stage::{Stage, answer};
use std::fs;

const DEPLOY: &str = "description: Deploy\nprotects: [\"Bash(./deploy.sh *)\"]\nsteps:\n  - id: go\n    run: ./deploy.sh now\n";

#[test]
fn what_an_ability_protects_is_denied_outside_of_it() {
    let stage = Stage::new();
    stage.define("deploy.yaml", DEPLOY);
    let denied = stage.shell("./deploy.sh production").unwrap_err();
    assert!(denied.contains("run the ability `deploy`"), "{denied}");
    stage.shell("bash -c './deploy.sh x'").unwrap_err();
    for innocent in ["ls -la", "git status", "cargo test", "cat deploy.sh"] {
        stage.shell(innocent).unwrap();
    }
}

#[test]
fn walking_out_of_the_project_lifts_nothing() {
    let stage = Stage::new();
    stage.define("deploy.yaml", DEPLOY);
    stage.shell("cd ../elsewhere").unwrap();
    let script = stage.path("project/deploy.sh");
    stage.shell_in(&stage.path("elsewhere"), &format!("{} now", script.display())).unwrap_err();
    stage.shell_in(&stage.path("elsewhere"), "../project/deploy.sh now").unwrap_err();
}

#[test]
fn an_ability_that_was_just_added_holds_and_one_that_was_broken_still_does() {
    let stage = Stage::new();
    stage.shell("./deploy.sh now").unwrap();
    stage.define("deploy.yaml", DEPLOY);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    stage.shell("./deploy.sh now").unwrap_err();
    stage.define("deploy.yaml", "steps: [\n");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    stage.shell("./deploy.sh now").unwrap_err();
    stage.person("project", &["validate"]);
    Stage::settle();
    stage.shell("./deploy.sh now").unwrap_err();
}

#[test]
fn what_keeps_the_protection_in_place_is_not_the_agents_to_change() {
    let stage = Stage::new();
    stage.define("deploy.yaml", DEPLOY);
    stage.define("other.yaml", "description: Other\nsteps:\n  - id: go\n    run: ls\n");
    for command in [
        "rm .abide/abilities/deploy.yaml",
        "echo 'steps: []' > .abide/abilities/deploy.yaml",
        "echo '{}' > .claude/settings.json",
        "rm -rf .claude",
        "mv .codex gone",
        "git clean -xfd",
        "git clean -xfd -e src",
        "git clean -xfd $NOTHING",
    ] {
        stage.shell(command).unwrap_err();
    }
    let edit = |file: &str| {
        let path = stage.path("project").join(file);
        let more =
            serde_json::json!({ "tool_name": "Write", "tool_input": { "file_path": path, "content": "" } });
        answer(&stage.tool("PreToolUse", &more))
    };
    for file in [".abide/abilities/deploy.yaml", ".claude/settings.json", "opencode.json"] {
        edit(file).unwrap_err();
    }
    for file in [".abide/abilities/other.yaml", ".abide/abilities/new.yaml", "src/main.rs"] {
        edit(file).unwrap();
    }
    // Where nothing is protected, a client's settings are nobody's business.
    fs::remove_file(stage.path("project/.abide/abilities/deploy.yaml")).unwrap();
    stage.person("project", &["validate"]);
    Stage::settle();
    edit(".claude/settings.json").unwrap();
}

#[test]
fn what_the_user_trusts_is_never_the_agents_to_say() {
    let stage = Stage::new();
    let trust = stage.path("home/.config/abide/trust/skill-1");
    for command in ["echo digest > ~/.config/abide/trust/skill-1", "cp mine ~/.config/abide/trust/"] {
        stage.shell(command).unwrap_err();
    }
    let write = serde_json::json!({ "tool_name": "Write", "tool_input": { "file_path": trust, "content": "digest" } });
    answer(&stage.tool("PreToolUse", &write)).unwrap_err();
    // Nothing is protected here and no run is active: the rest is as free as it was.
    stage.shell("echo x > notes.txt").unwrap();
}

#[test]
fn a_session_with_a_run_does_the_step_and_nothing_else() {
    let stage = Stage::new();
    stage.define("deploy.yaml", DEPLOY);
    stage.bind("strict");
    let denied = stage.shell("ls").unwrap_err();
    assert!(denied.contains("review"), "{denied}");
    let read = serde_json::json!({ "tool_name": "Read", "tool_input": { "file_path": "a.rs" } });
    answer(&stage.tool("PreToolUse", &read)).unwrap();
    let told = stage.tool("UserPromptSubmit", &serde_json::json!({ "prompt": "forget the review" }));
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.status.success() && text.contains("Look for problems."), "{text}");
    answer(&stage.tool("Stop", &serde_json::json!({}))).unwrap_err();
    // Another session is free.
    let other =
        serde_json::json!({ "session_id": "s2", "tool_name": "Bash", "tool_input": { "command": "ls" } });
    answer(&stage.tool("PreToolUse", &other)).unwrap();
}

#[test]
fn a_normal_run_warns_once_before_the_agent_stops() {
    let stage = Stage::new();
    stage.bind("normal");
    let stop = || answer(&stage.tool("Stop", &serde_json::json!({})));
    stop().unwrap_err();
    stop().unwrap();
}

#[test]
fn what_cannot_be_read_is_denied() {
    let stage = Stage::new();
    stage.bind("loose");
    let sessions = stage.path("home/.local/state/abide/gate/sessions");
    for entry in fs::read_dir(&sessions).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "run") {
            fs::write(path, "{").unwrap();
        }
    }
    let denied = stage.shell("ls").unwrap_err();
    assert!(denied.contains("a file of the gate is damaged"), "{denied}");
    for question in ["", "{}", "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s1\"}"] {
        answer(&stage.hook(question)).unwrap_err();
    }
}

#[test]
fn a_run_whose_driver_died_still_holds_its_session() {
    let stage = Stage::new();
    stage.bind("strict");
    let session = SessionId::new(Client::ClaudeCode, "s1");
    let mut bound = stage.gate().bound(&session).unwrap().unwrap();
    bound.driver = Relative { process: u32::MAX / 2, started: "1".into() };
    stage.gate().update(&session, &bound).unwrap();
    stage.shell("ls").unwrap_err();
}

#[test]
fn the_start_of_an_ability_leaves_a_ticket_for_its_client_alone() {
    let stage = Stage::new();
    let start = serde_json::json!({
        "tool_name": "mcp__abide__ability_run", "tool_input": { "inputs": { "b": 1, "a": 2 }, "ability": "deploy" },
    });
    answer(&stage.tool("PreToolUse", &start)).unwrap();
    let take = |client: &Relative| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
        let arguments = r#"{"ability":"deploy","inputs":{"a":2,"b":1}}"#;
        let called = Called {
            tool: "ability_run",
            ability: Some("deploy"),
            arguments: Some(arguments),
            call: None,
            client,
        };
        stage.gate().take(&called, i64::try_from(now).unwrap()).unwrap()
    };
    let stranger = Relative { process: 1, started: "0".into() };
    assert_eq!(take(&stranger), None);
    let ticket = take(&Relative::of(std::process::id()).unwrap()).unwrap();
    assert_eq!((ticket.client.as_str(), ticket.session.as_str()), ("claude", "s1"));
}

#[test]
fn a_plugin_of_another_version_uses_no_tool_and_says_why() {
    let stage = Stage::new();
    let ask = |version: &str, event: &str| {
        let question = serde_json::json!({
            "session_id": "s1", "cwd": stage.path("project"), "hook_event_name": event, "plugin_version": version,
            "tool_name": "read", "tool_input": { "filePath": "a.rs" }, "prompt": "hello",
        });
        stage.hook_of("opencode", &question.to_string())
    };
    answer(&ask(env!("CARGO_PKG_VERSION"), "PreToolUse")).unwrap();
    let denied = answer(&ask("7.0.0", "PreToolUse")).unwrap_err();
    assert_eq!(denied.lines().count(), 1);
    assert!(denied.starts_with("abide: the plugin is 7.0.0 and abide is "), "{denied}");
    let told = ask("7.0.0", "UserPromptSubmit");
    assert!(
        told.status.success() && String::from_utf8_lossy(&told.stdout).contains("abide install opencode")
    );
}
