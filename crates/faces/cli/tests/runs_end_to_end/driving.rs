//! Who drives a run, how it is left, and how it goes on.

use crate::support::{APPROVAL, Project, Said};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const SLOW: &str = "description: Takes long
steps:
  - id: slow
    run: echo began; sleep 30
";

#[test]
fn two_drivers_do_not_drive_one_run() {
    let project = Project::new(&[("ask", APPROVAL)]);
    let mut child = project.start(&["run", "ask"]);
    let id = project.wait_for("waiting");
    let said = project.abide(&["resume", &id]).expect(9);
    let said = said.says(&format!("{id} is being driven by process {}", child.id()));
    said.says(&format!("`abide logs -f {id}` follows it, `abide cancel {id}` ends it\n"));
    project.abide(&["cancel", &id]).expect(0);
    child.wait().unwrap();
}

#[test]
fn a_driver_that_was_killed_is_followed_by_resume_without_an_id() {
    let project = Project::new(&[("ask", APPROVAL)]);
    let mut child = project.start(&["run", "ask"]);
    let id = project.wait_for("waiting");
    child.kill().unwrap();
    child.wait().unwrap();
    project.abide(&["approve", &id]).expect(0);
    project.abide(&["resume"]).expect(0).says("completed");
    assert_eq!(project.read("gone.txt"), "gone\n");
    project.abide(&["resume", &id]).expect(9).says("is over: completed");
}

#[test]
fn saying_once_what_to_do_with_a_lost_step_is_enough() {
    for (flag, code, ran) in [("--rerun", 0, "ran\nran\n"), ("--fail", 5, "ran\n")] {
        let project = Project::new(&[
            ("outer", "description: d\nsteps: [{id: call, workflow: inner}]\n"),
            (
                "inner",
                "description: d\nsteps:\n  - {id: slow, run: 'echo ran >> ran.txt; test -e go || sleep 60'}\n",
            ),
        ]);
        let mut child = project.start(&["run", "outer"]);
        while project.read("ran.txt").is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        project.write("go", "");
        project
            .abide(&["resume"])
            .expect(8)
            .says("was interrupted in the middle")
            .says("--rerun   runs it again");
        project.abide(&["resume", flag]).expect(code);
        assert_eq!(project.read("ran.txt"), ran, "{flag}");
        let project = Project::new(&[(
            "plain",
            "description: d\nsteps:\n  - {id: slow, run: 'echo ran >> ran.txt; test -e go || sleep 60'}\n",
        )]);
        let mut child = project.start(&["run", "plain"]);
        while project.read("ran.txt").is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        project.write("go", "");
        project.abide(&["resume", flag]).expect(code);
        assert_eq!(project.read("ran.txt"), ran, "{flag}");
    }
}

const THREE: &str = "description: d
steps:
  - {id: one, run: 'sleep 0.2; echo one | tee -a ran.txt'}
  - {id: two, run: 'echo two | tee -a ran.txt', needs: [one]}
  - {id: three, run: 'echo three | tee -a ran.txt; test ! -e broken', needs: [two]}
";

#[test]
fn a_run_is_brought_to_its_end_when_nobody_reads_about_it_any_more() {
    for json in [&["run", "three"][..], &["run", "three", "--json"]] {
        for (broken, code, status) in [(false, 0, "completed"), (true, 5, "failed")] {
            let project = Project::new(&[("three", THREE)]);
            if broken {
                project.write("broken", "");
            }
            let mut child = project.start(json);
            drop((child.stdout.take(), child.stderr.take()));
            // Never the code of success for a run that was not brought to its end.
            assert_eq!(child.wait().unwrap().code(), Some(code), "{json:?}");
            assert_eq!(project.read("ran.txt"), "one\ntwo\nthree\n", "{json:?}");
            project.wait_for(status);
        }
    }
}

