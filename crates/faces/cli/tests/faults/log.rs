//! A log that others hold or that is damaged: said with its place, and never made worse.

use crate::support::{APPROVAL, Project, Said};
use rusqlite::Connection;

const PLAIN: &str = "description: d\nsteps: [{id: a, run: echo a >> ran.txt}]\n";

fn log(project: &Project) -> Connection {
    Connection::open(project.path(".abide/state/log.db")).unwrap()
}

#[test]
fn a_log_that_another_process_keeps_locked_is_said_and_can_be_looked_at() {
    let project = Project::new(&[("plain", PLAIN)]);
    project.abide(&["run", "plain"]).expect(0);
    let other = log(&project);
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let said = project.abide(&["run", "plain"]).expect(4);
    let said =
        said.says("error: cannot write to ").says("log.db: another process has kept it locked for too long");
    said.says("  = nothing was half written: put that right and try again\n");
    assert_eq!(project.read("ran.txt"), "a\n");
    project.abide(&["status"]).expect(0).says("completed");
    other.execute_batch("ROLLBACK").unwrap();
    project.abide(&["run", "plain"]).expect(0);
    project.abide(&["audit", "verify"]).expect(0);
}

#[test]
fn a_log_that_is_locked_for_a_moment_delays_a_run_and_nothing_else() {
    let project = Project::new(&[("ask", APPROVAL)]);
    let child = project.start(&["run", "ask"]);
    let id = project.wait_for("waiting");
    let other = log(&project);
    other.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    project.abide(&["approve", &id]).expect(0);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    other.execute_batch("ROLLBACK").unwrap();
    Said::of(child.wait_with_output().unwrap()).expect(0);
    assert_eq!(project.read("gone.txt"), "gone\n");
}

/// Damages the log of a project with one run; returns what `run`, `status` and `audit verify` say.
fn damaged(damage: impl Fn(&mut Vec<u8>)) -> (Project, [Said; 3]) {
    let project = Project::new(&[("plain", PLAIN)]);
    project.abide(&["run", "plain"]).expect(0);
    let file = project.path(".abide/state/log.db");
    let mut bytes = std::fs::read(&file).unwrap();
    damage(&mut bytes);
    std::fs::write(&file, &bytes).unwrap();
    let said = [&["run", "plain"][..], &["status"], &["audit", "verify"]].map(|line| project.abide(line));
    assert!(std::fs::read(&file).unwrap() == bytes, "what is damaged is left as it is: {said:#?}");
    (project, said)
}

#[test]
fn a_log_of_random_bytes_is_refused_and_left_alone() {
    let (project, said) = damaged(|bytes| {
        let mut number = 1_u32;
        for byte in bytes.iter_mut() {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (number >> 24) as u8;
        }
    });
    for said in said {
        said.expect(4)
            .says("log.db: the file is damaged; move it away to start with an empty log, or put a copy");
    }
    assert_eq!(project.read("ran.txt"), "a\n");
}

#[test]
fn a_log_that_is_cut_off_is_refused_and_left_alone() {
    for keep in [0.9, 0.5, 0.2] {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let (project, said) = damaged(|bytes| bytes.truncate((bytes.len() as f64 * keep) as usize));
        for said in said {
            said.expect(4).says("log.db: the file is damaged");
        }
        assert_eq!(project.read("ran.txt"), "a\n", "{keep}");
    }
}

#[test]
fn a_log_of_another_program_is_refused_and_left_alone() {
    // The application id stands at the 68th byte of the header.
    let (_, said) = damaged(|bytes| bytes[68..72].copy_from_slice(b"mine"));
    for said in said {
        said.expect(4)
            .says("log.db: it is the database of another program; name another file, or move it away");
    }
}

#[test]
fn a_log_of_no_bytes_is_an_empty_log() {
    let project = Project::new(&[("plain", PLAIN)]);
    project.write(".abide/state/log.db", "");
    project.abide(&["runs"]).expect(0);
    project.abide(&["run", "plain"]).expect(0);
    project.abide(&["audit", "verify"]).expect(0);
}
