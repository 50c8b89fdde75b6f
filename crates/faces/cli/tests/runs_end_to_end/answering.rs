//! Questions answered from another process.

use crate::support::{APPROVAL, Project, Said};

#[test]
fn an_approval_from_another_process_lets_the_run_go_on() {
    let project = Project::new(&[("ask", APPROVAL)]);
    let child = project.start(&["run", "ask"]);
    let id = project.wait_for("waiting");
    project.abide(&["approve", &id, "--answer", "maybe"]).expect(9).says("is not an answer");
    project.abide(&["approve", &id, "-m", "looks good"]).expect(0);
    let said = Said::of(child.wait_with_output().unwrap()).expect(0);
    said.says("answered `approved` by ada: looks good");
    assert_eq!(project.read("gone.txt"), "gone\n");
    project.abide(&["approve", &id, "approve"]).expect(9).says("is over: it completed");
    project.abide(&["cancel", &id]).expect(9).says("is over");
}

#[test]
fn a_second_answer_is_refused_with_the_first_one() {
    let slow = APPROVAL.replace("echo gone", "sleep 3; echo gone");
    let project = Project::new(&[("ask", &slow)]);
    let mut child = project.start(&["run", "ask"]);
    let id = project.wait_for("waiting");
    project.abide(&["approve", &id]).expect(0);
    project.wait_for("running");
    project.abide(&["reject", &id, "approve"]).expect(9).says("was already answered with `approved` by ada");
    child.wait().unwrap();
}

#[test]
fn a_rejection_fails_the_run_and_skips_what_needed_it() {
    let project = Project::new(&[("ask", APPROVAL)]);
    let child = project.start(&["run", "ask"]);
    let id = project.wait_for("waiting");
    project.abide(&["reject", &id, "-m", "not on a friday"]).expect(0);
    Said::of(child.wait_with_output().unwrap()).expect(5).says("not on a friday");
    assert_eq!(project.read("gone.txt"), "");
}

const PLANNED: &str = "description: Needs a yes first
settings: { plan_approval: true }
steps:
  - { id: go, run: echo gone >> gone.txt }
";

#[test]
fn a_no_is_never_taken_for_a_yes_nor_a_yes_for_a_no() {
    let project = Project::new(&[("ask", APPROVAL), ("planned", PLANNED)]);
    for (name, status) in [("ask", "waiting"), ("planned", "awaiting_plan")] {
        let child = project.start(&["run", name]);
        let id = project.wait_for(status);
        let wrong = |words: &[&str]| project.abide(&[words, &[&id]].concat()).expect(2);
        wrong(&["approve", "--answer", "rejected"])
            .says("the answer `rejected` is a no")
            .says("abide reject");
        wrong(&["reject", "--answer", "approved"])
            .says("the answer `approved` is a yes")
            .says("abide approve");
        wrong(&["reject", "--answer", "later"]).says(if name == "ask" {
            "`abide approve RUN STEP --answer later` chooses it"
        } else {
            "`later` is not an answer to a plan: the answers are `approved`, `rejected`"
        });
        assert_eq!(project.wait_for(status), id, "nothing was answered");
        project.abide(&["reject", "--answer", "rejected", &id]).expect(0);
        Said::of(child.wait_with_output().unwrap()).says("rejected");
        assert_eq!(project.read("gone.txt"), "");
    }
    let child = project.start(&["run", "planned"]);
    let id = project.wait_for("awaiting_plan");
    project.abide(&["approve", "--answer", "maybe", &id]).expect(2).says("is not an answer to a plan");
    project.abide(&["approve", "--answer", "approved", &id]).expect(0);
    Said::of(child.wait_with_output().unwrap()).expect(0);
    assert_eq!(project.read("gone.txt"), "gone\n");
}

#[test]
fn an_answer_after_its_time_is_refused() {
    let brief = APPROVAL.replace("    prompt", "    timeout: 300ms\n    prompt");
    let project = Project::new(&[("ask", &brief)]);
    let said = project.abide(&["run", "ask"]).expect(5).says("nobody answered in time");
    let id = said.talk.split_whitespace().nth(1).unwrap().to_owned();
    project.abide(&["approve", &id, "approve"]).expect(9).says("is over: it failed");
}

#[test]
fn a_run_that_is_cancelled_from_elsewhere_ends_as_cancelled() {
    let project = Project::new(&[("ask", APPROVAL)]);
    let child = project.start(&["run", "ask"]);
    let id = project.wait_for("waiting");
    project.abide(&["cancel", &id]).expect(0);
    Said::of(child.wait_with_output().unwrap()).expect(6);
}

