//! The process that was asked for: started as the leader of a group, watched, and reaped after all of its family.

use std::fs::File;
use std::io::{self, PipeReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use abide_engine::port::{Ending, ProcessError, Spec};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, pidfd_open, waitid};
// No pipe, but the one thing in tokio that waits for any descriptor to be readable and is safe to make.
use tokio::net::unix::pipe::Receiver as Readiness;

use super::output::Pipe;
use super::{children, family::Family, reason, straight};
use crate::{Limits, LocalProcess, MARK};

/// How long a drop may hold its thread until the rest is left to another.
const DROP: Duration = Duration::from_millis(100);

/// A started process. Dropping it before [`Leader::reap`] kills its family.
#[derive(Debug)]
pub(super) struct Leader {
    pid: Pid,
    /// Its pidfd, which becomes readable when it has ended; nothing while it is being started.
    end: Option<Readiness>,
    /// Holds our copies of the ends that it writes to. While we have them, the pipes do not end when it closes its own,
    /// so that the end of a process wakes us once and not three times.
    writers: Option<Command>,
    /// Whether there is nothing left to do about it.
    reaped: bool,
    /// Whether it was started without the shell that was asked for.
    is_straight: bool,
    shared: Arc<Shared>,
    limits: Limits,
}

#[derive(Debug)]
struct Shared {
    family: Family,
    hurry: AtomicBool,
}

impl Leader {
    /// Starts a process; returns it with its standard output and standard error.
    pub(super) fn start(
        local: &LocalProcess,
        spec: &Spec,
        input: Option<PipeReader>,
    ) -> Result<(Self, Pipe, Pipe), ProcessError> {
        // Whatever keeps a program from being started straight, the shell says of it what it always says.
        let straight = match (&input, straight::words(local, spec)) {
            (None, Some(words)) => Self::try_start(local, spec, Start::Straight(&words)).ok(),
            _ => None,
        };
        let started = match straight {
            Some(started) => Ok(started),
            None => Self::try_start(local, spec, Start::AsAsked(input)),
        };
        started.map_err(|error| ProcessError::Start {
            program: spec.program.clone(),
            folder: spec.folder.display().to_string(),
            reason: reason::of(&error, spec),
        })
    }

