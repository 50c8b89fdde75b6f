//! The runner `session`: hands a step to the very agent that started the run, and waits for what it submits.

use super::floor::Floor;
use crate::runs::SystemClock;
use abide_engine::port::{Answer, Cancellation, Clock as _, Later, Listener, Runner, RunnerEnd, Task};
use std::sync::Arc;

/// Hands steps to the agent of a session.
pub(super) struct SessionRunner {
    pub(super) floor: Arc<Floor>,
}

impl Runner for SessionRunner {
    fn execute(&self, task: Task, mut cancel: Cancellation, _listener: Listener) -> Later<Answer> {
        let floor = Arc::clone(&self.floor);
        Box::pin(async move {
            let Some(turn) = floor.turn(&task.run) else {
                return Answer::ended(RunnerEnd::Failed("no session has this run".to_owned()));
            };
            let deadline = task.deadline;
            let ended = async {
                let late = async {
                    match deadline {
                        Some(at) => SystemClock.sleep_until(at).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    _ = cancel() => RunnerEnd::Cancelled,
                    () = late => RunnerEnd::TimedOut,
                }
            };
            tokio::pin!(ended);
            let _turn = tokio::select! {
                turn = turn.lock_owned() => turn,
                end = &mut ended => return Answer::ended(end),
            };
            let (_handed, answered) = floor.give(task);
            tokio::select! {
                biased;
                answer = answered => answer.unwrap_or_else(|_| Answer::ended(RunnerEnd::Cancelled)),
                end = ended => Answer::ended(end),
            }
        })
    }

    fn keeps(&self) -> bool {
        true
    }
}