/// Waits until the newest run, or one that it calls, waits for an answer; returns the run that was started.
fn wait_for_question(project: &Project) -> String {
    for _ in 0..600 {
        let said = project.abide(&["status"]);
        if said.out.contains("abide approve") {
            return said.out.split_whitespace().nth(1).unwrap().to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("nothing is asked: {}", project.abide(&["status"]).out);
}

const OUTER: &str = "description: Calls
settings: { parallel: true }
steps:
  - { id: call, workflow: inner }
  - { id: end, needs: [call], run: echo ended > ended.txt }
";
const INNER: &str = "description: Is called
steps:
  - { id: first, run: 'true' }
  - { id: confirm, needs: [first], type: approval, prompt: Inside? }
";

#[test]
fn a_question_of_a_called_ability_is_answered_through_the_run_that_was_started() {
    let project = Project::new(&[("outer", OUTER), ("inner", INNER)]);
    for (arguments, code) in [(&["approve"][..], 0), (&["reject"], 5)] {
        let child = project.start(&["run", "outer"]);
        let id = wait_for_question(&project);
        let status = project.abide(&["status", &id]).expect(0);
        let status = status.says("… call  run ").says("\n  ✓ first\n  ? confirm\n").says("· end");
        let status = status.says("? confirm: Inside?\n  abide approve ");
        let inner = status.out.rsplit("abide approve ").next().unwrap().split(' ').next().unwrap().to_owned();
        assert_ne!(inner, id);
        let json: serde_json::Value =
            serde_json::from_str(&project.abide(&["status", &id, "--json"]).out).unwrap();
        assert_eq!(json["children"][0]["run"], inner.as_str());
        assert_eq!(json["children"][0]["step"], "call");
        assert_eq!(json["children"][0]["questions"][0]["step"], "confirm");
        project.abide(&["approve", &id, "nothing"]).expect(9).says("`nothing` does not wait for an answer");
        project.abide(&[arguments, &[&id]].concat()).expect(0);
        Said::of(child.wait_with_output().unwrap()).expect(code);
        project.abide(&["approve", &id]).expect(9).says("does not wait for an answer");
    }
}

#[test]
fn who_answers_second_is_told_who_was_first_and_when() {
    let shaky = "description: Is called
steps:
  - { id: confirm, type: approval, prompt: Inside? }
  - { id: shaky, needs: [confirm], run: 'exit 7', on_failure: ask }
  - { id: wait, needs: [shaky], type: approval, prompt: Still here? }
";
    let project = Project::new(&[("outer", OUTER), ("inner", shaky), ("planned", PLANNED)]);
    let child = project.start(&["run", "outer"]);
    let id = wait_for_question(&project);
    project.abide(&["approve", &id]).expect(0);
    while !project.abide(&["status", &id]).out.contains("? shaky: ") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let second = |step: &str, answer: &str| {
        let said = project.abide(&["reject", &id, step]).expect(9);
        said.says(&format!("`{step}` was already answered with `{answer}` by ada, 20"));
    };
    second("confirm", "approved");
    project.abide(&["approve", &id, "shaky", "--answer", "skip"]).expect(0);
    while !project.abide(&["status", &id]).out.contains("? wait: ") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    second("shaky", "skip");
    project.abide(&["approve", &id, "wait"]).expect(0);
    Said::of(child.wait_with_output().unwrap()).expect(0);
    let said = project.abide(&["approve", &id]).expect(9).says("does not wait for an answer");
    said.says("`wait` was already answered with `approved` by ada, 20");
    let slow = PLANNED.replace("echo gone", "sleep 2; echo gone");
    project.write(".abide/abilities/planned.yaml", &slow);
    let child = project.start(&["run", "planned"]);
    let id = project.wait_for("awaiting_plan");
    project.abide(&["approve", &id]).expect(0);
    let said = project.abide(&["reject", &id]).expect(9).says("does not wait for an answer");
    said.says(&format!("the plan of run {id} was already answered with `approved` by ada, 20"));
    Said::of(child.wait_with_output().unwrap()).expect(0);
}

#[test]
fn when_several_questions_are_open_the_answer_names_one() {
    let outer = OUTER.replace("  - { id: end", "  - { id: again, workflow: inner }\n  - { id: end");
    let project = Project::new(&[("outer", &outer), ("inner", INNER)]);
    let child = project.start(&["run", "outer"]);
    let id = wait_for_question(&project);
    let open = || project.abide(&["status", &id]).out.matches("abide approve").count();
    while open() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let said = project.abide(&["approve", &id]).expect(2).says("waits for several answers: confirm of ");
    let said = said.says("`abide approve RUN STEP`");
    project.abide(&["approve", &id, "confirm"]).expect(2);
    let listed = said.talk.split("answers: ").nth(1).unwrap().lines().next().unwrap().to_owned();
    for question in listed.split(", ") {
        let run = question.split(" of ").nth(1).unwrap();
        project.abide(&["approve", run, "confirm"]).expect(0);
    }
    Said::of(child.wait_with_output().unwrap()).expect(0);
}
