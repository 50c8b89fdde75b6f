//! The live list, colours, and windows that are narrow or change.

use crate::pty::Project;

const TWO: &str = "description: Two steps
steps:
  - id: build
    run: echo compiling everything there is; sleep 1
  - id: test
    needs: [build]
    run: echo testing; sleep 0.5; exit 3
    on_failure: continue
";

/// Returns the lines that stay, with times and ids left out.
fn lasting(screen: &str) -> Vec<String> {
    let lines = screen.lines().skip_while(|line| !line.starts_with("run ")).skip(1);
    lines.map(|line| line.split(" (").next().unwrap().to_owned()).collect()
}

#[test]
fn what_is_under_way_turns_and_is_gone_when_it_is_done() {
    let project = Project::new(&[("two", TWO)]);
    let terminal = project.terminal(&["run", "two"]);
    terminal.sees("build (0s)  compiling everything there is");
    let (code, screen, raw) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    let turned = |sign: char| raw.contains(&format!("{sign} build (0s)  compiling"));
    assert!("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".chars().filter(|sign| turned(*sign)).count() > 3, "{raw}");
    assert_eq!(lasting(&screen), ["✓ build", "  test │ testing", "✗ test", "✓ completed"], "{screen}");
}

#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let project = Project::new(&[("two", TWO)]);
    let (_, _, raw) = project.terminal(&["run", "two"]).ends();
    assert!(raw.contains("\u{1b}[32m✓\u{1b}[0m build"), "{raw}");
    assert!(raw.contains("\u{1b}[1;31m✗\u{1b}[0m test"), "{raw}");
    let (_, screen, raw) = project.terminal_with(80, &[("NO_COLOR", "1")], &["run", "two"]).ends();
    assert!(!raw.contains("m✓") && !raw.contains("[0m"), "{raw}");
    assert_eq!(lasting(&screen).len(), 4, "{screen}");
    let (_, _, raw) = project.terminal(&["run", "two", "--color", "never"]).ends();
    assert!(!raw.contains("[0m"), "{raw}");
    let piped = String::from_utf8(project.elsewhere(&["run", "two"]).stdout).unwrap();
    assert!(!piped.contains('\u{1b}') && piped.contains("✓ build"), "{piped}");
}

#[test]
fn twenty_columns_are_enough() {
    let project = Project::new(&[("two", TWO)]);
    let terminal = project.terminal_with(20, &[], &["run", "two"]);
    terminal.saw("build (0s)  compi");
    let (code, screen, raw) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains(['⠋', '⠙', '⠹', '⠸', '⠼', '⠴']), "a row is left: {screen}");
    for row in raw.split(['\r', '\n']).filter(|row| row.contains(['⠋', '⠙', '⠹'])) {
        let shown = row.trim_start_matches("\u{1b}[J").chars().count();
        assert!(shown < 20, "{shown} columns: {row:?}");
    }
    let screen = screen.replace('\n', "");
    for part in ["✓ build (", "test │ testing", "it exited with code 3", "✓ completed"] {
        assert_eq!(screen.matches(part).count(), 1, "{part}: {screen}");
    }
}

#[test]
fn a_window_that_changes_loses_nothing() {
    let project = Project::new(&[("two", TWO)]);
    let terminal = project.terminal_with(100, &[], &["run", "two"]);
    terminal.sees("build (0s)  compiling everything there is");
    for width in [30, 60, 24, 90] {
        terminal.resize(width);
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    let (code, screen, raw) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(lasting(&screen), ["✓ build", "  test │ testing", "✗ test", "✓ completed"], "{screen}");
    assert!(raw.contains("build (0s)  compiling\r\n"), "a row of 24 columns was drawn: {raw}");
}
