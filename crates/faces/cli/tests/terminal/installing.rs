//! Codex runs hooks that a person has approved; the question stands on the screen, and only a yes is one.

use crate::pty::{Project, Terminal};

fn install(project: &Project) -> Terminal {
    let home = project.path("home");
    project.terminal_with(200, &[("HOME", home.to_str().unwrap())], &["install", "codex"])
}

#[test]
fn hooks_are_approved_by_typing_yes() {
    let project = Project::new(&[]);
    let mut terminal = install(&project);
    terminal.saw("Approve these 8 of abide");
    assert_eq!(project.read(".codex/hooks.json"), "", "nothing is written before the answer");
    terminal.types("y\r");
    let (code, screen, _) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(project.read(".codex/hooks.json").contains("hook codex PreToolUse"), "{screen}");
}

#[test]
fn anything_else_is_a_no() {
    for answer in ["n\r", "\r", "perhaps\r", "\u{4}"] {
        let project = Project::new(&[]);
        let mut terminal = install(&project);
        terminal.saw("Approve these 8 of abide");
        terminal.types(answer);
        let (code, screen, raw) = terminal.ends();
        assert_eq!(code, 9, "{screen}");
        assert!(raw.contains("the hooks were not approved; nothing was written"), "{screen}");
        assert!(!project.path(".codex").exists(), "{answer:?}");
    }
}
