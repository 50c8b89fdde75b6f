//! A clock that is set back: what is due stays due, and the log stays in order.

use crate::support::{Project, Said};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Moves the clock of a process by the seconds that a file holds, which may change at any time.
const MOVED: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    const char *name = getenv("MOVED");
    FILE *file = clock == CLOCK_REALTIME && name ? fopen(name, "r") : NULL;
    if (file) {
        long seconds = 0;
        if (fscanf(file, "%ld", &seconds) == 1) time->tv_sec += seconds;
        fclose(file);
    }
    return result;
}
"#;

fn library(project: &Project) -> PathBuf {
    project.write("moved.c", MOVED);
    let library = project.path("moved.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(project.path("moved.c")).arg("-ldl");
    let made = compiler.output().expect("a C compiler, which Rust links with");
    assert!(made.status.success(), "{made:?}");
    library
}

fn moved(project: &Project, library: &Path, arguments: &[&str]) -> Command {
    let mut command = project.command(arguments);
    command.env("LD_PRELOAD", library).env("MOVED", project.path("seconds"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the times of the events of the newest run.
fn times(project: &Project) -> Vec<i64> {
    let log = rusqlite::Connection::open(project.path(".abide/state/log.db")).unwrap();
    let mut statement = log.prepare("SELECT at FROM events ORDER BY seq").unwrap();
    statement.query_map((), |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Waits for the end, which must come soon.
#[track_caller]
fn soon(mut child: Child) -> Said {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("it waits: {:?}", Said::of(child.wait_with_output().unwrap()));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Said::of(child.wait_with_output().unwrap())
}

#[test]
fn a_clock_that_is_set_back_in_the_middle_of_a_run_delays_nothing() {
    let project = Project::new(&[(
        "back",
        "description: Sets the clock back by a day while something is due in a moment
settings: { parallel: true }
steps:
  - { id: flaky, run: 'test -e seen || { touch seen; exit 1; }', on_failure: retry, retry_delay: 2s }
  - { id: ask, type: approval, prompt: Quick?, timeout: 3s }
  - { id: back, run: sleep 0.5; echo -86400 > seconds }
",
    )]);
    let library = library(&project);
    project.write("seconds", "0");
    let said = soon(moved(&project, &library, &["run", "back"]).spawn().unwrap()).expect(5);
    said.says("✓ back").says("✓ flaky").says("✗ ask: nobody answered in time");
    assert_eq!(project.read("seconds"), "-86400\n");
    let times = times(&project);
    assert!(times.is_sorted() && times.last().unwrap() - times[0] < 20_000, "{times:?}");
    project.abide(&["audit", "verify"]).expect(0);
}

#[test]
fn a_clock_that_is_set_back_between_two_drivers_delays_nothing() {
    let project = Project::new(&[(
        "later",
        "description: Is tried again a little later
steps:
  - { id: flaky, run: 'test -e seen || { touch seen; exit 1; }', on_failure: retry, retry_delay: 2s }
",
    )]);
    let library = library(&project);
    project.write("seconds", "0");
    let mut child = moved(&project, &library, &["run", "later"]).spawn().unwrap();
    project.wait_for("waiting");
    child.kill().unwrap();
    child.wait().unwrap();
    project.write("seconds", "-86400");
    soon(moved(&project, &library, &["resume"]).spawn().unwrap()).expect(0).says("✓ flaky");
    assert!(times(&project).is_sorted(), "{:?}", times(&project));
    project.abide(&["audit", "verify"]).expect(0);
}
