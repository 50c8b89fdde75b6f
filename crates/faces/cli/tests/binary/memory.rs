//! What the worst folders cost: never more than 256 MB.

use crate::support::{GOOD, Project};
use crate::watch::Watching;
use std::fmt::Write as _;
use std::fs::File;

const MOST_KILOBYTES: u64 = 256 * 1024;

/// Returns the most memory that a validation held; it is kept alive by `--watch`, to be asked.
fn peak(project: &Project) -> u64 {
    let watching = Watching::start(project);
    let status = std::fs::read_to_string(format!("/proc/{}/status", watching.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[track_caller]
fn assert_bounded(project: &Project) {
    let peak = peak(project);
    assert!(peak < MOST_KILOBYTES, "{peak} KB");
}

#[test]
fn many_files() {
    let project = Project::new();
    for number in 0..25_000 {
        project.write(&format!(".abide/abilities/{number:05}.yaml"), GOOD);
    }
    assert_bounded(&project);
}

#[test]
fn many_broken_files() {
    let project = Project::new();
    let mut broken = String::from("description: x\nsteps:\n");
    for number in 0..200 {
        writeln!(broken, "  - {{ id: s{number}, run: ls, needs: [n{number}], extra{number}: 1 }}").unwrap();
    }
    for number in 0..20 {
        project.write(&format!(".abide/abilities/{number:05}.yaml"), &broken);
    }
    assert_bounded(&project);
}

#[test]
fn large_files() {
    let project = Project::new();
    for number in 0..8 {
        let name = format!(".abide/abilities/huge{number}/ability.yaml");
        project.write(&name, GOOD);
        File::options().append(true).open(project.path(&name)).unwrap().set_len(50 << 20).unwrap();
    }
    let mut steps = String::from("description: x\nsteps:\n");
    for number in 0..50_000 {
        writeln!(steps, "  - {{ id: s{number}, run: ls, needs: [s{}] }}", (number + 1) % 50_000).unwrap();
    }
    project.write(".abide/abilities/long.yaml", steps);
    assert_bounded(&project);
}

#[test]
fn aliases_of_aliases() {
    let project = Project::new();
    let mut bomb = String::from("description: x\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{items}]").unwrap();
    }
    bomb.push_str("steps: *a11\n");
    project.write(".abide/abilities/bomb.yaml", bomb);
    assert_bounded(&project);
}
