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

/// A step that says that it began, and goes on until it is ended.
const LONG: &str = "description: d
inputs: { key: { secret: true, default: hunter22 } }
steps:
  - { id: slow, run: 'echo $$ > pid; touch began; exec sleep 60' }
";

/// Waits until the step of [`LONG`] runs; returns where its process is.
fn began(project: &Project) -> std::path::PathBuf {
    while !project.path("began").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    std::fs::remove_file(project.path("began")).unwrap();
    std::path::Path::new("/proc").join(project.read("pid").trim())
}

/// Returns whether a process does something: one that nobody has taken note of since it ended does not.
fn lives(process: &std::path::Path) -> bool {
    std::fs::read(process.join("cmdline")).is_ok_and(|words| !words.is_empty())
}

#[test]
fn a_run_whose_driver_was_killed_is_cancelled_where_that_is_asked() {
    let project =
        Project::new(&[("slow", LONG), ("outer", "description: d\nsteps: [{id: call, workflow: slow}]\n")]);
    for (name, given, lost) in
        [("slow", &["-i", "key=hunter22"][..], "! slow was"), ("outer", &[], "! slow of ")]
    {
        let mut child = project.start(&["run", name]);
        let process = began(&project);
        let id = project.abide(&["status"]).out.split_whitespace().nth(1).unwrap().to_owned();
        assert!(!project.abide(&["status", &id]).out.contains("driver"));
        child.kill().unwrap();
        child.wait().unwrap();
        let said = project.abide(&["status", &id]).expect(0);
        said.says("status   running\n").says(&format!("driver   nobody; `abide resume {id}` drives it on\n"));
        project.abide(&[&["resume", &id], given].concat()).expect(8);
        let said = project.abide(&["status", &id]).expect(0).says(lost).says("interrupted in the middle");
        said.says(&format!("abide resume {id} --rerun   runs it again"));
        let said = project.abide(&["cancel", &id, "-m", "enough"]).expect(0);
        said.says(&format!("nobody drives {id}: what it left running is ended here"));
        assert!(!lives(&process), "{} is left", process.display());
        project.abide(&["status", &id]).expect(0).says("status   cancelled").says("cancelled by ada: enough");
        project.abide(&["cancel", &id]).expect(9).says("is over");
    }
    project.abide(&["cancel"]).expect(3).says("every run is over");
    project.abide(&["resume"]).expect(3).says("every run is over");
    project.abide(&["approve"]).expect(3).says("no run waits for an answer");
    project.abide(&["audit", "verify"]).expect(0);
}

#[test]
fn what_has_only_to_end_needs_no_secret() {
    let project = Project::new(&[("slow", LONG)]);
    let mut child = project.start(&["run", "slow"]);
    let process = began(&project);
    // The cancel is in the log, and whoever was told of it dies before anything ends.
    let stopped = Pid::from_child(&child);
    kill_process(stopped, Signal::STOP).unwrap();
    project.abide(&["cancel"]).expect(0).says("cancelling ");
    child.kill().unwrap();
    child.wait().unwrap();
    project.abide(&["resume"]).expect(6).says("cancelled by ada");
    assert!(!lives(&process), "{} is left", process.display());
}

#[test]
fn a_process_that_is_asked_to_go_leaves_its_run_in_order() {
    for signal in [Signal::TERM, Signal::HUP] {
        let project = Project::new(&[("slow", LONG)]);
        let child = project.start(&["run", "slow"]);
        let process = began(&project);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let said = Said::of(child.wait_with_output().unwrap()).expect(8);
        let id = id_of(&said);
        said.says("leaving the run").says(&format!("abide resume {id}   drives it on"));
        assert!(!lives(&process), "{} is left", process.display());
        project.abide(&["resume", &id, "--fail", "-i", "key=hunter22"]).expect(5);
    }
}

#[test]
fn a_run_that_was_to_outlive_its_terminal_does() {
    let project =
        Project::new(&[("brief", "description: d\nsteps: [{id: a, run: 'touch began; sleep 1'}]\n")]);
    let mut command = std::process::Command::new("nohup");
    let abide = project.command(&[]);
    let child = command
        .arg(abide.get_program())
        .args(["run", "brief"])
        .current_dir(project.path(""))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !project.path("began").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
    Said::of(child.wait_with_output().unwrap()).expect(0).says("✓ completed");
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
        .says("`flaky` has no step `secnd`; did you mean `second`?");
    project.abide(&["rerun", &id, "--from", "second"]).expect(2).says("give it again");
    project.abide(&["rerun", &id, "--from", "second", "-i", "token=hunter2"]).expect(0).says("taken over");
    assert_eq!(project.read("first.txt"), "first\n");
    assert_eq!(project.read("second.txt"), "one\nhunter2");
    project.abide(&["audit", "verify"]).expect(0);
}