#[test]
fn a_run_whose_output_finds_no_room_says_so_and_goes_on() {
    let project = Project::new(&[("three", THREE)]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = project.command(&["run", "three"]).stdout(full).output().unwrap();
    let said = Said::of(output).expect(0).says("cannot write the output").says("the run goes on unseen");
    assert_eq!(said.talk.matches("cannot write").count(), 1, "{}", said.talk);
    assert_eq!(project.read("ran.txt"), "one\ntwo\nthree\n");
}

#[test]
fn control_c_once_cancels_the_run() {
    let project = Project::new(&[("slow", SLOW)]);
    let child = project.start(&["run", "slow"]);
    project.wait_for("running");
    std::thread::sleep(std::time::Duration::from_millis(500));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    Said::of(child.wait_with_output().unwrap()).expect(6).says("press Ctrl-C again");
}

#[test]
fn control_c_twice_ends_a_step_that_does_not_listen() {
    let deaf = SLOW.replace("echo began; sleep 30", "trap '' TERM; while :; do sleep 0.1; done");
    let project = Project::new(&[("slow", &deaf)]);
    let child = project.start(&["run", "slow"]);
    project.wait_for("running");
    std::thread::sleep(std::time::Duration::from_millis(500));
    for _ in 0..2 {
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    let began = std::time::Instant::now();
    let said = Said::of(child.wait_with_output().unwrap());
    assert!(began.elapsed().as_secs() < 4, "it waited for the step: {said:?}");
    assert_ne!(said.code, 0);
}

#[test]
fn a_detached_run_goes_on_and_can_be_followed() {
    let project = Project::new(&[("ask", APPROVAL)]);
    let said = project.abide(&["run", "ask", "--detach"]).expect(0);
    let id = said.out.trim().to_owned();
    assert_eq!(project.wait_for("waiting"), id);
    let follower = project.start(&["logs", "-f", &id]);
    project.abide(&["approve", &id]).expect(0);
    Said::of(follower.wait_with_output().unwrap()).expect(0);
    project.wait_for("completed");
}

#[test]
fn a_rerun_takes_over_what_is_done() {
    let project = Project::new(&[(
        "flaky",
        "description: Fails at first
inputs:
  token: {type: string, secret: true, required: true}
steps:
  - id: first
    run: echo first >> first.txt; echo one
  - id: second
    needs: [first]
    run: test -f ok && printf '%s' {{steps.first.output}} {{inputs.token}} > second.txt
",
    )]);
    project.abide(&["run", "flaky", "-i", "token=hunter2"]).expect(5);
    let id = project.wait_for("failed");
    project.write("ok", "");
    project
        .abide(&["rerun", &id, "--from", "secnd", "-i", "token=x"])
        .expect(9)
        .says("did you mean `second`?");
    project.abide(&["rerun", &id, "--from", "second"]).expect(2).says("give it again");
    project.abide(&["rerun", &id, "--from", "second", "-i", "token=hunter2"]).expect(0).says("taken over");
    assert_eq!(project.read("first.txt"), "first\n");
    assert_eq!(project.read("second.txt"), "one\nhunter2");
    project.abide(&["audit", "verify"]).expect(0);
}

#[test]
fn outcomes_have_exit_codes_and_events_are_lines_of_json() {
    let project = Project::new(&[
        ("good", "description: d\nsteps: [{id: a, run: 'true'}]\n"),
        ("bad", "description: d\nsteps: [{id: a, run: exit 3}]\n"),
        ("late", "description: d\nsteps: [{id: a, run: sleep 20}]\nsettings: {timeout: 300ms}\n"),
        ("broken", "description: d\nsteps: [{id: a, needs: [b], run: 'true'}]\n"),
    ]);
    project.abide(&["run", "bad"]).expect(5);
    project.abide(&["run", "late"]).expect(7);
    project.abide(&["run", "broken"]).expect(1);
    project.abide(&["run", "nothing"]).expect(3);
    project.abide(&["run", "good", "-i", "x=1"]).expect(2);
    let said = project.abide(&["run", "good", "--json"]).expect(0);
    let kinds: Vec<String> = said
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["step.started", "step.succeeded", "run.finished"]);
}
