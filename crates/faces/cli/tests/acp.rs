//! `runner: acp:<command>` from the command line: a scripted agent asks, goes further, and is cancelled.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests start processes and look at files")]

use abide_testkit::acp::{Act, agent};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

struct Project(tempfile::TempDir);

impl Project {
    fn new(level: &str, acts: &[Act]) -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        agent(project.path(), "bin/agent", acts);
        project.write(
            ".abide/abilities/look.yaml",
            &format!(
                "description: Looks\nsettings: {{ enforcement: {level} }}\nprotects: [\"Bash(./deploy.sh *)\"]\nsteps:\n  - id: look\n    agent: careful\n    runner: acp:./bin/agent\n    prompt: Look around.\n    tools: [Read, \"Bash(cat *)\", \"Write(review.txt)\"]\n"
            ),
        );
        project.write(
            ".abide/agents/careful.md",
            "---\ndescription: Careful\npermission:\n  bash: { \"*\": allow, \"cat secret*\": deny }\n---\nYou are careful.\n",
        );
        project
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn has(&self, path: &str) -> bool {
        self.path().join(path).exists()
    }

    fn abide(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command.args(arguments).current_dir(self.path()).env("HOME", self.path()).env("ABIDE_USER", "ada");
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "ABIDE_RUNNER", "ABIDE_SEAT"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.abide(arguments).output().unwrap()
    }

