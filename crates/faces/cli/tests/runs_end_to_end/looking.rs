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
fn a_plan_shows_evidence_retries_rounds_and_where_a_script_lies() {
    let project = Project::new(&[]);
    let folder = ".abide/abilities/full";
    project.write(
        &format!("{folder}/ability.yaml"),
        "description: Full
inputs: { file: { default: out.txt }, key: { secret: true, default: hunter22 } }
steps:
  - id: make
    run: ./scripts/make.sh && ./scripts/own.sh
    validation:
      exit_code: [0, 2]
      file_exists: '{{inputs.file}}'
      stdout_matches: '^made'
      stdout_contains: '{{inputs.key}}'
      check: 'grep -q {{inputs.file}} list'
    on_failure: retry
    max_retries: 3
    retry_delay: 2s
  - id: poll
    run: ./scripts/{{inputs.file}}
    repeat: { until: steps.poll.exit_code == 0, max: 7, delay: 30s }
",
    );
    project.write(&format!("{folder}/scripts/make.sh"), "");
    project.write(&format!("{folder}/scripts/own.sh"), "");
    project.write("scripts/own.sh", "");
    let said = project.abide(&["plan", "full"]).expect(0);
    let beside = project.path(folder).canonicalize().unwrap().display().to_string();
    let said = said.says(&format!("sh         {beside}/scripts/make.sh && ./scripts/own.sh\n"));
    let said = said.says("evidence   exit_code: 2\n").says("evidence   file_exists: \"out.txt\"\n");
    let said = said.says("evidence   stdout_matches: \"^made\"\n").says("stdout_contains: \"•••\"\n");
    let said = said.says("check: \"grep -q {{inputs.file}} list\"\n");
    let said = said.says("on failure retry\n   retries    3, the first after 2s\n");
    said.says("until      steps.poll.exit_code == 0\n              at most 7 times, 30s apart\n");
    let said = project.abide(&["plan", "full", "--json"]).expect(0);
    let plan: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(plan["steps"][0]["retries"], serde_json::json!({ "max": 3, "delay": "2s" }));
    assert_eq!(plan["steps"][0]["evidence"].as_array().unwrap().len(), 6);
    assert_eq!(plan["steps"][1]["repeat"]["max"], 7);
    assert_eq!(plan["steps"][1]["retries"], Value::Null);
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
fn what_a_file_of_inputs_says_is_what_an_input_of_text_gets() {
    let project = Project::new(&[(
        "say",
        "description: Says
inputs:
  version: { type: string, required: true }
  plain: { required: true }
  flag: { type: string, default: 'x' }
  size: { type: number, default: 1 }
steps:
  - { id: say, run: \"printf '%s|' {{inputs.version}} {{inputs.plain}} {{inputs.flag}} {{inputs.size}} > said.txt\" }
",
    )]);
    let run = |file: &str, text: &str, said: &str| {
        project.write(file, text);
        project.abide(&["run", "say", "--inputs", file]).expect(0);
        assert_eq!(project.read("said.txt"), said);
    };
    run("in.yaml", "version: 1.10\nplain: 1e3\nflag: True\nsize: 1.50\n", "1.10|1e3|True|1.5|");
    run("in.yaml", "version: 007\nplain: 'x'\nflag: 0x1F\n", "007|x|0x1F|1.0|");
    run(
        "in.json",
        r#"{"version": 1.10, "plain": 12345678901234567890, "flag": "y"}"#,
        "1.10|12345678901234567890|y|1.0|",
    );
    project.write("in.yaml", "version: [1]\nplain: null\nsize: large\n");
    let said = project.abide(&["run", "say", "--inputs", "in.yaml"]).expect(2);
    let lines: Vec<&str> = said.talk.lines().collect();
    assert_eq!(lines.len(), 4, "one problem on each line: {lines:#?}");
    assert!(lines[..3].iter().all(|line| line.starts_with("error: the input `")), "{lines:#?}");
}

#[test]
fn logs_of_a_step_alone_are_of_the_newest_run_and_those_of_a_run_are_of_its_family() {
    let project = Project::new(&[
        (
            "outer",
            "description: d\nsteps:\n  - {id: before, run: echo outside}\n  - {id: call, workflow: inner}\n",
        ),
        ("inner", "description: d\nsteps: [{id: say, run: 'echo inside; printf half >&2'}]\n"),
    ]);
    let id = project.abide(&["run", "outer"]).expect(0).talk.split_whitespace().nth(1).unwrap().to_owned();
    for arguments in [&["logs", &id][..], &["logs"], &["logs", "-f", &id]] {
        assert_eq!(project.abide(arguments).expect(0).out, "outside\ninside\nhalf", "{arguments:?}");
    }
    assert_eq!(project.abide(&["logs", "before"]).expect(0).out, "outside\n");
    assert_eq!(project.abide(&["logs", "say"]).expect(0).out, "inside\nhalf");
    project
        .abide(&["logs", "nothing"])
        .expect(3)
        .says("there is no run nothing, and run ")
        .says("no step `nothing`");
    let said = project.abide(&["logs", &id, "--json"]).expect(0);
    let lines: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            (line["step"].as_str().unwrap(), line["stream"].as_str().unwrap(), line["line"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        told,
        [("before", "stdout", "outside"), ("say", "stdout", "inside"), ("say", "stderr", "half")]
    );
    assert_eq!((lines[0]["run"].as_str(), lines[0]["attempt"].as_u64()), (Some(&*id), Some(1)));
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
