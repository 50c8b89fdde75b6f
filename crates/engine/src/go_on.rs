//! A run driven on, with what a human said about the steps that its last driver was in the middle of.

use crate::driver::{DriveError, Driver};
use crate::port::{Clock, Process, Signal, Store, Workspace};
use crate::service::{ServiceError, command, lost};
use abide_core::event::{LossDecision, RunId};
use abide_core::run::{Command, RunStatus};
use smol_str::SmolStr;
use tokio::sync::watch;

/// Why a run could not be driven to its end.
#[derive(Debug, thiserror::Error)]
pub enum GoOnError {
    /// The driver could not go on; the log holds how far it came.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// What was decided could not be written down.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

/// Drives a run; steps that the last driver was in the middle of are decided about as soon as they are known.
pub async fn go_on<S: Store, P: Process, W: Workspace, C: Clock>(
    driver: &Driver<S, P, W, C>,
    id: &RunId,
    stopped: watch::Receiver<Option<Signal>>,
    decision: Option<LossDecision>,
    by: &str,
) -> Result<RunStatus, GoOnError> {
    loop {
        if let Some(decision) = decision {
            for (run, key) in lost(driver, id).await? {
                command(driver, &run, Command::Resolve { key, by: SmolStr::new(by), decision }).await?;
            }
        }
        let status = driver.drive(id.clone(), stopped.clone()).await?;
        // A driver makes none of its own: what is lost now, the last one left.
        let again = status == RunStatus::Interrupted && decision.is_some() && stopped.borrow().is_none();
        if !again || lost(driver, id).await?.is_empty() {
            return Ok(status);
        }
    }
}
