//! What is shown without running anything, and what is said about a log that is not in order.

use crate::support::{Project, Said};
use serde_json::Value;

const RELEASE: &str = "description: Release
inputs:
  env: {type: string, default: staging}
  key: {type: string, secret: true, default: hunter2}
steps:
  - id: build
    run: printf '%s' {{inputs.env}} {{inputs.key}} > built.txt
  - id: sign
    when: inputs.env == 'production'
    run: echo signed
  - id: ship
    needs: [build, sign]
    when: steps.build.exit_code == 0
    run: echo {{steps.build.output}}
";

#[test]
fn a_plan_says_what_is_decided_and_what_comes_later() {
    let project = Project::new(&[("release", RELEASE)]);
    let said = project.abide(&["plan", "release"]).expect(0);
    let said = said.says("ABIDE_VALUE_0 = \"staging\"").says("sign  script  (skipped)");
    let said = said.says("false: inputs.env").says("decided later, by steps.build.exit_code").says("•••");
    assert!(!said.out.contains("hunter2"), "{}", said.out);
    let said = project.abide(&["plan", "release", "--json", "-i", "env=production"]).expect(0);
    let plan: Value = serde_json::from_str(&said.out).unwrap();
    let decisions: Vec<&Value> =
        plan["steps"].as_array().unwrap().iter().map(|step| &step["when"]["decision"]).collect();
    assert_eq!(decisions, [&Value::Null, &Value::from("true"), &Value::from("later")]);
    assert!(!project.path("built.txt").exists() && !project.path(".abide/state").exists());
}

#[test]
fn a_dry_run_walks_with_stubs_and_leaves_nothing() {
    let project = Project::new(&[("release", RELEASE)]);
    project.abide(&["run", "release", "--dry-run"]).expect(0).says("✓ completed");
    project.write("stubs.yaml", "build: {exit_code: 7}\n");
    project
        .abide(&["run", "release", "--dry-run", "--stubs", "stubs.yaml"])
        .expect(5)
        .says("it exited with code 7");
    project.write("stubs.yaml", "biuld: {exit_cod: 7}\n");
    project
        .abide(&["run", "release", "--dry-run", "--stubs", "stubs.yaml"])
        .expect(2)
        .says("did you mean `build`?")
        .says("did you mean `exit_code`?");
    assert!(!project.path("built.txt").exists() && !project.path(".abide/state").exists());
}

#[test]
fn a_dry_run_walks_into_called_abilities() {
    const PARENT: &str = "description: Calls another\nsteps:\n  - { id: first, run: touch first }\n  - { id: call, workflow: child, inputs: { name: eu }, needs: [first] }\n  - { id: last, run: \"echo {{steps.call.output}}\", needs: [call] }\n";
    const CHILD: &str = "description: Is called\ninputs:\n  name: { required: true, pattern: '^[a-z]+$' }\nsteps:\n  - { id: build, run: \"touch {{inputs.name}}\" }\n  - { id: ship, agent: default, prompt: Ship it., needs: [build] }\n";
    let project = Project::new(&[("parent", PARENT), ("child", CHILD)]);
    let said = project.abide(&["run", "parent", "--dry-run"]).expect(0);
    let lines = [
        "✓ first",
        "▸ call",
        "  ▸ build",
        "  ✓ build",
        "  ✓ ship",
        "  ✓ completed",
        "✓ call",
        "✓ last",
        "✓ completed",
    ];
    let mut rest = said.out.as_str();
    for line in lines {
        let at = rest.find(line).unwrap_or_else(|| panic!("{line}\n{}", said.out));
        rest = &rest[at + line.len()..];
    }
    project.write("stubs.yaml", "call/build: {exit_code: 7}\n");
    let stubbed = ["run", "parent", "--dry-run", "--stubs", "stubs.yaml"];
    project
        .abide(&stubbed)
        .expect(5)
        .says("  ✗ build")
        .says("the ability that it called failed: step `build` failed: it exited with code 7");
    project.write("stubs.yaml", "call: {stdout: shipped}\n");
    let said = project.abide(&stubbed).expect(0);
    assert!(!said.out.contains("build"), "a stub stands for the whole of it: {}", said.out);
    project.write("stubs.yaml", "call/biuld: {exit_code: 7}\nfirst/build: {exit_code: 7}\n");
    project
        .abide(&stubbed)
        .expect(2)
        .says("`child` has no step `biuld`; did you mean `build`?")
        .says("step `first` calls no ability");
    // The walk is only that: to run it, something must execute the agent of the child.
    project.abide(&["run", "parent"]).expect(9).says("step `ship` of `child` cannot be run");
    assert!(!project.path("first").exists() && !project.path("eu").exists());
}

#[test]
fn a_changed_log_is_noticed_with_its_place() {
    let project = Project::new(&[("release", RELEASE)]);
    project.abide(&["run", "release"]).expect(0);
    project.abide(&["audit", "show"]).expect(0).says("run.finished").says("completed");
    project.abide(&["audit", "verify"]).expect(0);
    let file = project.path(".abide/state/log.db");
    let mut bytes = std::fs::read(&file).unwrap();
    let known = b"\"step\":\"build\"";
    let place = bytes.windows(known.len()).position(|window| window == known).expect("an event about build");
    bytes[place + 8..place + 13].copy_from_slice(b"built");
    std::fs::write(&file, bytes).unwrap();
    project.abide(&["audit", "verify"]).expect(1).says("damaged at event");
}

#[test]
fn a_log_that_cannot_be_used_is_a_clear_error() {
    let project = Project::new(&[("release", RELEASE)]);
    project.write(".abide/state/log.db", &"this is not a database ".repeat(500));
    let said = project.abide(&["run", "release"]).expect(4);
    assert!(said.talk.contains("log.db"), "{}", said.talk);
    let project = Project::new(&[("release", RELEASE)]);
    project.write(".abide/state", "a file where the folder should be");
    project.abide(&["run", "release"]).expect(4);
}

#[test]
fn the_demo_plays_through_and_shows_its_log() {
    let project = Project::new(&[]);
    let said = project.abide(&["demo"]).expect(0);
    let said = said.says("it is tried again").says("answered `approved`").says("run.finished");
    said.says("nobody can be asked here");
}

#[test]
fn a_runner_that_cannot_be_used_is_named_before_anything_runs() {
    let step = |further: &str| {
        format!(
            "description: Looks\nsteps:\n  - {{ id: first, run: touch ran }}\n  - {{ id: look, agent: default, prompt: Look., needs: [first]{further} }}\n"
        )
    };
    let project = Project::new(&[
        ("over", &step(", runner: \"acp:some agent\"")),
        ("here", &step(", runner: session")),
        ("gone", &step(", runner: codex")),
        ("any", &step("")),
    ]);
    project.write("bin/keep", "");
    let run = |name: &str| {
        let mut command = project.command(&["run", name]);
        Said::of(command.env("PATH", project.path("bin")).output().unwrap()).expect(9)
    };
    run("over").says("step `look` of `over` cannot be run").says("there is no program `some`");
    run("here").says("a terminal is none");
    run("gone").says("npm install -g @openai/codex");
    project.write(".abide/config.yaml", "runner: claude\n");
    run("any").says("npm install -g @anthropic-ai/claude-code");
    project.write(".abide/config.yaml", "runner: \"acp:some agent\"\n");
    run("any").says("there is no program `some`");
    assert!(!project.path("ran").exists() && !project.path(".abide/state/log.db").exists());
}
