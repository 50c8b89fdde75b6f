//! Questions are asked where the run is shown, one at a time, and answered by typing.

use crate::pty::Project;
use std::time::Duration;

const ASK: &str = "description: Asks
steps:
  - { id: approve, type: approval, prompt: Go on? }
  - { id: go, needs: [approve], run: echo gone >> gone.txt }
";

#[test]
fn an_approval_is_asked_and_answered_by_typing() {
    let project = Project::new(&[("ask", ASK)]);
    let mut terminal = project.terminal(&["run", "ask"]);
    terminal.sees("? approve: Go on?\n  approved / rejected\n  >");
    terminal.types("perhaps\r");
    terminal.sees("`perhaps` is not an answer to `approve`: the answers are `approved`, `rejected`\n  >");
    terminal.types("yes\r");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(project.read("gone.txt"), "gone\n");
    assert!(screen.contains("✓ approve answered `approved` by ada"), "{screen}");
}

#[test]
fn what_an_agent_started_is_not_asked_on_a_terminal() {
    for mark in ["CLAUDECODE", "OPENCODE", "CODEX_THREAD_ID", "ABIDE_MARK", "ABIDE_SEAT"] {
        let project = Project::new(&[("ask", ASK)]);
        let mut terminal = project.terminal_with(80, &[(mark, "1")], &["run", "ask"]);
        terminal.sees("nobody is asked here, because this process was started by");
        terminal.sees("abide approve");
        terminal.types("yes\rapproved\r");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(project.read("gone.txt"), "", "{mark}: {}", terminal.screen());
        // A human decides elsewhere.
        assert!(project.elsewhere(&["approve"]).status.success());
        let (code, screen, _) = terminal.ends();
        assert_eq!((code, project.read("gone.txt").as_str()), (0, "gone\n"), "{screen}");
    }
}

#[test]
fn a_no_is_typed_too() {
    let project = Project::new(&[("ask", ASK)]);
    let mut terminal = project.terminal(&["run", "ask"]);
    terminal.sees("  >");
    terminal.types("n\r");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 5, "{screen}");
    assert_eq!(project.read("gone.txt"), "");
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    let project = Project::new(&[(
        "ask",
        "description: Asks late
steps:
  - { id: slow, run: echo busy; sleep 1 }
  - { id: approve, type: approval, prompt: Go on?, needs: [slow] }
",
    )]);
    let mut terminal = project.terminal(&["run", "ask"]);
    terminal.sees("slow (0s)  busy");
    terminal.types("yes\r");
    terminal.sees("? approve: Go on?");
    std::thread::sleep(Duration::from_millis(300));
    assert!(!terminal.screen().contains("answered"), "{}", terminal.screen());
    terminal.types("no\r");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 5, "{screen}");
}

#[test]
fn two_questions_are_asked_one_after_the_other() {
    let project = Project::new(&[(
        "both",
        "description: Asks twice at once
settings: { parallel: true }
steps:
  - { id: first, type: approval, prompt: The first? }
  - { id: second, type: approval, prompt: The second?, needs: [] }
  - { id: slow, run: sleep 0.5 }
",
    )]);
    let mut terminal = project.terminal(&["run", "both"]);
    terminal.sees("? second: The second?\n");
    terminal.sees("approved / rejected\n");
    // What is done meanwhile stands above the prompt.
    terminal.sees("✓ slow");
    assert!(terminal.screen().ends_with("\n  >"), "{}", terminal.screen());
    assert_eq!(terminal.screen().matches("approved / rejected").count(), 1, "{}", terminal.screen());
    terminal.types("y\r");
    terminal.sees("✓ first answered `approved`");
    terminal.sees("? second: The second?\n  approved / rejected\n  >");
    assert!(!terminal.screen().contains("second answered"), "{}", terminal.screen());
    terminal.types("n\r");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 5, "{screen}");
    assert!(screen.contains("second answered `rejected`"), "{screen}");
}

