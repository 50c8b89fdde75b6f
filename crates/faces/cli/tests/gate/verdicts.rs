//! That what the gate denied is in the log of the run, once, and where a user looks.

use crate::stage::{Stage, answer};
use std::fs;
use std::process::{Command, Stdio};

const NAMED: &str = "description: Deploy\nsteps:\n  - id: go\n    run: echo done\n";

impl Stage {
    fn abide(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command
            .args(words)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.path("project"))
            .stdin(Stdio::null());
        command
    }

    fn printed(&self, words: &[&str]) -> String {
        let output = self.abide(words).output().unwrap();
        let (out, talk) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{words:?}: {out}{talk}");
        out.into_owned()
    }

    /// Runs an ability, and binds the session to that run as if it went on.
    fn run_and_bind(&self, level: &str) -> String {
        self.define("deploy.yaml", NAMED);
        self.printed(&["run", "deploy"]);
        let runs: serde_json::Value = serde_json::from_str(&self.printed(&["runs", "--json"])).unwrap();
        let run = runs["runs"][0]["run"].as_str().unwrap().to_owned();
        self.bind_to(&run, level);
        run
    }

    fn verdicts_of(&self, run: &str) -> Vec<serde_json::Value> {
        let log = self.printed(&["audit", "show", run, "--json"]);
        let events = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        events.filter(|event| event["type"].as_str().unwrap().starts_with("verdict.")).collect()
    }
}

#[test]
fn what_is_denied_in_a_run_is_in_its_log_once_and_in_its_status() {
    let stage = Stage::new();
    let run = stage.run_and_bind("strict");
    stage.shell("./deploy.sh --token hunter2").unwrap_err();
    let child = serde_json::json!({
        "agent_id": "a1", "tool_name": "Write", "tool_input": { "file_path": "/etc/x", "content": "hunter2" },
    });
    answer(&stage.tool("PreToolUse", &child)).unwrap_err();
    answer(&stage.tool("Stop", &serde_json::json!({}))).unwrap_err();
    let read = serde_json::json!({ "tool_name": "Read", "tool_input": { "file_path": "a.rs" } });
    answer(&stage.tool("PreToolUse", &read)).unwrap();

    let status = stage.printed(&["status"]);
    assert!(status.contains("gate     3 denied; `abide audit show"), "{status}");
    for _ in 0..2 {
        let given = stage.verdicts_of(&run);
        assert_eq!(given.len(), 3, "each is there once, however often somebody looks");
        let data = |number: usize, key: &str| given[number]["data"][key].as_str().unwrap_or_default();
        assert_eq!((data(0, "answer"), data(0, "tool"), data(0, "kind")), ("denied", "Bash", "execute"));
        assert_eq!((data(0, "what"), data(0, "session"), data(0, "client")), ("./deploy.sh", "s1", "claude"));
        assert!(data(0, "why").contains("not part of step `review`"), "{}", data(0, "why"));
        assert_eq!((data(1, "tool"), data(1, "what"), data(1, "sub_agent")), ("Write", "/etc/x", "a1"));
        assert_eq!(data(2, "tool"), "stop");
    }
    let shown = stage.printed(&["audit", "show", &run]);
    assert!(
        shown.contains("verdict.given         denied `Bash` (./deploy.sh): `Bash` is not part of step"),
        "{shown}"
    );
    assert!(
        !stage.printed(&["audit", "show", &run, "--json"]).contains("hunter2"),
        "no secret is in the log"
    );
    assert!(stage.printed(&["audit", "verify"]).starts_with('✓'), "and the log is whole");
    let json: serde_json::Value = serde_json::from_str(&stage.printed(&["status", "--json"])).unwrap();
    assert_eq!(json["verdicts"]["denied"], 3);
}

#[test]
fn warnings_and_questions_are_told_apart() {
    let stage = Stage::new();
    let run = stage.run_and_bind("loose");
    stage.shell("ls").unwrap();
    let given = stage.verdicts_of(&run);
    assert_eq!((given.len(), &given[0]["data"]["answer"]), (1, &"warned".into()));
}

#[test]
fn many_that_look_at_once_take_each_verdict_in_once() {
    let stage = Stage::new();
    let run = stage.run_and_bind("strict");
    for _ in 0..10 {
        stage.shell("ls").unwrap_err();
    }
    let looking: Vec<_> = (0..6)
        .map(|_| stage.abide(&["status"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
        .collect();
    for mut one in looking {
        assert!(one.wait().unwrap().success());
    }
    assert_eq!(stage.verdicts_of(&run).len(), 10);
}

#[test]
fn a_hook_that_died_in_the_middle_of_its_note_spoils_no_other() {
    let stage = Stage::new();
    let run = stage.run_and_bind("strict");
    stage.shell("ls").unwrap_err();
    let folder = stage.path("home/.local/state/abide/gate/verdicts");
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("\n{\"Note\":{\"at\":1,\"ans");
    fs::write(&file, text).unwrap();
    stage.shell("ls").unwrap_err();
    let kinds: Vec<String> =
        stage.verdicts_of(&run).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["verdict.given", "verdict.lost", "verdict.given"]);
    assert!(stage.printed(&["status"]).contains("2 denied, 1 not known"));
}

#[test]
fn a_verdict_that_cannot_be_noted_is_given_all_the_same() {
    let stage = Stage::new();
    stage.run_and_bind("strict");
    fs::write(stage.path("home/.local/state/abide/gate/verdicts"), "not a folder").unwrap();
    stage.shell("ls").unwrap_err();
    assert!(!stage.printed(&["status"]).contains("denied"));
}

#[test]
fn what_is_denied_outside_of_runs_is_in_the_gates_journal() {
    let stage = Stage::new();
    assert_eq!(stage.printed(&["audit", "gate"]), "");
    stage.define("deploy.yaml", crate::DEPLOY);
    stage.shell("./deploy.sh --password hunter2").unwrap_err();
    stage.shell("ls").unwrap();
    answer(&stage.hook("no json")).unwrap_err();
    let shown = stage.printed(&["audit", "gate"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 2, "{shown}");
    assert!(
        lines[0].contains("claude s1  denied `Bash` (./deploy.sh): `Bash(./deploy.sh *)` is reserved for runs of the ability `deploy`"),
        "{shown}"
    );
    assert!(lines[1].contains("the client's question is not JSON"), "{shown}");
    assert!(!shown.contains("hunter2"));
    let json = stage.printed(&["audit", "gate", "--json", "--limit", "1"]);
    let last: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(last["answer"], "denied");
    let elsewhere = stage.abide(&["audit", "gate"]).current_dir(stage.path("elsewhere")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&elsewhere.stdout), "", "another project");
    let all = stage.abide(&["audit", "gate", "--all"]).current_dir(stage.path("elsewhere")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&all.stdout).lines().count(), 2);
}