    fn events(&self) -> Vec<Value> {
        let shown = self.output(&["audit", "show", "--json"]);
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

fn execute(command: &str) -> Json {
    json!({"kind": "execute", "title": command, "rawInput": {"command": command}})
}

type Json = Value;

#[test]
fn what_an_agent_asks_for_is_answered_by_the_gate_of_the_run_and_the_rules_of_its_profile() {
    let asks = |call: Json, command: &str| Act::Ask(call, command.to_owned());
    let project = Project::new(
        "normal",
        &[
            asks(execute("touch else"), "touch else"),
            asks(execute("./deploy.sh now"), "touch deployed"),
            asks(execute("cat secret.txt"), "touch told"),
            asks(
                json!({"kind": "edit", "locations": [{"path": ".abide/abilities/look.yaml"}]}),
                "touch changed",
            ),
            asks(json!({"kind": "other", "title": "a tool of somebody"}), "touch other"),
            asks(execute("cat notes.txt"), "touch looked"),
            asks(json!({"kind": "edit", "locations": [{"path": "review.txt"}]}), "echo grey > review.txt"),
            Act::Call(
                "fs/write_text_file".to_owned(),
                json!({"sessionId": "s", "path": "notes.txt", "content": "x"}),
            ),
            Act::Say("All is well.".to_owned()),
        ],
    );
    let output = project.output(&["run", "look"]);
    let talk =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{talk}");
    for denied in ["else", "deployed", "told", "changed", "other", "notes.txt"] {
        assert!(!project.has(denied), "{denied}: {talk}");
    }
    assert!(project.has("looked") && project.has("review.txt"), "what is granted is allowed: {talk}");
    let events = project.events();
    let verdicts = events.iter().filter(|event| event["type"] == "verdict.given").count();
    assert_eq!(verdicts, 6, "each no is in the log once: {events:#?}");
    let done = events.iter().find(|event| event["type"] == "step.succeeded").unwrap();
    assert_eq!(done["data"]["result"]["output"]["text"], "All is well.");
    assert_eq!(done["data"]["result"]["usage"]["input_tokens"], 11);
    let told = std::fs::read_to_string(project.path().join("bin/acp.log"))
        .or_else(|_| std::fs::read_to_string(project.path().join("acp.log")))
        .unwrap();
    assert!(told.contains("You are careful.") && told.contains("Look around."), "{told}");
}

#[test]
fn an_agent_that_goes_further_without_asking_is_ended_and_its_step_fails() {
    let acts =
        [Act::Use(execute("touch else"), ":".to_owned()), Act::Run("sleep 3; touch further".to_owned())];
    let project = Project::new("normal", &acts);
    let output = project.output(&["run", "look"]);
    let talk =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_ne!(output.status.code(), Some(0), "{talk}");
    assert!(talk.contains("did not ask abide, so it was ended"), "{talk}");
    assert!(!project.has("further"));
}

#[test]
fn at_the_level_strict_it_is_refused_before_anything_runs() {
    let project = Project::new("strict", &[Act::Run("touch ran".to_owned())]);
    let output = project.output(&["run", "look"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0));
    assert!(talk.contains("cannot be held at the level `strict`"), "{talk}");
    assert!(!project.has("ran") && !project.has("acp.log"));
    let missing = Project::new("normal", &[]);
    std::fs::remove_file(missing.path().join("bin/agent")).unwrap();
    let talk = String::from_utf8_lossy(&missing.output(&["run", "look"]).stderr).into_owned();
    assert!(talk.contains("there is no program `./bin/agent`"), "{talk}");
}

#[test]
fn a_cancel_ends_the_agent_and_what_it_started_within_a_second() {
    let stubborn = "trap '' TERM; sleep 61 & touch begun; while :; do sleep 1; done";
    let project = Project::new("normal", &[Act::Run(stubborn.to_owned())]);
    let mut child = project.abide(&["run", "look"]).spawn().unwrap();
    let begun = Instant::now();
    while !project.has("begun") {
        assert!(begun.elapsed() < Duration::from_mins(1), "the agent did not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    project.output(&["cancel"]);
    assert_eq!(child.wait().unwrap().code(), Some(6));
    let events = project.events();
    let at = |name: &str| events.iter().find(|event| event["type"] == name).unwrap()["at"].as_i64().unwrap();
    let took = at("run.finished") - at("run.cancel_requested");
    assert!(took < 1_000, "it took {took} ms");
    let home = project.path().to_str().unwrap().as_bytes().to_vec();
    let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|process| {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        environment.windows(home.len()).any(|window| window == home)
    });
    assert_eq!(left.count(), 0, "something is left");
}

/// A step that is done by a skill, and the skill.
fn with_skill(project: &Project, more: &str) {
    project.write(
        ".abide/abilities/look.yaml",
        "description: Looks\nsettings: { enforcement: normal }\ninputs: { what: { type: string, default: seams } }\nsteps:\n  - id: look\n    skill: looking\n    runner: acp:./bin/agent\n    inputs: { what: '{{inputs.what}}' }\n    on_failure: retry\n    max_retries: 1\n    retry_delay: 0s\n    validation: { file_exists: review.txt }\n",
    );
    project.write(
        ".abide/skills/looking/SKILL.md",
        &format!("---\nname: looking\ndescription: Looks\n{more}---\nLook at the $1. !`cat facts.txt; echo x >> ran`\n"),
    );
    project.write("facts.txt", "forty-two\n");
}

#[test]
fn the_step_of_a_skill_tells_the_agent_what_the_skill_says_and_holds_it_to_its_tools() {
    let asks = |call: Json, command: &str| Act::Ask(call, command.to_owned());
    let project = Project::new(
        "normal",
        &[
            asks(execute("touch else"), "touch else"),
            asks(execute("cat notes.txt"), "touch looked"),
            Act::Run("test -f tried && echo x > review.txt; touch tried".to_owned()),
            Act::Say("All is well.".to_owned()),
        ],
    );
    with_skill(&project, "max_turns: 3\nallowed-tools: \"Read, Bash(cat *), Bash(echo *)\"\n");
    let output = project.output(&["skill", "trust", "looking"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = project.output(&["run", "look"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{talk}");
    let told = std::fs::read_to_string(project.path().join("acp.log"))
        .or_else(|_| std::fs::read_to_string(project.path().join("bin/acp.log")))
        .unwrap();
    for part in
        ["Look at the seams.", "Base directory for this skill: ", "- what: seams", "You have 3 answers"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(project.has("looked") && !project.has("else"), "{talk}");
    // What writes a file is more than `echo *` grants: the command is not run.
    assert!(told.contains("not run: whoever calls the skill may not run it now"), "{told}");
    assert!(!project.has("ran"));
}

#[test]
fn a_trusted_skill_is_filled_in_once_for_attempts_that_lack_evidence() {
    let acts = [
        Act::Run("test -f tried && echo x > review.txt; touch tried".to_owned()),
        Act::Say("All is well.".to_owned()),
    ];
    let project = Project::new("normal", &acts);
    with_skill(&project, "");
    project.output(&["skill", "trust", "looking"]);
    let output = project.output(&["run", "look"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told = std::fs::read_to_string(project.path().join("acp.log"))
        .or_else(|_| std::fs::read_to_string(project.path().join("bin/acp.log")))
        .unwrap();
    assert_eq!(told.matches("Look at the seams. forty-two").count(), 2, "{told}");
    assert_eq!(std::fs::read_to_string(project.path().join("ran")).unwrap(), "x\n");
}

#[test]
fn a_skill_that_cannot_be_used_starts_no_agent() {
    let project = Project::new("normal", &[Act::Run("touch started".to_owned())]);
    with_skill(&project, "requires: { bin: no-such-program }\n");
    let output = project.output(&["run", "look"]);
    let talk =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_ne!(output.status.code(), Some(0), "{talk}");
    assert!(talk.contains("the program `no-such-program` is not there"), "{talk}");
    assert!(!project.has("started") && !project.has("acp.log") && !project.has("bin/acp.log"));
}