#[test]
fn an_answer_from_elsewhere_takes_the_question_off_and_the_next_line_is_for_the_next_one() {
    let project = Project::new(&[(
        "both",
        "description: Asks twice
steps:
  - { id: first, type: approval, prompt: The first? }
  - { id: second, type: approval, prompt: The second?, needs: [first] }
",
    )]);
    let mut terminal = project.terminal(&["run", "both"]);
    terminal.sees("? first: The first?\n  approved / rejected\n  >");
    assert!(project.elsewhere(&["approve"]).status.success());
    terminal.sees("? second: The second?\n  approved / rejected\n  >");
    terminal.types("no\r");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 5, "{screen}");
    assert!(screen.contains("first answered `approved`") && screen.contains("second answered `rejected`"));
}

#[test]
fn a_failure_in_a_called_ability_is_asked_about_at_the_callers_terminal() {
    let project = Project::new(&[
        (
            "outer",
            "description: Calls\nsteps:\n  - { id: call, workflow: inner }\n  - { id: end, needs: [call], run: echo ended > ended.txt }\n",
        ),
        (
            "inner",
            "description: Is called
steps:
  - { id: approve, type: approval, prompt: Inside? }
  - { id: shaky, needs: [approve], run: exit 7, on_failure: ask }
",
        ),
    ]);
    let mut terminal = project.terminal(&["run", "outer"]);
    terminal.sees("? approve: Inside?\n  approved / rejected\n  >");
    terminal.types("approve\r");
    terminal.sees("retry / skip / stop\n  >");
    terminal.types("Skip\r");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(project.read("ended.txt"), "ended\n");
}

#[test]
fn a_plan_is_shown_and_agreed_to_by_typing() {
    let project = Project::new(&[(
        "planned",
        "description: Needs a yes first\nsettings: { plan_approval: true }\nsteps:\n  - { id: go, run: echo gone > gone.txt }\n",
    )]);
    let mut terminal = project.terminal(&["run", "planned"]);
    terminal.sees("? the plan waits to be approved\n  approved / rejected\n  >");
    assert_eq!(project.read("gone.txt"), "");
    terminal.types("maybe\r");
    terminal.sees("`maybe` is not an answer");
    terminal.types("y\r");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(project.read("gone.txt"), "gone\n");
}

#[test]
fn a_run_that_is_resumed_asks_again_what_it_waits_for() {
    let project = Project::new(&[("ask", ASK)]);
    let mut terminal = project.terminal(&["run", "ask"]);
    terminal.sees("  >");
    terminal.kill();
    let mut terminal = project.terminal(&["resume"]);
    terminal.sees("? approve: Go on?\n  approved / rejected\n  >");
    terminal.types("y\r");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(project.read("gone.txt"), "gone\n");
}

#[test]
fn a_skill_of_the_project_that_would_run_commands_is_asked_about_once_and_again_when_it_changes() {
    let project = Project::new(&[]);
    let write = |command: &str| {
        let file = project.path(".abide/skills/x/SKILL.md");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("---\nname: x\ndescription: x\n---\nSays !`{command}` now.\n")).unwrap();
    };
    write("echo one");
    let home = project.path("home").display().to_string();
    let expand = || project.terminal_with(200, &[("HOME", &home)], &["skill", "expand", "x"]);
    let mut terminal = expand();
    terminal.sees("trust it, until it changes? [y/N]");
    assert!(terminal.screen().contains("the skill x came with the project, and would run, as you:"));
    assert!(terminal.screen().contains("  echo one"), "{}", terminal.screen());
    terminal.types("n\r");
    let (_, screen, _) = terminal.ends();
    assert!(screen.contains("[not run: the skill came with the project"), "{screen}");
    let mut terminal = expand();
    terminal.sees("trust it, until it changes? [y/N]");
    terminal.types("y\r");
    let (_, screen, _) = terminal.ends();
    assert!(screen.contains("Says one now."), "{screen}");
    let (_, screen, _) = expand().ends();
    assert!(screen.contains("Says one now.") && !screen.contains("[y/N]"), "it is asked once: {screen}");
    write("echo two");
    let mut terminal = expand();
    terminal.sees("trust it, until it changes? [y/N]");
    assert!(terminal.screen().contains("the skill x has changed since it was trusted"));
    terminal.types("\r");
    let (_, screen, _) = terminal.ends();
    assert!(screen.contains("[not run: the skill changed"), "{screen}");
}
