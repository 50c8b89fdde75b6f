//! Processes: started in a group of their own, bounded, and never left behind.

use std::future::Future;
use std::io::PipeReader;
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
    /// A mark that finds the process group again after a crash, without spaces and different for every process.
    ///
    /// It is in the environment as `ABIDE_MARK`, after the marks of the processes that the driver itself runs in,
    /// with spaces between: what a step starts through another `abide` is the step's to end.
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

/// Why there is no [`Ending`] to tell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    /// It ran and is gone, but how it ended is not known, so that nobody may take it for a success.
    #[error("`{program}` in {folder} is gone and the system does not say how it ended: {reason}")]
    Lost {
        /// The program.
        program: String,
        /// Where.
        folder: String,
        /// The system's reason.
        reason: String,
    },
}

/// What says that a process is to end early.
///
/// A closure that makes a future is one; `std::future::pending::<Signal>` never cancels.
pub trait Cancel: Send {
    /// Waits for the next signal, for ever if none comes.
    ///
    /// It is called again after an answer, because a [`Signal::Kill`] may follow a [`Signal::Ask`]; and its future
    /// may be dropped before it answers, which must not lose the signal.
    fn signal(&mut self) -> impl Future<Output = Signal> + Send;
}

impl<F, Next> Cancel for F
where
    F: FnMut() -> Next + Send,
    Next: Future<Output = Signal> + Send,
{
    fn signal(&mut self) -> impl Future<Output = Signal> + Send {
        self()
    }
}

/// What takes the output of a process; a closure that makes a future is one.
pub trait Sink: Send {
    /// Takes what came, at most 64 KiB. The next is read when the future is done, so that a slow sink slows the
    /// process; it must come to an end, because a run waits for it.
    fn take(&mut self, line: Line) -> impl Future<Output = ()> + Send;
}

impl<F, Taken> Sink for F
where
    F: FnMut(Line) -> Taken + Send,
    Taken: Future<Output = ()> + Send,
{
    fn take(&mut self, line: Line) -> impl Future<Output = ()> + Send {
        self(line)
    }
}

/// Starts processes and ends them.
///
/// Contract:
/// - Each process runs in a group of its own with standard input closed.
/// - Output is handed to `sink` as it comes, in order within each stream; a sink that is slow slows the process, and
///   memory stays bounded. Time limit and cancel hold while a sink is slow.
/// - When `run` returns, no process of the group is left (nor one that left the group, as far as the system can
///   tell), and all of its output has been handed on. A descendant that holds a pipe does not hold the return: once
///   the process has ended, the rest of its family has until the pipes are quiet (two seconds at most).
/// - At the time limit, and when `cancel` yields: TERM to the group, five seconds, KILL; a later
///   [`Signal::Kill`] ends the waiting. What came first is the [`Ending`], whatever the process then does. A cancel
///   that is there before the start starts nothing. One that comes after the process has ended changes nothing about
///   its ending.
/// - Dropping the future ends the group at once (KILL).
pub trait Process: Send + Sync + 'static {
    /// Runs a process to its end.
    fn run(
        &self,
        spec: Spec,
        cancel: impl Cancel,
        sink: impl Sink,
    ) -> impl Future<Output = Result<Ending, ProcessError>> + Send;

    /// Runs a process to its end that reads `input` where others find nothing; all else holds as for [`Process::run`].
    ///
    /// Whoever writes to the other end sees it closed when the process is gone.
    fn run_reading(
        &self,
        spec: Spec,
        input: PipeReader,
        cancel: impl Cancel,
        sink: impl Sink,
    ) -> impl Future<Output = Result<Ending, ProcessError>> + Send {
        let _ = (input, cancel, sink);
        let reason = "nothing can be given to a process here".to_owned();
        let folder = spec.folder.display().to_string();
        std::future::ready(Err(ProcessError::Start { program: spec.program, folder, reason }))
    }

    /// Ends every process that carries one of these marks and what descends from it; returns how many it found.
    ///
    /// For the marks of drivers that are dead: what it finds gets TERM and soon KILL. It never touches the caller or
    /// its ancestors, and nothing that carries no mark. Idempotent: a second sweep finds nothing.
    fn sweep(&self, marks: &[String]) -> impl Future<Output = usize> + Send;
}
