//! What a driver does about what the one before it left.

use super::drive::Drive;
use super::{evidence, hook, mark};
use crate::port::{Clock, Process, Store, Workspace, runner_of};
use abide_core::definition::StepKind;
use abide_core::event::StepKey;
use abide_core::run::{Command, InstanceState};

impl<S: Store, P: Process, W: Workspace, C: Clock> Drive<'_, S, P, W, C> {
    /// Ends what a dead driver left running; its attempts are then decided about.
    pub(super) async fn recovery(&self) -> Option<Command> {
        let run = &self.loaded.run;
        let in_flight = run.in_flight();
        let hook = run.hook_in_flight();
        if in_flight.is_empty() && hook.is_none() {
            return None;
        }
        let mut marks = Vec::new();
        for (key, attempt) in &in_flight {
            let own = mark(&run.id, key, *attempt);
            let step = run.position(key.step.as_str()).map(|position| run.step(position));
            let checks =
                step.and_then(|step| evidence::validation(&step.kind)).map_or(0, |rules| rules.check.len());
            marks.extend((0..checks).map(|index| evidence::check_mark(&own, index)));
            marks.push(own);
        }
        marks.extend(hook.map(|hook| hook::mark(&run.id, hook)));
        self.driver.process.sweep(&marks).await;
        let again = in_flight.into_iter().map(|(key, _)| key).filter(|key| self.is_kept(key)).collect();
        Some(Command::Recover { again })
    }

    /// Returns whether whoever does a step still knows it, although the driver that handed it out is gone.
    fn is_kept(&self, key: &StepKey) -> bool {
        let run = &self.loaded.run;
        let Some(step) = run.position(key.step.as_str()).map(|position| run.step(position)) else {
            return false;
        };
        matches!(step.kind, StepKind::Agent(_) | StepKind::Skill(_))
            && self.driver.runners.find(runner_of(step)).is_some_and(|runner| runner.keeps())
    }

    /// Drives children on that are under way and that nobody drives: they have logs of their own.
    pub(super) fn drive_children(&mut self, which: impl Fn(&StepKey) -> bool) {
        let run = &self.loaded.run;
        for (key, attempt) in run.in_flight().into_iter().filter(|(key, _)| which(key)) {
            let deadline = match run.instance(&key).map(|instance| &instance.state) {
                Some(InstanceState::Running { deadline }) => *deadline,
                _ => None,
            };
            let (tasks, stop) = (&mut self.tasks, &self.cancelled);
            self.driver.start_attempt(tasks, run, key, attempt, deadline, &self.reports, stop);
        }
    }
}
