//! What the gate is told of a run: the step that is being done, and what it grants.

use super::{Attended, Given};
use abide_core::definition::StepType;
use abide_core::event::RunId;
use abide_core::view::standing::Asks;
use abide_engine::port::Worker;
use abide_gate::Relative;
use abide_gate::sessions::{Bound, BoundStep};

/// How much of a task the gate repeats at every prompt.
const TASK: usize = 2_000;

impl Attended {
    pub(super) fn bound_now(&self, id: &RunId) -> Bound {
        let mut bound = self.bound.clone();
        if let Some(standing) = self.standings.get(id) {
            (bound.done, bound.total) = (standing.done, standing.total);
            bound.ability.clone_from(&standing.ability);
        }
        if !self.driven {
            // Whoever asks must look into the log, since nobody here would tell.
            bound.driver = Relative { process: 0, started: String::new() };
        }
        let waits = |id: String, task: &str| BoundStep {
            id,
            step_type: StepType::Approval.word().to_owned(),
            tools: Some(Vec::new()),
            task: task.chars().take(TASK).collect(),
            waits_for_human: true,
        };
        if let Some(given) = &self.given {
            bound.ability.clone_from(&given.ability);
            bound.step = Some(given.step());
        } else if let Some((_, asks)) = self.asks() {
            bound.step = Some(match asks {
                Asks::Plan => waits("plan".to_owned(), "Approve the plan"),
                Asks::Question(key, question) => waits(key.to_string(), &question.prompt),
            });
        } else if let Some(key) = self.standings.values().find_map(|standing| standing.lost.as_ref()) {
            bound.step = Some(waits(key.to_string(), "Say what to do with the step that was interrupted"));
        } else {
            let own = self.standings.get(id).and_then(|standing| standing.doing.first());
            let known = bound.step.take();
            bound.step = own.map(|(key, step_type)| {
                let id = key.to_string();
                // What the agent was handed it can do without a driver; the next one takes the result.
                known.filter(|step| self.leaves() && step.id == id).unwrap_or_else(|| BoundStep {
                    id,
                    step_type: step_type.word().to_owned(),
                    tools: Some(Vec::new()),
                    task: String::new(),
                    waits_for_human: false,
                })
            });
        }
        bound
    }
}

impl Given {
    fn step(&self) -> BoundStep {
        let step_type = match self.task.worker {
            Worker::Agent { .. } => StepType::Agent,
            Worker::Skill { .. } => StepType::Skill,
        };
        BoundStep {
            id: self.task.key.to_string(),
            step_type: step_type.word().to_owned(),
            tools: self.task.tools.clone(),
            task: self.task.prompt.chars().take(TASK).collect(),
            waits_for_human: false,
        }
    }
}
