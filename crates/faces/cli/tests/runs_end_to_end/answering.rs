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