    fn try_start(local: &LocalProcess, spec: &Spec, start: Start<'_>) -> io::Result<(Self, Pipe, Pipe)> {
        let (stdout, stdout_writer) = io::pipe()?;
        let (stderr, stderr_writer) = io::pipe()?;
        let is_straight = matches!(start, Start::Straight(_));
        let (mut command, input) = match start {
            Start::AsAsked(input) => {
                let mut command = program(&spec.program);
                command.args(&spec.arguments);
                (command, input)
            }
            Start::Straight(words) => (straight::command(words, spec), None),
        };
        command
            .current_dir(&spec.folder)
            .stdin(match input {
                Some(input) => Stdio::from(input),
                None => Stdio::from(nothing()?),
            })
            .stdout(stdout_writer)
            .stderr(stderr_writer)
            // Nothing beyond what `posix_spawn` can do, which is the cheap way to start a process.
            .process_group(0);
        for name in &spec.without {
            command.env_remove(name);
        }
        command.envs(spec.variables.iter().map(|variable| (&variable.name, &variable.value)));
        match local.outer.as_str() {
            "" => command.env(MARK, &spec.mark),
            outer => command.env(MARK, format!("{outer} {}", spec.mark)),
        };
        let pid = children::enrol(|| {
            let child = command.spawn()?;
            Ok(i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a child has a pid"))
        })?;
        let family = Family { marks: vec![spec.mark.clone()], group: Some(pid), strangers: local.strangers };
        let mut leader = Self {
            pid,
            end: None,
            writers: Some(command),
            reaped: false,
            is_straight,
            shared: Arc::new(Shared { family, hurry: AtomicBool::new(false) }),
            limits: local.limits,
        };
        // From here on an error drops the leader, which ends it.
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        leader.end = Some(Readiness::from_owned_fd_unchecked(pidfd)?);
        Ok((leader, Pipe::new(stdout.into())?, Pipe::new(stderr.into())?))
    }

    /// Waits until it has ended.
    pub(super) async fn ended(&self) {
        if let Some(end) = &self.end {
            let _ = end.readable().await;
        }
    }

    /// Lets the pipes end with those of its family that still hold them.
    pub(super) fn close_writers(&mut self) {
        self.writers = None;
    }

    /// Asks the group to end. One that was stopped goes on, so that it can.
    pub(super) fn ask(&self) {
        self.shared.family.signal_group(Signal::TERM);
        self.shared.family.signal_group(Signal::CONT);
    }

    /// Kills the group, and makes [`Leader::end_family`] kill the rest without asking.
    pub(super) fn kill(&self) {
        self.shared.hurry.store(true, Ordering::Relaxed);
        self.shared.family.signal_group(Signal::KILL);
    }

    /// Returns whether somebody of its family may be left, now that it has ended.
    pub(super) fn may_leave_family(&self) -> bool {
        self.shared.family.may_be_left()
    }

    /// Ends the rest of its family: asks, and kills after `patience`.
    pub(super) async fn end_family(&self, patience: Duration) {
        let shared = Arc::clone(&self.shared);
        let dying = self.limits.dying;
        let ending = tokio::task::spawn_blocking(move || shared.family.end(patience, dying, &shared.hurry));
        let _ = ending.await;
    }

    /// Reaps it, the last thing to be done, and tells how it ended. Nothing if it has not, whatever was tried.
    pub(super) fn reap(mut self) -> io::Result<Option<Ending>> {
        let status = children::reap_leader(self.pid);
        self.reaped = !matches!(status, Ok(None));
        let is_straight = self.is_straight;
        Ok(status?.map(|status| match ending(&status) {
            Ending::Signalled(signal) if is_straight => straight::signalled(signal),
            ending => ending,
        }))
    }
}

/// How a process is started.
enum Start<'a> {
    /// The program that was asked for, with its input.
    AsAsked(Option<PipeReader>),
    /// Without the shell that was asked for, which would start just these words.
    Straight(&'a [&'a str]),
}

/// Returns the command of a program. The shell is where POSIX systems have it: searching for it in every folder of a long
/// `PATH` takes as long as a good part of its start, and would find any other program of that name first.
fn program(name: &str) -> Command {
    const SHELL: &str = "/bin/sh";
    static HAS_SHELL: OnceLock<bool> = OnceLock::new();
    if name == "sh" && *HAS_SHELL.get_or_init(|| Path::new(SHELL).exists()) {
        let mut command = Command::new(SHELL);
        command.arg0(name);
        return command;
    }
    Command::new(name)
}

/// Returns an input that is at its end: a copy of one that is open for good, which is cheaper than to open it anew.
fn nothing() -> io::Result<File> {
    static NOTHING: OnceLock<File> = OnceLock::new();
    match NOTHING.get() {
        Some(nothing) => nothing.try_clone(),
        None => {
            let nothing = File::open("/dev/null")?;
            NOTHING.get_or_init(|| nothing).try_clone()
        }
    }
}

fn ending(status: &WaitIdStatus) -> Ending {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, Some(signal)) => Ending::Signalled(signal),
        (None, None) => unreachable!("only ends were waited for"),
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        self.kill();
        let ended = self.shared.family.end(Duration::ZERO, DROP, &self.shared.hurry);
        if ended.all && !matches!(children::reap_leader(self.pid), Ok(None)) {
            return;
        }
        let (pid, shared, dying) = (self.pid, Arc::clone(&self.shared), self.limits.dying);
        std::thread::spawn(move || {
            shared.family.end(Duration::ZERO, dying, &shared.hurry);
            // The kernel may hold it for long, on a dead network disk for example; it is reaped when it lets go.
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let _ = children::reap_leader(pid);
        });
    }
}
