//! Scripts that do not behave.

use crate::namespace::without_powers;
use crate::support::{Project, Said};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Makes a project with one ability of these steps, runs it, and expects an exit code.
#[track_caller]
fn run(steps: &str, code: i32) -> (Project, Said) {
    let project = Project::new(&[("hard", &format!("description: Does not behave\nsteps:\n{steps}"))]);
    let said = project.abide(&["run", "hard"]).expect(code);
    (project, said)
}

#[track_caller]
fn gone(project: &Project, file: &str) {
    let process = project.read(file).trim().to_owned();
    assert!(!process.is_empty(), "{file} holds no process");
    assert!(!Path::new("/proc").join(&process).exists(), "{process} is left");
}

#[test]
fn a_script_that_ignores_term_is_killed_and_said_to_be_late() {
    let began = Instant::now();
    let (project, said) = run(
        "  - { id: deaf, timeout: 300ms, run: \"trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done\" }\n",
        5,
    );
    said.says("✗ deaf (").says("it ran out of time");
    assert!(began.elapsed() > Duration::from_secs(5), "it was not asked first");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    gone(&project, "pid");
}

#[test]
fn a_script_that_daemonises_leaves_nothing_behind() {
    let daemon = "setsid sh -c 'setsid sleep 300 & echo $! > pid' >/dev/null 2>&1 & while ! test -s pid; do sleep 0.01; done";
    let (project, _) = run(&format!("  - id: daemon\n    run: \"{daemon}\"\n"), 0);
    gone(&project, "pid");
}

#[test]
fn a_script_that_closes_its_pipes_is_waited_for() {
    let (project, said) = run(
        "  - { id: quiet, run: 'exec >&- 2>&-; sleep 0.7; echo done > done.txt; exit 4' }\n  - { id: next, needs: [quiet], run: 'true' }\n",
        5,
    );
    said.says("✗ quiet").says("it exited with code 4");
    assert_eq!(project.read("done.txt"), "done\n");
}

#[test]
fn bytes_that_are_no_text_are_kept_exactly_and_shown_as_such() {
    let (project, said) = run(
        "  - { id: raw, run: \"printf 'a\\\\377\\\\376b\\\\n'\" }\n  - { id: use, needs: [raw], run: 'printf %s {{steps.raw.output}} > used.txt' }\n",
        0,
    );
    said.says("raw │ a��b");
    let bytes = project.command(&["logs"]).output().unwrap().stdout;
    assert_eq!(bytes, b"a\xff\xfeb\n");
    assert_eq!(project.read("used.txt"), "a��b\n");
    let events = project.abide(&["audit", "show", "--json"]).expect(0);
    assert!(events.out.contains("a��b"), "{}", events.out);
}

#[test]
fn standard_input_is_nothing_and_what_is_typed_to_abide_is_not_a_steps() {
    let project = Project::new(&[(
        "reads",
        "description: d\nsteps: [{id: cat, run: cat > got.txt}, {id: sleep, run: sleep 0.2}]\n",
    )]);
    let mut command = project.command(&["run", "reads"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"for abide alone\n").unwrap();
    Said::of(child.wait_with_output().unwrap()).expect(0);
    drop(input);
    assert!(project.path("got.txt").exists());
    assert_eq!(project.read("got.txt"), "");
}

#[test]
fn a_folder_that_a_script_removes_is_named_by_the_next_one() {
    let project = Project::new(&[(
        "remove",
        "description: Removes its own folder
steps:
  - { id: remove, cwd: work, run: rm -r ../work; echo removed }
  - { id: next, cwd: work, needs: [remove], run: echo next >> ran.txt }
",
    )]);
    project.write("work/file", "");
    let said = project.abide(&["run", "remove"]).expect(5).says("remove │ removed");
    said.says("✗ next").says("it could not be started: cannot start `sh` in ").says("/work: ");
    project.abide(&["audit", "verify"]).expect(0);
}

#[test]
fn a_folder_that_a_script_closes_is_named_by_the_next_one() {
    let project = Project::new(&[(
        "close",
        "description: Takes the permissions of its folder away
steps:
  - { id: close, cwd: work, run: chmod 000 . }
  - { id: next, cwd: work, needs: [close], run: echo next >> ran.txt }
",
    )]);
    project.write("work/file", "");
    let said = without_powers(&project, &["run", "close"]).expect(5);
    said.says("✓ close").says("cannot start `sh` in ").says("/work: the folder may not be entered");
    Command::new("chmod").arg("700").arg(project.path("work")).status().unwrap();
}

#[test]
fn a_state_folder_that_a_script_removes_ends_the_run_with_the_reason() {
    let project = Project::new(&[(
        "remove",
        "description: Removes what abide keeps
steps:
  - { id: remove, run: rm -r .abide/state }
  - { id: next, needs: [remove], run: echo next >> ran.txt }
",
    )]);
    let said = project.abide(&["run", "remove"]).expect(4);
    said.says("error: cannot write to ").says("/.abide/state/log.db: ");
    assert_eq!(project.read("ran.txt"), "", "a step that cannot be in the log does not begin");
}
