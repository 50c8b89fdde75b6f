//! Which ability a user's message suggests, in the hook of the prompt and in `abide detect`.

use crate::stage::Stage;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

const TRIGGERED: &str = "description: Deploy a version\ntriggers:\n  keywords: [deploy, ship it]\n  patterns: ['release.*prod']\nsteps:\n  - id: go\n    run: ls\n";

impl Stage {
    /// Sends a prompt of a session, and returns what the model is told.
    fn prompt(&self, client: &str, session: &str, text: &str) -> Option<String> {
        let more = serde_json::json!({ "session_id": session, "prompt": text });
        self.prompted(client, &more)
    }

    fn prompted(&self, client: &str, more: &serde_json::Value) -> Option<String> {
        let mut question =
            serde_json::json!({ "cwd": self.path("project"), "hook_event_name": "UserPromptSubmit" });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let output = self.hook_of(client, &question.to_string());
        let (out, talk) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && talk.is_empty(), "{out}{talk}");
        if out.is_empty() {
            return None;
        }
        let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
        Some(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned())
    }

    fn configure(&self, text: &str) {
        fs::write(self.path("project/.abide/config.yaml"), text).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1_100));
    }
}

#[test]
fn a_prompt_suggests_the_ability_that_it_asks_for_in_every_client() {
    let stage = Stage::new();
    stage.define("deploy.yaml", TRIGGERED);
    for client in ["claude", "opencode", "codex"] {
        let told = stage.prompt(client, "s1", "Please ship it.").unwrap();
        for part in ["`deploy`", "the message says `ship it`", "ability_run", "Deploy a version"] {
            assert!(told.contains(part), "{client} {part}: {told}");
        }
        assert_eq!(stage.prompt(client, "s1", "Please ship it!"), None, "not again within ten seconds");
        assert!(stage.prompt(client, "s2", "release to prod").is_some(), "another session is told");
    }
}

#[test]
fn a_prompt_that_only_mentions_a_word_is_left_alone() {
    let stage = Stage::new();
    stage.define("deploy.yaml", TRIGGERED);
    for text in [
        "what does deploy do?",
        "don't deploy yet, fix the tests",
        "the deploy failed last night",
        "rename `deploy` to `ship`",
        "fix deploy.sh and the deployment guide",
        "<task-notification>deploy</task-notification>",
    ] {
        assert_eq!(stage.prompt("claude", "s1", text), None, "{text}");
    }
    let child = serde_json::json!({ "session_id": "s1", "agent_id": "a1", "prompt": "deploy" });
    assert_eq!(stage.prompted("opencode", &child), None, "a user does not write to a sub-agent");
    assert!(stage.prompt("claude", "s1", "deploy").is_some(), "none of these has used it up");
}

#[test]
fn a_suggestion_follows_the_settings_and_the_agents_rights() {
    let stage = Stage::new();
    stage.define("deploy.yaml", &format!("{TRIGGERED}compatible_agents: [deployer]\n"));
    stage.define("broken.yaml", "triggers: { keywords: [deploy] }\nsteps:\n  - id: go\n    rnu: ls\n");
    assert_eq!(stage.prompt("claude", "s1", "deploy"), None, "another agent's, and a broken one");
    let deployer = |session: &str| {
        let more = serde_json::json!({ "session_id": session, "agent_type": "deployer", "prompt": "deploy" });
        stage.prompted("opencode", &more)
    };
    assert!(deployer("s1").unwrap().contains("looks like the ability `deploy`"));
    stage.configure("abilities: { auto_trigger: true }\n");
    assert!(deployer("s2").unwrap().contains("Start it now"));
    stage.configure("abilities: { enabled: false }\n");
    assert_eq!(deployer("s3"), None);
}

#[test]
fn nothing_is_suggested_while_a_run_is_active() {
    let stage = Stage::new();
    stage.define("deploy.yaml", TRIGGERED);
    stage.bind("loose");
    let told = stage.prompt("claude", "s1", "deploy").unwrap();
    assert!(told.contains("Current step: `review`") && !told.contains("ability_run"), "{told}");
}

#[test]
fn detect_shows_what_a_message_would_do_and_why() {
    let stage = Stage::new();
    stage.define("deploy.yaml", TRIGGERED);
    stage.define("wipe.yaml", "description: Wipe\ntriggers: { keywords: [ship] }\nexclusive_agent: root\nsteps:\n  - id: go\n    run: ls\n");
    let detect = |words: &[&str], input: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_abide"))
            .arg("detect")
            .args(words)
            .env_clear()
            .env("HOME", stage.path("home"))
            .current_dir(stage.path("project"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        detect(&["ship", "it"], ""),
        "deploy  is suggested; the message says `ship it` (score 207)\n\
         wipe  is not suggested: the agent `default` may not run it; the message says `ship` (score 104)\n\
         \nthe agent is told:\n\
         \u{20} abide: this looks like the ability `deploy` (the message says `ship it`). Deploy a version\n\
         \u{20} If that is what the user wants, start it with `ability_run` (ability: `deploy`) instead of doing its steps by yourself. If the user only mentions it, go on as you would.\n"
    );
    let passed = detect(&["-"], "how does the deploy work?\n");
    assert_eq!(
        passed,
        "deploy  is not suggested: the message says `deploy`, but the sentence asks about it\n"
    );
    assert_eq!(detect(&["hello"], ""), "nothing in the message suggests an ability\n");
    let json: serde_json::Value =
        serde_json::from_str(&detect(&["-", "--json", "--agent", "root"], "ship it to the release in prod"))
            .unwrap();
    assert_eq!((&json["outcome"], &json["ability"]), (&"suggest".into(), &"deploy".into()));
    assert_eq!(json["matches"][0]["trigger"]["pattern"], "release.*prod");
    assert_eq!(json["matches"][1]["may_run"], true);
}
