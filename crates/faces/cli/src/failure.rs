//! Why a command could not do what was asked: what, where and what now.

use crate::Exit;
use abide_core::event::RunId;
use std::fmt;

/// A command that failed.
#[derive(Debug)]
pub struct Failure {
    /// How the process ends.
    pub exit: Exit,
    pub(crate) messages: Vec<String>,
    pub(crate) help: Option<String>,
}

impl Failure {
    /// Builds a failure with its message.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self::several(exit, [message.into()])
    }

    /// Builds a failure of several problems at once, each on a line of its own.
    pub fn several(exit: Exit, messages: impl IntoIterator<Item = String>) -> Self {
        Self { exit, messages: messages.into_iter().collect(), help: None }
    }

    /// Builds the end of a command that has said everything already.
    pub fn silent(exit: Exit) -> Self {
        Self::several(exit, [])
    }

    /// Adds how a run goes on once what is wrong has been put right.
    #[must_use]
    pub fn resume(mut self, run: &RunId) -> Self {
        let again = format!("`abide resume {run}` drives the run on from where its log ends");
        self.help = Some(match self.help {
            Some(help) => format!("{help}; {again}"),
            None => again,
        });
        self
    }

    /// Adds what to do now.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for message in &self.messages {
            writeln!(out, "error: {}", crate::ui::visible::visible(message, true))?;
        }
        if let Some(help) = &self.help {
            writeln!(out, "  = {}", crate::ui::visible::visible(help, true))?;
        }
        Ok(())
    }
}
