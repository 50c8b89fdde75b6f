//! Disks that are full or read-only: what is said, and that the run goes on once they are not.

use crate::namespace::{with_own_mounts, without_powers};
use crate::support::Project;
use std::os::unix::fs::PermissionsExt as _;

const FILL: &str = "description: Fills the disk
steps:
  - { id: first, run: echo first | tee -a ran.txt }
  - { id: fill, needs: [first], run: \"echo fill >> ran.txt; head -c 4000000 /dev/zero | tr '\\\\0' x\" }
  - { id: last, needs: [fill], run: echo last | tee -a ran.txt }
";

#[test]
fn a_disk_that_is_full_in_the_middle_of_a_run_loses_nothing() {
    let project = Project::new(&[("fill", FILL)]);
    project.write(".abide/state/keep", "");
    let script = r#"
        mount -t tmpfs -o size=3m none .abide/state
        code=0; "$ABIDE" run fill > out1 2> talk1 || code=$?; echo "$code" > code1
        df --output=avail .abide/state | tail -1 > left
        cp ran.txt ran1.txt
        "$ABIDE" status > status1
        "$ABIDE" audit verify > verify1
        mount -o remount,size=40m .abide/state
        code=0; "$ABIDE" resume > out2 2> talk2 || code=$?; echo "$code" > code2
        code=0; "$ABIDE" resume --rerun > out3 2> talk3 || code=$?; echo "$code" > code3
        "$ABIDE" audit verify > verify3
        "$ABIDE" logs > logs3
    "#;
    let Some(said) = with_own_mounts(&project, script) else { return };
    said.expect(0);
    let talk = project.read("talk1");
    let id = talk.split_whitespace().nth(1).unwrap();
    let file = project.path(".abide/state/log.db").canonicalize().ok();
    assert_eq!(project.read("code1"), "4\n", "{talk}");
    assert_eq!(project.read("left").trim(), "0");
    let expected = "/.abide/state/log.db: the disk is full\n  = nothing was half written: put that right and try again; ";
    assert!(talk.contains(expected), "{talk}");
    assert!(
        talk.contains(&format!("`abide resume {id}` drives the run on from where its log ends\n")),
        "{talk}"
    );
    assert!(file.is_none(), "the disk was the namespace's own");
    // What was done is done, what was under way is known, and nothing after it began.
    assert_eq!(project.read("ran1.txt"), "first\nfill\n");
    assert!(project.read("status1").contains("✓ first\n… fill\n· last\n"), "{}", project.read("status1"));
    assert_eq!(project.read("code2"), "8\n");
    assert!(project.read("talk2").contains("abide resume"), "{}", project.read("talk2"));
    assert_eq!(project.read("code3"), "0\n", "{}", project.read("talk3"));
    assert_eq!(project.read("ran.txt"), "first\nfill\nfill\nlast\n");
    // The first attempt's output ends where the disk did; the second one's is whole.
    let logs = project.read("logs3");
    assert!(logs.matches('x').count() > 4_000_000 && logs.ends_with("xlast\n"), "{}", logs.len());
}

#[test]
fn a_full_disk_before_a_run_keeps_it_from_beginning() {
    let project = Project::new(&[("fill", FILL)]);
    project.write(".abide/state/keep", "");
    let script = r#"
        mount -t tmpfs -o size=64k none .abide/state
        head -c 100000 /dev/zero > .abide/state/ballast || true
        code=0; "$ABIDE" run fill > out1 2> talk1 || code=$?; echo "$code" > code1
        test ! -e ran.txt
        rm .abide/state/ballast
        mount -o remount,size=40m .abide/state
        "$ABIDE" run fill > out2
    "#;
    let Some(said) = with_own_mounts(&project, script) else { return };
    said.expect(0);
    assert_eq!(project.read("code1"), "4\n");
    let talk = project.read("talk1");
    assert!(
        talk.starts_with("error: cannot write to /") && talk.contains("log.db: the disk is full"),
        "{talk}"
    );
    assert_eq!(project.read("ran.txt"), "first\nfill\nlast\n");
}

#[test]
fn output_has_no_holes_when_the_disk_is_full_for_a_while() {
    let project = Project::new(&[(
        "pause",
        "description: Writes before, while and after the disk is full
steps:
  - id: write
    run: |
      echo before; sleep 0.3
      head -c 3000000 /dev/zero > .abide/state/ballast 2>/dev/null || true
      head -c 2000000 /dev/zero | tr '\\0' x; sleep 0.3
      rm .abide/state/ballast; sleep 0.3
      echo after
",
    )]);
    project.write(".abide/state/keep", "");
    let script = r#"
        mount -t tmpfs -o size=3m none .abide/state
        "$ABIDE" run pause > out
        "$ABIDE" logs > logs
    "#;
    let Some(said) = with_own_mounts(&project, script) else { return };
    said.expect(0);
    let logs = project.read("logs");
    let rest = logs.trim_start_matches("before\n").trim_start_matches('x');
    assert!(logs.starts_with("before\n"), "{:?}", &logs[..20]);
    assert!(
        rest.starts_with("\n[abide: the rest of this output was not kept: cannot write to /"),
        "{rest:?}"
    );
    assert!(rest.ends_with("log.db: the disk is full]\n"), "{rest:?}");
}

#[test]
fn a_state_folder_that_is_read_only_is_named() {
    let project = Project::new(&[("fill", FILL)]);
    project.write(".abide/state/keep", "");
    let folder = project.path(".abide/state");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o500)).unwrap();
    let said = without_powers(&project, &["run", "fill"]).expect(4);
    let said = said.says("error: cannot write to ").says("/.abide/state/log.db: Permission denied");
    said.says("nothing was half written: put that right and try again");
    assert_eq!(project.read("ran.txt"), "");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    without_powers(&project, &["run", "fill"]).expect(0);
}

#[test]
fn a_read_only_disk_can_be_looked_at_and_not_written_to() {
    let project = Project::new(&[("fill", FILL)]);
    project.write(".abide/state/keep", "");
    let script = r#"
        mount -t tmpfs none .abide/state
        "$ABIDE" run fill > out1
        mount -o remount,ro .abide/state
        code=0; "$ABIDE" run fill > out2 2> talk2 || code=$?; echo "$code" > code2
        "$ABIDE" status > status3 2> talk3
        "$ABIDE" logs > logs3
        "$ABIDE" audit verify > verify3
    "#;
    let Some(said) = with_own_mounts(&project, script) else { return };
    let talk = project.read("talk2");
    assert_eq!(project.read("code2"), "4\n", "{talk}");
    assert!(talk.contains("log.db: the file or its folder is read-only"), "{talk}");
    assert_eq!(said.code, 0, "{}{}", said.talk, project.read("talk3"));
    assert!(project.read("status3").contains("completed"), "{}", project.read("status3"));
}
