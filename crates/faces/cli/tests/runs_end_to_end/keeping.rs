//! How long runs are kept.

use crate::support::{APPROVAL, Project};
use serde_json::Value;

/// Returns the runs that are listed, the newest first.
fn listed(project: &Project) -> Vec<Value> {
    let said = project.abide(&["runs", "--json"]).expect(0);
    let mut document: Value = serde_json::from_str(&said.out).unwrap();
    document["runs"].as_array_mut().map(std::mem::take).unwrap()
}

#[test]
fn what_is_over_is_forgotten_beyond_the_limit_and_its_space_is_used_again() {
    let project = Project::new(&[
        ("large", "description: d\nsteps: [{id: a, run: head -c 1000000 /dev/zero}]\n"),
        ("ask", APPROVAL),
    ]);
    project.write(".abide/config.yaml", "runs: { keep: 3 }\n");
    // A run that waits is older than all of them, and stays.
    let waiting = project.abide(&["run", "ask", "--detach"]).expect(0).out.trim().to_owned();
    project.wait_for("waiting");
    let size = |project: &Project| std::fs::metadata(project.path(".abide/state/log.db")).unwrap().len();
    let mut sizes = Vec::new();
    let mut newest = String::new();
    for _ in 0..8 {
        let said = project.abide(&["run", "large"]).expect(0);
        newest = said.talk.split_whitespace().nth(1).unwrap().to_owned();
        sizes.push(size(&project));
    }
    let runs = listed(&project);
    assert_eq!(runs.len(), 3, "{runs:#?}");
    assert_eq!(runs[0]["run"], newest.as_str());
    assert!(runs.iter().any(|run| run["run"] == waiting.as_str()), "{runs:#?}");
    assert!(sizes[7] < sizes[3] + 1_000_000, "what is freed is used again: {sizes:?}");
    assert_eq!(project.command(&["logs", &newest]).output().unwrap().stdout.len(), 1_000_000);
    project.abide(&["audit", "verify"]).expect(0);
    project.abide(&["approve", &waiting]).expect(0);
    project.wait_for("completed");
}

#[test]
fn a_run_goes_with_those_that_it_calls() {
    let project = Project::new(&[
        ("outer", "description: d\nsteps: [{id: call, workflow: inner}]\n"),
        ("inner", "description: d\nsteps: [{id: a, run: echo inner}]\n"),
    ]);
    for _ in 0..3 {
        let mut command = project.command(&["run", "outer"]);
        assert!(command.env("ABIDE_RUNS_KEEP", "4").output().unwrap().status.success());
    }
    let runs = listed(&project);
    assert_eq!(runs.len(), 4, "{runs:#?}");
    for run in runs.iter().filter(|run| !run["parent"].is_null()) {
        assert!(runs.iter().any(|parent| parent["run"] == run["parent"]), "{run} is alone");
    }
    project.abide(&["audit", "verify"]).expect(0);
}

#[test]
fn what_has_been_over_for_long_enough_is_forgotten() {
    let project = Project::new(&[("plain", "description: d\nsteps: [{id: a, run: 'true'}]\n")]);
    project.abide(&["run", "plain"]).expect(0);
    project.abide(&["run", "plain"]).expect(0);
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    let mut command = project.command(&["run", "plain"]);
    assert!(command.env("ABIDE_RUNS_KEEP_FOR", "1s").output().unwrap().status.success());
    assert_eq!(listed(&project).len(), 1);
    let mut command = project.command(&["validate", "--all"]);
    let said = command.env("ABIDE_RUNS_KEEP_FOR", "soon").output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap() + &String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("ABIDE_RUNS_KEEP_FOR=soon is not a duration such as 30d"), "{said}");
}
