//! What people do to a run and to those that it calls, each through the door that `abide` gives them.

use super::Simulation;
use crate::simulation::world;
use abide_core::event::{QuestionKind, RunId};
use abide_core::run::{Command, InstanceState, Run};
use abide_engine::port::Clock as _;
use abide_engine::service::{self, ServiceError};

impl Simulation {
    /// Returns the runs that are not over: the first one and those below it.
    fn unfinished(&self) -> Vec<Run> {
        let ids = self.stage.ledger().unfinished();
        ids.iter().map(|id| self.picture(id)).collect()
    }

    async fn tell(&self, id: &RunId, command: Command) -> Result<Run, ServiceError> {
        self.door_host.decides_at(self.stage.clock.now());
        service::command(&self.door, id, command).await
    }

    /// Somebody does what a run asks for, or something that may not be.
    pub(super) async fn somebody_acts(&mut self) {
        let waiting = self.unfinished();
        let chosen = self.stage.chance().position(waiting.len());
        let Some(run) = waiting.get(chosen) else { return };
        let now = self.stage.clock.now();
        let command = world::human(&mut self.stage.chance(), run, now);
        let Some(command) = command else { return };
        let done = self.tell(&run.id, command.clone()).await;
        assert!(done.is_ok() || is_expected(&done), "{command:?}: {done:?}");
        if done.is_ok() && is_approval(run, &command) {
            self.answered = Some((run.id.clone(), command));
        }
    }

    /// Somebody answers once more what was answered.
    pub(super) async fn somebody_answers_again(&mut self) {
        let Some((id, command)) = self.answered.clone() else { return };
        let done = self.tell(&id, command).await;
        assert!(done.is_err(), "an approval is answered twice");
    }

    pub(super) async fn somebody_cancels(&mut self) {
        let runs = self.stage.ledger().runs();
        let whole = self.stage.chance().percent(70);
        let chosen = self.stage.chance().position(runs.len());
        let id = if whole { self.id.clone() } else { runs[chosen].clone() };
        let _ = self.tell(&id, Command::Cancel { by: "eve".into(), reason: None }).await;
    }

    /// Everybody does what is asked of them; tells whether there was something to do.
    pub(super) async fn everybody_helps(&mut self) -> bool {
        let mut helped = false;
        for run in self.unfinished() {
            if let Some(command) = world::kind_answer(&run, self.stage.clock.now()) {
                let done = self.tell(&run.id, command).await;
                assert!(done.is_ok() || is_expected(&done), "{done:?}");
                helped = true;
            }
        }
        helped
    }
}

/// Tells whether somebody may hear this: that it may not be, that it came too late, or that the store is broken.
fn is_expected(done: &Result<Run, ServiceError>) -> bool {
    let Err(error) = done else { return false };
    matches!(
        error,
        ServiceError::Refused(_) | ServiceError::Answered(_) | ServiceError::Store(_) | ServiceError::Load(_)
    )
}

fn is_approval(run: &Run, command: &Command) -> bool {
    let Command::Answer { key, .. } = command else { return false };
    run.instance(key).is_some_and(|instance| {
        matches!(&instance.state, InstanceState::Asking(question) if question.about == QuestionKind::Approval)
    })
}