/// Returns the id of the run that a command line told.
fn id_of(said: &Said) -> String {
    said.talk.split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn what_comes_after_a_step_runs_again_with_it_and_what_failed_before_it_does_not() {
    let steps = "steps:
  - { id: lint, run: 'echo lint >> ran.txt; exit 1', on_failure: continue }
  - { id: each, run: 'echo {{item}} >> ran.txt; test {{item}} != b', for_each: [a, b], on_failure: continue }
  - { id: build, run: 'echo build >> ran.txt; echo {{steps.each.status}}' }
  - { id: deploy, run: 'echo deploy >> ran.txt' }
";
    let one = format!("description: One after the other\n{steps}");
    let beside = format!("description: Beside each other\nsettings: {{ parallel: true }}\n{steps}");
    let project = Project::new(&[("one", &one), ("beside", &beside)]);
    let id = id_of(&project.abide(&["run", "one"]).expect(0));
    project.write("ran.txt", "");
    project.abide(&["rerun", &id, "--from", "each[b]"]).expect(9).says("name `each`");
    let said = project.abide(&["rerun", &id, "--from", "build"]).expect(0).says(": lint, each\n");
    assert_eq!(project.read("ran.txt"), "build\ndeploy\n");
    said.says("build │ failed\n");
    let status = project.abide(&["status"]).expect(0).says("✗ lint").says("✓ each[a]").says("✗ each[b]");
    assert!(!status.out.contains("attempt"), "{}", status.out);
    let id = id_of(&project.abide(&["run", "beside"]).expect(0));
    project.write("ran.txt", "");
    project.abide(&["rerun", &id, "--from", "build"]).expect(0).says("lint, each, deploy\n");
    assert_eq!(project.read("ran.txt"), "build\n", "steps beside each other say what they need");
    project.abide(&["audit", "verify"]).expect(0);
}

#[test]
fn a_script_that_was_put_right_is_run_again_with_the_steps_that_failed_on_it() {
    let definition = "description: d
inputs: { name: { default: ada } }
steps:
  - { id: first, run: 'echo first >> first.txt' }
  - { id: second, run: './scripts/do.sh {{inputs.name}}' }
";
    let project = Project::new(&[]);
    let file = ".abide/abilities/fix/ability.yaml";
    let script = ".abide/abilities/fix/scripts/do.sh";
    project.write(file, definition);
    project.write(script, "#!/bin/sh\nexit 3\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(project.path(script), executable).unwrap();
    let id = id_of(&project.abide(&["run", "fix"]).expect(5));
    project.write(script, "#!/bin/sh\necho $1 > done.txt\n");
    let again = ["rerun", &id, "--from", "second"];
    let said = project.abide(&again).expect(9).says("do.sh has changed since run ");
    said.says(&format!("`abide rerun {id} --from second --with-current` runs these steps"));
    assert_eq!(project.read("done.txt"), "", "nothing began");
    let fixed = definition.replace("{{inputs.name}}", "{{inputs.name}}-{{inputs.more}}");
    project.write(file, &fixed.replace("inputs: { ", "inputs: { more: { required: true }, "));
    let current = [&again[..], &["--with-current"]].concat();
    project.abide(&current).expect(2).says("the input `more` is missing");
    project.abide(&[&current[..], &["-i", "name=x"]].concat()).expect(2).says("are fixed: `name`");
    let said = project.abide(&[&current[..], &["-i", "more=now"]].concat()).expect(0);
    said.says(": first\n");
    assert_eq!(project.read("done.txt"), "ada-now\n");
    assert_eq!(project.read("first.txt"), "first\n");
    // What the new run was made of is in its log.
    let said = project.abide(&["audit", "show", "--json"]).expect(0);
    assert!(said.out.contains("inputs.more") && said.out.contains(&id), "{}", said.out);
    // Repeated as it was, the new run holds to what it pinned.
    project.write(script, "#!/bin/sh\nexit 0\n");
    let newest = id_of(&said_of_newest(&project));
    project.abide(&["rerun", &newest, "--from", "second"]).expect(9).says("has changed since run ");
}

/// Returns the newest run as `status` tells it, with its head where others have their talk.
fn said_of_newest(project: &Project) -> Said {
    let said = project.abide(&["status"]).expect(0);
    Said { talk: said.out.clone(), ..said }
}

#[test]
fn an_ability_that_changed_is_repeated_as_it_was_and_that_is_said() {
    let before = "description: d\nsteps: [{id: a, run: echo before > out.txt}]\n";
    let project = Project::new(&[("plain", before)]);
    let id = id_of(&project.abide(&["run", "plain"]).expect(0));
    project.write(".abide/abilities/plain.yaml", &before.replace("echo before", "echo after"));
    project.abide(&["rerun", &id, "--from", "a"]).expect(0).says("is repeated as it was; `--with-current`");
    assert_eq!(project.read("out.txt"), "before\n");
    project.abide(&["rerun", &id, "--from", "a", "--with-current"]).expect(0);
    assert_eq!(project.read("out.txt"), "after\n");
}

#[test]
fn the_end_of_a_run_reaches_a_hook_before_its_steps_and_lets_those_after_them_run() {
    let project = Project::new(&[]);
    let ability = |settings: &str| format!("description: d\n{settings}steps: [{{id: a, run: touch ran}}]\n");
    for (name, settings) in [("slow", ""), ("late", "settings: {timeout: 500ms}\n")] {
        project.write(&format!(".abide/abilities/{name}/ability.yaml"), &ability(settings));
        project
            .write(&format!(".abide/abilities/{name}/hooks/before/wait.sh"), "touch began\nexec sleep 60\n");
        project.write(
            &format!(".abide/abilities/{name}/hooks/after/clean.sh"),
            "sleep 0.5; echo $ABIDE_RESULT >> after.txt\n",
        );
    }
    let began = std::time::Instant::now();
    let child = project.start(&["run", "slow"]);
    while !project.path("began").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    project.abide(&["cancel"]).expect(0);
    Said::of(child.wait_with_output().unwrap()).expect(6);
    project.abide(&["run", "late"]).expect(7);
    assert!(began.elapsed().as_secs() < 30, "somebody waited for the hook");
    assert_eq!(project.read("after.txt"), "cancelled\ntimed_out\n");
    assert!(!project.path("ran").exists());
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
    assert_eq!(kinds, ["run.created", "step.started", "step.succeeded", "run.finished"]);
}
