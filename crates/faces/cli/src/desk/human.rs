//! What the human at the terminal of our own loop may do about the run of their session: look, answer, end it.
//!
//! None of this is reachable by a tool: an agent has [`super::LocalDesk`] as its desk only.

use super::floor::Seen;
use super::{LocalDesk, refused};
use crate::Exit;
use crate::Failure;
use abide_core::event::RunId;
use abide_core::run::Command;
use abide_core::view::standing::Asks;
use abide_engine::service;
use abide_gate::SessionId;
use abide_mcp::desk::Report;
use std::time::Duration;

/// How long a run that was just taken up may need until it says what it waits for; a script may take longer.
const TAKING_UP: Duration = Duration::from_secs(2);

/// What a session's run is at, for the human who sits in front of it.
pub(crate) struct OwnRun {
    /// The run.
    pub(crate) id: RunId,
    /// What it asks, and which run does: it may be one that it called.
    pub(crate) asks: Option<(RunId, Asks)>,
    /// How it stands, in words.
    pub(crate) text: String,
}

impl LocalDesk {
    /// Returns the active run of a session, driven here from now on.
    pub(crate) async fn own_run(&self, session: &SessionId) -> Result<Option<OwnRun>, Failure> {
        let failed = |report: Report| Failure::new(Exit::Refused, report.text);
        let bound = match &self.gate {
            Some(gate) => {
                gate.bound(session).map_err(|error| Failure::new(Exit::System, error.to_string()))?
            }
            None => None,
        };
        let Some(bound) = bound else { return Ok(None) };
        let driven = RunId::parse(&bound.run).is_some_and(|id| self.floor.drives(&id));
        let id = self.again(session.clone(), bound).await.map_err(failed)?;
        if !driven {
            // A step that was the agent's is handed out first: until then nothing is granted.
            let _ = tokio::time::timeout(TAKING_UP, self.quiet(&id)).await;
        }
        self.caught_up(&id).await;
        let (seen, _) = self.floor.look(&id);
        if let Seen::Over | Seen::Unknown = seen {
            return Ok(None);
        }
        let text = self.report(&id, &seen).await.text;
        let asks = match seen {
            Seen::Asks(run, asks) => Some((run, asks)),
            _ => None,
        };
        Ok(Some(OwnRun { id, asks, text }))
    }

    /// Answers what a run asks, in the name of the human.
    pub(crate) async fn answer_as_human(
        &self,
        run: &RunId,
        asks: &Asks,
        option: &str,
        comment: Option<String>,
    ) -> Result<(), Failure> {
        let Some(command) = self.answering(asks, option, comment) else {
            return Err(Failure::new(Exit::Usage, format!("`{option}` is not an answer")));
        };
        self.answer(run, command).await.map_err(|report| Failure::new(Exit::Refused, report.text))
    }

    /// Ends a run, in the name of the human.
    pub(crate) async fn cancel_as_human(&self, id: &RunId, reason: Option<String>) -> Result<(), Failure> {
        let driver = self.driver()?;
        let command = Command::Cancel { by: self.user().into(), reason };
        service::command(&driver, id, command).await.map_err(|error| {
            let report = refused(&crate::runs::service_failure(&error));
            Failure::new(Exit::Refused, report.text)
        })?;
        self.caught_up(id).await;
        Ok(())
    }
}
