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

const CHOOSES: &str = "description: Chooses
inputs:
  mood: { type: string, required: true, enum: [kind, stern] }
  size: { type: integer, required: true, min: 3 }
  key: { type: string, required: true, secret: true }
steps:
  - id: say
    run: printf '%s %s %s' {{inputs.mood}} {{inputs.size}} {{inputs.key}} > said.txt
";

#[test]
fn an_answer_that_is_no_value_is_asked_for_again() {
    let project = Project::new(&[("choose", CHOOSES)]);
    let mut terminal = project.terminal(&["run", "choose"]);
    terminal.sees("mood (one of \"kind\", \"stern\"):");
    terminal.types("cruel\r");
    terminal.sees("the input `mood` cannot be \"cruel\": it must be one of");
    terminal.types("kind\r");
    terminal.sees("size (integer):");
    terminal.types("two\r");
    terminal.sees("it must be an integer");
    terminal.types("2\r");
    terminal.sees("it must be at least 3");
    terminal.types("3\r");
    terminal.sees("\nkey:");
    std::thread::sleep(Duration::from_millis(300));
    terminal.types("abc\r");
    terminal.sees("the input `key`: ");
    std::thread::sleep(Duration::from_millis(300));
    terminal.types("hunter22\r");
    let (code, screen, raw) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(project.read("said.txt"), "kind 3 hunter22");
    assert!(!raw.contains("hunter22"), "{raw}");
}

#[test]
fn a_terminal_that_is_left_in_the_middle_of_a_secret_has_its_echo_again() {
    let project = Project::new(&[("choose", CHOOSES)]);
    let mut terminal = project.terminal(&["run", "choose", "-i", "mood=kind", "-i", "size=3"]);
    terminal.sees("key:");
    std::thread::sleep(Duration::from_millis(300));
    assert!(!terminal.echoes());
    terminal.types("\u{3}");
    terminal.sees("nothing was begun: `key` was not given");
    assert!(terminal.echoes(), "what is typed next is not seen");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 6, "{screen}");
    assert!(!project.path(".abide/state").exists());
}

#[test]
fn a_run_that_is_resumed_asks_for_its_secrets() {
    let steps = "  - { id: wait, type: approval, prompt: Go on?, needs: [] }\n  - id: say\n    needs: [wait]";
    let project = Project::new(&[("choose", &CHOOSES.replace("  - id: say", steps))]);
    let given = ["run", "choose", "-i", "mood=kind", "-i", "size=3", "-i", "key=hunter22"];
    let mut terminal = project.terminal(&given);
    terminal.sees("  >");
    terminal.kill();
    let mut terminal = project.terminal(&["resume"]);
    terminal.sees("key:");
    std::thread::sleep(Duration::from_millis(300));
    terminal.types("hunter22\r");
    terminal.sees("? wait: Go on?\n  approved / rejected\n  >");
    terminal.types("y\r");
    let (code, screen, raw) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(project.read("said.txt"), "kind 3 hunter22");
    assert!(!raw.contains("hunter22"), "{raw}");
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
