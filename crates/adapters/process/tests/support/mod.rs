//! What the tests of processes share: specs of scripts, sinks that remember, and a look at who is still there.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(unreachable_pub, reason = "it is a module of several test binaries")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use abide_engine::port::{Cancel, Ending, Line, Process, ProcessError, Signal, Sink, Spec, Stream};
use tokio::sync::mpsc;

/// Nobody cancels.
pub const NEVER: fn() -> std::future::Pending<Signal> = std::future::pending::<Signal>;

/// A mark that no other process carries.
pub fn mark() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("test-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// `sh -c script` in the folder for temporary files.
pub fn script(script: &str) -> Spec {
    Spec {
        program: "/bin/sh".to_owned(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        folder: std::env::temp_dir(),
        variables: Vec::new(),
        without: Vec::new(),
        longest: Some(60_000),
        mark: mark(),
    }
}

/// A sink that remembers.
#[derive(Debug, Clone, Default)]
pub struct Seen(Arc<Mutex<[Vec<u8>; 2]>>);

impl Sink for Seen {
    async fn take(&mut self, line: Line) {
        assert!(line.bytes.len() <= 64 * 1024, "a chunk of {} bytes", line.bytes.len());
        self.0.lock().unwrap()[usize::from(line.stream == Stream::Stderr)].extend_from_slice(&line.bytes);
    }
}

impl Seen {
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()[0]).into_owned()
    }
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()[1]).into_owned()
    }
    pub fn stdout_bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap()[0].clone()
    }
}

/// Signals that a test sends.
pub struct Signals(mpsc::UnboundedReceiver<Signal>);

pub fn signals() -> (mpsc::UnboundedSender<Signal>, Signals) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (sender, Signals(receiver))
}

impl Cancel for Signals {
    async fn signal(&mut self) -> Signal {
        match self.0.recv().await {
            Some(signal) => signal,
            None => std::future::pending().await,
        }
    }
}

/// Runs to the end and returns what was seen.
pub async fn run(process: &impl Process, spec: Spec) -> (Result<Ending, ProcessError>, Seen) {
    let seen = Seen::default();
    (process.run(spec, NEVER, seen.clone()).await, seen)
}

/// How many live processes carry a mark.
pub fn carriers(mark: &str) -> usize {
    carrying(mark).len()
}

/// What `/proc` says about the live processes that carry a mark.
pub fn carrying(mark: &str) -> Vec<String> {
    living(|pid| {
        std::fs::read(pid.join("environ")).is_ok_and(|environment| {
            environment.split(|&byte| byte == 0).any(|variable| {
                variable.strip_prefix(b"ABIDE_MARK=").is_some_and(|marks| {
                    marks.split(|&byte| byte == b' ').any(|each| each == mark.as_bytes())
                })
            })
        })
    })
}

/// How many live processes have this argument.
pub fn with_argument(argument: &str) -> usize {
    living(|pid| {
        std::fs::read(pid.join("cmdline"))
            .is_ok_and(|line| line.split(|&byte| byte == 0).any(|each| each == argument.as_bytes()))
    })
    .len()
}

fn living(is_one: impl Fn(&Path) -> bool) -> Vec<String> {
    let folder = std::fs::read_dir("/proc").unwrap();
    folder
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| is_one(path))
        .map(|path| std::fs::read_to_string(path.join("stat")).unwrap_or_default())
        .collect()
}

/// Waits until something holds; fails if it does not in ten seconds.
pub fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(10), "still not: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A number of seconds to sleep that no other process sleeps, to be found by [`with_argument`].
pub fn nap() -> String {
    let id = mark();
    format!("600.{}", id.trim_start_matches("test-").replace('-', "0"))
}

/// Returns whether this process runs one test and nothing else; if not, starts one that does and waits for it.
///
/// Descriptors, children and memory belong to a process, so a test that looks at them needs its own.
pub fn alone(test: &str) -> bool {
    const NAME: &str = "ABIDE_TEST_ALONE";
    if std::env::var_os(NAME).is_some_and(|name| name == test) {
        return true;
    }
    let status = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(NAME, test)
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{test} in a process of its own: {status}");
    false
}

/// A runtime on this thread.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
