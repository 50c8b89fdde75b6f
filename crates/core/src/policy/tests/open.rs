//! What the gate cannot see, kept as a list so that docs/threat-model.md says what is so.

use super::*;

/// Each line gets past the gate although it could lead to a reserved command. One that is shut some day moves to `doors`.
const OPEN: &[(&str, &str)] = &[
    ("a copy made by reading", "cat deploy.sh > /tmp/x"),
    ("a copy made by reading, through a pipe", "head -n 1000 deploy.sh | tee x"),
    ("an archive of it", "tar cf x.tar deploy.sh"),
    ("the copy, in a later call", "/tmp/x now"),
    ("a copy of the whole project, in a later call", "/tmp/copy/deploy.sh now"),
    ("a work tree that is made now and used later", "git worktree add ../w"),
    ("an archive that may hold it", "tar xf x.tar"),
    ("a hard link that is there already", "./hard-link-to-deploy now"),
    ("a script that calls it", "sh ./other.sh"),
    ("a program that calls it", "python3 tool.py"),
    ("a task of another name that calls it", "make ship"),
    ("a test that calls it", "cargo test"),
    ("the address that it would call, by a program that is not protected", "curl https://deploy.example.com"),
];

#[test]
fn what_no_line_shows_is_not_stopped() {
    let shut: Vec<&str> = OPEN
        .iter()
        .filter(|(_, command)| is_denied(&judge(&free(), &bash(command))))
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(shut, Vec::<&str>::new(), "these are stopped by now: say so in docs/threat-model.md");
}

#[test]
fn a_run_that_grants_no_shell_stops_these_too() {
    let strict = running("deploy", Enforcement::Strict, step(StepType::Agent, only(&["Read"])));
    for (name, command) in OPEN {
        assert!(is_denied(&judge(&strict, &bash(command))), "{name}");
    }
}
