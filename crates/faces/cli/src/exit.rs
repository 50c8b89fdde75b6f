//! What the process tells its caller when it ends.
//!
//! Scripts and agents branch on these numbers, so they never change their meaning.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything that was asked for was done.
    Done,
    /// Something that was looked at is not in order: a definition has errors, a check of `doctor` failed.
    Problems,
    /// The command line could not be understood.
    Usage,
    /// What was named does not exist.
    NotFound,
    /// The system refused: a file could not be read or written.
    System,
    /// The run is over, and a step failed or was rejected.
    RunFailed,
    /// The run was cancelled.
    RunCancelled,
    /// The run's time was over.
    RunTimedOut,
    /// The run is not over: it waits for a human, or was interrupted.
    RunUnfinished,
    /// What was asked for may not happen now: an answer came late, or somebody else must give it.
    Refused,
}

impl Exit {
    /// Every way to end, with its meaning, for the documentation.
    pub const ALL: &[(Exit, &str)] = &[
        (Exit::Done, "everything that was asked for was done"),
        (Exit::Problems, "something is not in order: a definition has errors, or a check of `doctor` failed"),
        (Exit::Usage, "the command line could not be understood"),
        (Exit::NotFound, "what was named does not exist"),
        (Exit::System, "the system refused: a file could not be read or written"),
        (Exit::RunFailed, "the run is over, and a step failed or was rejected"),
        (Exit::RunCancelled, "the run was cancelled"),
        (Exit::RunTimedOut, "the run's time was over"),
        (Exit::RunUnfinished, "the run is not over: it waits for a human, or was interrupted"),
        (Exit::Refused, "what was asked for may not happen now"),
    ];

    /// Returns the number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Problems => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::System => 4,
            Self::RunFailed => 5,
            Self::RunCancelled => 6,
            Self::RunTimedOut => 7,
            Self::RunUnfinished => 8,
            Self::Refused => 9,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
