//! Processes: started in a group of their own, bounded, and never left behind.

use std::future::Future;
use std::path::PathBuf;

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where it runs.
    pub folder: PathBuf,
    /// What its environment adds to ours.
    pub variables: Vec<Variable>,
    /// Names that are taken out of our environment before.
    pub without: Vec<String>,
    /// When it is ended, in milliseconds from its start.
    pub longest: Option<u64>,
    /// A mark that finds the process group again after a crash; it is in the environment as `ABIDE_MARK`.
    pub mark: String,
}

/// One environment variable.
#[derive(Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether the value must not be shown.
    pub secret: bool,
}

impl std::fmt::Debug for Variable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = if self.secret { "•••" } else { &self.value };
        write!(out, "{}={shown:?}", self.name)
    }
}

/// Which output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Bytes that a process wrote, as they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Where it wrote them.
    pub stream: Stream,
    /// The bytes; not cut at line ends or characters.
    pub bytes: Vec<u8>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// By us, because its time was over.
    TimedOut,
    /// By us, because it was cancelled.
    Cancelled,
}

/// How to end a process early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Asks first (TERM, five seconds, KILL).
    Ask,
    /// Does not ask (KILL).
    Kill,
}

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The system refused.
    #[error("cannot start `{program}` in {folder}: {reason}")]
    Start {
        /// The program.
        program: String,
        /// Where.
        folder: String,
        /// The system's reason.
        reason: String,
    },
}

/// Starts processes and ends them.
///
/// Contract:
/// - Each process runs in a group of its own with standard input closed.
/// - Output is handed to `sink` as it comes; a sink that is slow slows the process, and memory stays bounded.
/// - When `run` returns, no process of the group is left (nor one that left the group, as far as the system can
///   tell), and all of its output has been handed on. A descendant that holds a pipe does not hold the return.
/// - At the time limit, and when `cancel` yields: TERM to the group, five seconds, KILL; a second `cancel` value
///   of [`Signal::Kill`] ends the waiting.
/// - Dropping the future ends the group.
pub trait Process: Send + Sync + 'static {
    /// Runs a process to its end.
    fn run(
        &self,
        spec: Spec,
        cancel: impl Future<Output = Signal> + Send,
        sink: impl FnMut(Line) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> + Send,
    ) -> impl Future<Output = Result<Ending, ProcessError>> + Send;

    /// Ends every process group that carries one of these marks; returns how many it found.
    fn sweep(&self, marks: &[String]) -> impl Future<Output = usize> + Send;
}
