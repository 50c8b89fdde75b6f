//! Processes that die, and processes that share a file.
//!
//! The child is this program, started again for the test [`child`] with a task in its environment. It says on its
//! standard output what was acknowledged.

mod common;

use abide_engine::port::{Store as _, StoreError};
use abide_store_sqlite::{Settings, SqliteStore};
use abide_testkit::ManualClock;
use abide_testkit::store::{Subject as _, check};
use common::{SqliteSubject, append};
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

const TASK: &str = "ABIDE_TEST_CHILD";

#[expect(clippy::disallowed_methods, reason = "a test of crashes needs a process to crash")]
fn start(path: &Path, task: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(TASK, format!("{task} {}", path.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not a test by itself: what a child does until it is killed, or until it is done.
#[test]
#[expect(clippy::disallowed_methods, reason = "the task of a child is in its environment")]
fn child() {
    let Ok(task) = std::env::var(TASK) else { return };
    let mut words = task.splitn(3, ' ');
    let (streams, most) = (words.next().unwrap().to_owned(), words.next().unwrap().parse().unwrap());
    let path = PathBuf::from(words.next().unwrap());
    check(async move {
        let store = std::sync::Arc::new(SqliteStore::open(&path, Settings::new(|| 7)).unwrap());
        let mut tasks = tokio::task::JoinSet::new();
        for stream in streams.split(',').map(str::to_owned) {
            let store = store.clone();
            tasks.spawn(async move {
                let mut end = store.head(&stream).await.unwrap().map_or(0, |head| head.seq);
                let mut appended = 0;
                while appended < most {
                    match append(&*store, &stream, end, &format!("by {}", std::process::id())).await {
                        Ok(seq) => {
                            end = seq;
                            appended += 1;
                            let mut line = format!("acknowledged {stream} {seq}\n");
                            line.insert(0, '\n'); // what the test harness prints has no line end
                            std::io::stdout().write_all(line.as_bytes()).unwrap();
                        }
                        Err(StoreError::Conflict { found, .. }) => end = found,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        tasks.join_all().await;
    });
}

type Output = BufReader<ChildStdout>;

/// Returns the next event that a child says to be acknowledged; the rest of a line that was cut off does not count.
fn next_acknowledged(output: &mut Output) -> Option<(String, u64)> {
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        if let Some(said) = line.strip_prefix("acknowledged ").and_then(|said| said.strip_suffix('\n')) {
            let (stream, seq) = said.rsplit_once(' ').unwrap();
            return Some((stream.to_owned(), seq.parse().unwrap()));
        }
        line.clear();
    }
    None
}

/// Returns the last acknowledged event of each stream.
fn acknowledged(mut output: Output) -> HashMap<String, u64> {
    std::iter::from_fn(|| next_acknowledged(&mut output)).collect()
}

fn subject() -> SqliteSubject {
    SqliteSubject::new(ManualClock::at(0))
}

#[test]
fn a_killed_process_loses_nothing_that_was_acknowledged() {
    check(async {
        let subject = subject();
        let names = ["a", "b", "c", "d"];
        let mut chance = 12345_u32;
        for round in 0..30 {
            let mut child = start(&subject.path(), &format!("{} 1000000000", names.join(",")));
            let mut output = BufReader::new(child.stdout.take().unwrap());
            // Every other one is killed at any time, also while it opens the file; the others while they append.
            if round % 2 == 0 {
                next_acknowledged(&mut output).expect("it appends");
            }
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            std::thread::sleep(Duration::from_micros(u64::from(chance >> 16)));
            child.kill().unwrap();
            let said = acknowledged(output);
            child.wait().unwrap();
            let store = subject.open();
            for name in names {
                let acknowledged = said.get(name).copied().unwrap_or(0);
                let events = match store.read(name, 0..u64::MAX).await {
                    Err(StoreError::Unknown(_)) if acknowledged == 0 => Vec::new(),
                    events => events.unwrap(), // no gap, and the chain is whole
                };
                assert!(events.len() as u64 >= acknowledged, "{name}: {} of {acknowledged}", events.len());
                append(&store, name, events.len() as u64, "after").await.unwrap();
            }
        }
    });
}

#[test]
fn two_processes_share_a_file() {
    check(async {
        let subject = subject();
        // Both also make the file.
        let children = ["both,x", "both,y"].map(|streams| start(&subject.path(), &format!("{streams} 200")));
        for mut child in children {
            let said = acknowledged(BufReader::new(child.stdout.take().unwrap()));
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(said.len(), 2);
        }
        let store = subject.open();
        for (stream, length) in [("both", 400), ("x", 200), ("y", 200)] {
            assert_eq!(store.read(stream, 0..u64::MAX).await.unwrap().len(), length);
        }
        let writers: std::collections::HashSet<_> =
            store.read("both", 0..u64::MAX).await.unwrap().into_iter().map(|event| event.data).collect();
        assert_eq!(writers.len(), 2);
    });
}

/// Mounts a small disk; says why if it cannot.
#[expect(clippy::disallowed_methods, reason = "mounting is a program's work")]
#[expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]
fn mount(folder: &Path, options: &str) -> bool {
    let output =
        Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder).output().unwrap();
    if !output.status.success() {
        eprintln!("skipped: cannot mount a tmpfs: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    output.status.success()
}

/// Ends a mount, also when the test fails.
struct Mounted(PathBuf);

impl Drop for Mounted {
    #[expect(clippy::disallowed_methods, reason = "mounting is a program's work")]
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_disk_that_is_really_full_writes_nothing_and_recovers() {
    let folder = tempfile::tempdir().unwrap();
    if !mount(folder.path(), "size=2m") {
        return;
    }
    let mounted = Mounted(folder.path().to_owned());
    let path = mounted.0.join("abide.db");
    check(async move {
        let store = SqliteStore::open(&path, Settings::new(|| 7)).unwrap();
        append(&store, "s", 0, "{}").await.unwrap();
        let ballast = path.with_file_name("ballast");
        let mut file = std::fs::File::create(&ballast).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        drop(file);
        let (mut end, mut failures) = (1, 0);
        while failures < 5 {
            match append(&store, "s", end, &"x".repeat(10_000)).await {
                Ok(seq) => end = seq,
                Err(StoreError::Unwritable { .. }) => failures += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(store.read("s", 0..u64::MAX).await.unwrap().len() as u64, end);
        #[expect(clippy::disallowed_methods, reason = "space returns when the file goes")]
        std::fs::remove_file(ballast).unwrap();
        append(&store, "s", end, &"x".repeat(10_000)).await.unwrap();
        assert_eq!(store.read("s", 0..u64::MAX).await.unwrap().len() as u64, end + 1);
    });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "mounting is a program's work")]
fn a_read_only_disk_is_said() {
    let folder = tempfile::tempdir().unwrap();
    if !mount(folder.path(), "size=2m") {
        return;
    }
    let mounted = Mounted(folder.path().to_owned());
    let path = mounted.0.join("abide.db");
    check(async move {
        let store = SqliteStore::open(&path, Settings::new(|| 7)).unwrap();
        append(&store, "s", 0, "{}").await.unwrap();
        drop(store);
        let remount = |options| {
            let status = Command::new("mount").args(["-o", options]).arg(path.parent().unwrap()).status();
            assert!(status.unwrap().success());
        };
        remount("remount,ro");
        let store = SqliteStore::open(&path, Settings::new(|| 7)).unwrap();
        assert_eq!(store.read("s", 0..9).await.unwrap().len(), 1, "it can still be read");
        let error = append(&store, "s", 1, "{}").await.unwrap_err();
        let expected = format!("cannot write to {}: the file or its folder is read-only", path.display());
        assert_eq!(error.to_string(), expected);
        let missing = SqliteStore::open(&path.with_file_name("new/abide.db"), Settings::new(|| 7));
        assert!(matches!(missing.err(), Some(StoreError::Unwritable { .. })));
        remount("remount,rw");
        append(&store, "s", 1, "{}").await.unwrap();
    });
}
