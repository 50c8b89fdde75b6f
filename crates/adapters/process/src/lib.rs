//! Processes of this machine: started in groups of their own, bounded, and never left behind.
//!
//! [`LocalProcess`] keeps the contract of [`abide_engine::port::Process`]. On Linux its means are these:
//!
//! - **The leader stays a zombie until the end.** Its end is seen through a pidfd, and it is reaped last; so its
//!   number, which is the group's, cannot be given to anybody else while the group is signalled.
//! - **This process adopts orphans** (`PR_SET_CHILD_SUBREAPER`): whatever a leader leaves behind becomes a child of
//!   ours, wherever it went by `setsid` or double forks, and is known by its group, its `ABIDE_MARK`, or its ancestors.
//!   One small read of `/proc` per process tells that there is nothing left; only if there is, all of `/proc` is read.
//! - **A sweep** after a crash has no parentage to go by, so it looks for `ABIDE_MARK` in the environments of all
//!   processes, then for their descendants, groups and sessions, and signals through pidfds.
//!
//! What cannot be found:
//! - what another service starts for the process (`systemd-run`, `docker run`, `at`, `cron`): it is no descendant;
//! - after the driver was killed: an orphan that cleared its environment or wrote over it, and left the group and
//!   session of everything that still carries the mark;
//! - processes that belong to another user (`sudo`): they are seen as part of the family, but only a driver with that
//!   right can signal them;
//! - in a program that also starts children elsewhere: an orphan that cleared its environment and has a session of its
//!   own cannot be told from those, so it is left alone unless [`LocalProcess::only_parent`] says that there are none.
//!   Even then, while other processes of ours run, nobody can say whose it is: it is ended with the last of them.
#![warn(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "this is the home of processes: it starts them, measures their time and reads about them in /proc"
)]

#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod system;

use std::future::Future;
use std::io::PipeReader;
use std::time::Duration;

use abide_engine::port::{Cancel, Ending, Process, ProcessError, Sink, Spec};

/// How bash hands functions to the shells that it starts; a plain word may be the name of one.
const FUNCTIONS: &str = "BASH_FUNC_";

/// The environment variable that finds a process again.
pub const MARK: &str = "ABIDE_MARK";

/// Starts processes on this machine and ends them. Needs a tokio runtime with IO and time.
#[derive(Debug, Clone)]
pub struct LocalProcess {
    limits: Limits,
    strangers: Strangers,
    /// The marks that this process itself runs under.
    outer: String,
    /// Whether the environment has functions for shells.
    has_functions: bool,
}

/// How long things are waited for.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// From TERM to KILL when a process is to end early.
    patience: Duration,
    /// From TERM to KILL for what a process that has ended leaves behind.
    parting: Duration,
    /// How long pipes that are still open must be silent once the process has ended.
    quiet: Duration,
    /// How long they may be held open at most.
    held: Duration,
    /// How long KILL may take before a process that the kernel does not let go is given up. It runs no line of its own
    /// any more; on a machine with twenty times too much to do, it was seen to take two seconds.
    dying: Duration,
}

/// What a child of this process is that nobody here started and that carries no mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strangers {
    /// Somebody else's.
    Spared,
    /// An orphan that came to us from one of our processes.
    Orphans,
}

impl LocalProcess {
    /// Makes this process the one that adopts the orphans of its descendants, and returns the means to start some.
    pub fn new() -> Self {
        system::adopt_orphans();
        Self {
            limits: Limits {
                patience: Duration::from_secs(5),
                parting: Duration::from_millis(200),
                quiet: Duration::from_millis(150),
                held: Duration::from_secs(2),
                dying: Duration::from_secs(10),
            },
            strangers: Strangers::Spared,
            outer: std::env::var_os(MARK).and_then(|mark| mark.into_string().ok()).unwrap_or_default(),
            has_functions: std::env::vars_os()
                .any(|(name, _)| name.as_encoded_bytes().starts_with(FUNCTIONS.as_bytes())),
        }
    }

    /// Says that every child of this program is started here, so that an unknown one is an orphan to be ended.
    #[must_use]
    pub fn only_parent(mut self) -> Self {
        self.strangers = Strangers::Orphans;
        self
    }

    /// Sets how long a process that was asked to end may take; five seconds unless told.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.limits.patience = patience;
        self
    }
}

impl Default for LocalProcess {
    fn default() -> Self {
        Self::new()
    }
}

impl Process for LocalProcess {
    fn run(
        &self,
        spec: Spec,
        cancel: impl Cancel,
        sink: impl Sink,
    ) -> impl Future<Output = Result<Ending, ProcessError>> + Send {
        system::run(self, spec, None, cancel, sink)
    }

    fn run_reading(
        &self,
        spec: Spec,
        input: PipeReader,
        cancel: impl Cancel,
        sink: impl Sink,
    ) -> impl Future<Output = Result<Ending, ProcessError>> + Send {
        system::run(self, spec, Some(input), cancel, sink)
    }

    fn sweep(&self, marks: &[String]) -> impl Future<Output = usize> + Send {
        system::sweep(self.limits, marks.to_vec())
    }
}
