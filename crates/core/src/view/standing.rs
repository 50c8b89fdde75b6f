//! Where a run stands, for whoever waits for it: what is under way, what a human is asked, how far it is.

use crate::definition::{Runner, StepKind, StepType};
use crate::event::{Question, RunId, StepKey};
use crate::run::{Phase, Run, RunStatus};

/// Where a run stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The run.
    pub run: RunId,
    /// Its ability.
    pub ability: String,
    /// How it is, in one word.
    pub status: RunStatus,
    /// How many steps are over.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// The attempts that are under way. What an agent does that abide starts itself stands here as a script: whoever waits has no
    /// part in it.
    pub doing: Vec<(StepKey, StepType)>,
    /// Whether a hook is under way.
    pub in_hook: bool,
    /// What a human is asked first.
    pub asks: Option<Asks>,
    /// The first step whose driver was lost.
    pub lost: Option<StepKey>,
    /// Whether it is being brought to its end.
    pub ending: bool,
    /// Why it ends or has ended, if not well.
    pub error: Option<String>,
}

/// What a human is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Asks {
    /// Whether the plan may be carried out.
    Plan,
    /// The question of a step.
    Question(StepKey, Box<Question>),
}

impl Standing {
    /// Returns where a run stands.
    pub fn of(run: &Run) -> Self {
        let doing = run.in_flight().into_iter().map(|(key, _)| {
            let position = run.position(key.step.as_str());
            let step_type = position.map_or(StepType::Script, |position| seen_type(&run.step(position).kind));
            (key, step_type)
        });
        let status = run.status();
        let asks = match status {
            RunStatus::AwaitingPlan => Some(Asks::Plan),
            // Nobody is asked by a run that ends.
            _ if run.ending.is_some() => None,
            _ => run
                .questions()
                .into_iter()
                .next()
                .map(|(key, question)| Asks::Question(key, Box::new(question.clone()))),
        };
        let error = match (&run.phase, &run.ending) {
            (Phase::Finished(_, error), _) | (_, Some((_, error))) => error.clone(),
            _ => None,
        };
        Self {
            run: run.id.clone(),
            ability: run.created.name.to_string(),
            status,
            done: run.closed(),
            total: run.steps.len(),
            doing: doing.collect(),
            in_hook: run.hook_in_flight().is_some(),
            asks,
            lost: run.lost().into_iter().next().filter(|_| status == RunStatus::Interrupted),
            ending: run.ending.is_some(),
            error,
        }
    }
}

/// Returns what a step is to the session that its run belongs to.
fn seen_type(kind: &StepKind) -> StepType {
    let runner = match kind {
        StepKind::Agent(agent) => agent.runner.as_ref(),
        StepKind::Skill(skill) => skill.runner.as_ref(),
        StepKind::Script(_) | StepKind::Approval(_) | StepKind::Workflow(_) => None,
    };
    match runner.map(|runner| &runner.value) {
        None | Some(Runner::Session) => kind.step_type(),
        Some(_) => StepType::Script,
    }
}
