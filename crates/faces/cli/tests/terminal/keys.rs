//! Ctrl-C once asks the run to stop, twice ends everything; inputs that are missing are typed.

use crate::pty::Project;
use std::time::{Duration, Instant};

#[test]
fn control_c_once_asks_steps_to_end_and_cancels_the_run() {
    let project = Project::new(&[(
        "slow",
        "description: Listens
steps:
  - id: slow
    run: trap 'echo asked > asked.txt; exit 1' TERM; echo ready; sleep 60 & wait
",
    )]);
    let mut terminal = project.terminal(&["run", "slow"]);
    terminal.sees("slow (0s)  ready");
    terminal.types("\u{3}");
    terminal.sees("stopping; press Ctrl-C again to end everything at once");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 6, "{screen}");
    assert_eq!(project.read("asked.txt"), "asked\n");
    assert!(screen.contains("○ slow cancelled") && screen.contains("✗ cancelled"), "{screen}");
}

#[test]
fn control_c_twice_does_not_wait_for_who_does_not_listen() {
    let project = Project::new(&[(
        "deaf",
        "description: Does not listen
steps:
  - id: deaf
    run: trap '' TERM; echo $$ > pid; echo ready; while :; do sleep 0.1; done
",
    )]);
    let mut terminal = project.terminal(&["run", "deaf"]);
    terminal.sees("deaf (0s)  ready");
    terminal.types("\u{3}");
    terminal.sees("stopping");
    let began = Instant::now();
    terminal.types("\u{3}");
    let (code, screen, _) = terminal.ends();
    assert!(began.elapsed() < Duration::from_secs(4), "it waited: {screen}");
    assert_eq!(code, 8, "{screen}");
    assert!(screen.contains("everything was ended at once"), "{screen}");
    let left = format!("/proc/{}", project.read("pid").trim());
    assert!(!std::path::Path::new(&left).exists(), "{left} is left");
    let said = project.elsewhere(&["resume"]);
    assert_eq!(said.status.code(), Some(6), "{}", String::from_utf8_lossy(&said.stdout));
}

#[test]
fn inputs_that_are_missing_are_asked_for_and_secrets_are_not_echoed() {
    let project = Project::new(&[(
        "greet",
        "description: Greets
inputs:
  name: { type: string, required: true, description: who is greeted }
  key: { type: string, required: true, secret: true }
  mood: { type: string, default: kind }
steps:
  - id: greet
    run: printf '%s %s %s' {{inputs.name}} {{inputs.key}} {{inputs.mood}} > greeted.txt
",
    )]);
    let mut terminal = project.terminal(&["run", "greet"]);
    terminal.sees("name (who is greeted):");
    terminal.types("Grace\r");
    terminal.sees("\nkey:");
    // The echo is off once the question stands there; what is typed earlier would be thrown away.
    std::thread::sleep(Duration::from_millis(200));
    terminal.types("hunter22\r");
    let (code, screen, raw) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(project.read("greeted.txt"), "Grace hunter22 kind");
    assert!(!raw.contains("hunter22"), "{raw}");
}
