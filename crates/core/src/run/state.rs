//! What a run is at one moment.

use super::places::Places;
use super::shared::Shared;
use super::step::{Instance, InstanceState, StepState, StepStatus};
use crate::definition::check::dependencies;
use crate::definition::{Ability, Budget, OnFailure, Step, StepKind};
use crate::event::{Created, EndStatus, HookKey, HookPhase, Question, RunId, Skip, StepKey, Timestamp};
use crate::turn::{Exhausted, Spent};
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A run: its definition, and how far it has come.
///
/// A copy is cheap, whatever the run has done: it shares everything with the run that later changes do not touch.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// What it is made of.
    pub created: Arc<Created>,
    /// The ability, as it was when the run was created.
    pub ability: Arc<Ability>,
    /// How far the run as a whole is.
    pub phase: Phase,
    /// How far each step is, in the order of the ability.
    pub steps: Shared<StepState>,
    /// How it will end, once it is known.
    pub ending: Option<(EndStatus, Option<String>)>,
    /// Whether somebody asked for the end.
    pub cancelling: bool,
    /// What the gate answered to its agent.
    pub verdicts: Verdicts,
    /// What all its agents and summaries have used of models.
    pub spent: Spent,
    pub(super) index: Index,
}

/// How often the gate answered the agent of a run with something else than a plain yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Verdicts {
    /// How much of the notes about it is in the log.
    pub until: u64,
    /// With a no.
    pub denied: u32,
    /// By asking a human.
    pub asked: u32,
    /// With a yes, and what is off.
    pub warned: u32,
    /// Notes that could not be read.
    pub lost: u32,
}

/// What is derived from the steps, kept so that each change costs only what it touches.
#[derive(Debug, Clone)]
pub(super) struct Index {
    /// The position of each step.
    pub(super) positions: Arc<HashMap<SmolStr, usize>>,
    /// The steps that each step waits for, whether `needs` names them or a template uses them.
    pub(super) waits: Arc<Vec<Vec<usize>>>,
    /// The steps that wait for each step.
    pub(super) dependents: Arc<Vec<Vec<usize>>>,
    /// Steps that wait for nothing and have not been looked at.
    pub(super) ready: Places,
    /// Steps that have instances and are not done.
    pub(super) open: Places,
    /// Instances with an attempt under way.
    pub(super) running: BTreeSet<(usize, usize)>,
    /// Instances that could start an attempt, by step.
    pub(super) startable: BTreeMap<usize, Places>,
    /// Instances that wait for a moment.
    pub(super) paused: BTreeSet<(Timestamp, usize, usize)>,
    /// Instances that wait for a human.
    pub(super) asking: BTreeSet<(usize, usize)>,
    /// Instances whose driver was lost.
    pub(super) lost: BTreeSet<(usize, usize)>,
    /// How many steps are done or skipped.
    pub(super) closed: usize,
    /// The hook that is running.
    pub(super) hook: Option<HookKey>,
    /// Whether the ability has the word `json` anywhere.
    pub(super) uses_json: bool,
}

/// How far the run as a whole is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// A human must agree to the plan.
    AwaitingPlan,
    /// Hooks before the steps; so many are done.
    Before(usize),
    /// The steps.
    Steps,
    /// Hooks after the steps; so many are done.
    After(usize),
    /// It is over.
    Finished(EndStatus, Option<String>),
}

/// How a run is, in one word, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// A human must agree to the plan.
    AwaitingPlan,
    /// Something is being done.
    Running,
    /// It waits for a human or a moment.
    Waiting,
    /// Every step is done or skipped.
    Completed,
    /// A step failed or was rejected.
    Failed,
    /// Somebody ended it.
    Cancelled,
    /// Its time was over.
    TimedOut,
    /// A driver was lost in the middle of a step; a human must say what to do.
    Interrupted,
}

impl RunStatus {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::AwaitingPlan => "awaiting_plan",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns whether nothing more will happen.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled | Self::TimedOut)
    }
}

impl Run {
    /// Begins a run from its first event; `ability` is what its source reads as.
    pub fn create(id: RunId, created: Created, ability: Arc<Ability>) -> Self {
        let waits: Vec<Vec<usize>> = dependencies(&ability)
            .iter()
            .map(|before| before.iter().map(|dependency| dependency.on).collect())
            .collect();
        let mut dependents = vec![Vec::new(); waits.len()];
        for (step, before) in waits.iter().enumerate() {
            for on in before {
                dependents[*on].push(step);
            }
        }
        let positions: HashMap<SmolStr, usize> =
            ability.steps.iter().enumerate().map(|(index, step)| (step.id.as_str().into(), index)).collect();
        let unmet: Vec<u32> = waits
            .iter()
            .zip(&ability.steps)
            .map(|(before, step)| unmet(before.len(), step, &positions))
            .collect();
        let ready =
            unmet.iter().enumerate().filter(|(_, unmet)| **unmet == 0).map(|(step, _)| step).collect();
        let steps = unmet.into_iter().map(|unmet| StepState { unmet, ..StepState::default() }).collect();
        let phase = if created.plan_approval { Phase::AwaitingPlan } else { Phase::Before(0) };
        let taken_over = created.taken_over.clone();
        let uses_json = created.source.contains("json");
        let mut run = Self {
            id,
            created: Arc::new(created),
            phase,
            steps,
            ending: None,
            cancelling: false,
            verdicts: Verdicts::default(),
            spent: Spent::default(),
            index: Index {
                positions: Arc::new(positions),
                waits: Arc::new(waits),
                dependents: Arc::new(dependents),
                ready,
                open: Places::default(),
                running: BTreeSet::new(),
                startable: BTreeMap::new(),
                paused: BTreeSet::new(),
                asking: BTreeSet::new(),
                lost: BTreeSet::new(),
                closed: 0,
                hook: None,
                uses_json,
            },
            ability,
        };
        for taken in taken_over {
            if let Some(position) = run.position(taken.step.as_str()) {
                let failed_items = taken.failed_items;
                let instances = taken.items.into_iter().map(|(label, item, result)| {
                    let failed = failed_items.iter().find(|(failed, _)| *failed == label);
                    let error = failed.map(|(_, error)| error.clone());
                    let state =
                        if error.is_some() { InstanceState::Failed } else { InstanceState::Completed };
                    Instance { state, result, error, ..Instance::new(Some(label), Some(item)) }
                });
                run.steps[position].expand(instances.collect());
                run.steps[position].result = taken.result;
                let (status, note) = match (taken.skipped_by, taken.failed) {
                    (Some(by), _) => (StepStatus::Skipped(Skip::Chosen { by }), None),
                    (None, Some(error)) => (StepStatus::Failed, Some(error)),
                    (None, None) => (StepStatus::Completed, None),
                };
                run.steps[position].note = Some(note.unwrap_or_else(|| "taken over".to_owned()));
                run.close_step(position, status);
            }
        }
        run
    }

    /// Returns the steps that run again when one does: that one, and whatever may build on what it did.
    ///
    /// Beside each other, steps say by their dependencies what they build on. One after the other, the order says it too:
    /// a deployment that names no need still deploys what the steps before it have made.
    pub fn steps_from(&self, step: usize) -> BTreeSet<usize> {
        let after = if self.ability.settings.is_parallel() { step + 1 } else { self.steps.len() };
        let mut found: BTreeSet<usize> = (step..after).collect();
        let mut open: Vec<usize> = found.iter().copied().collect();
        while let Some(step) = open.pop() {
            open.extend(self.index.dependents[step].iter().copied().filter(|next| found.insert(*next)));
        }
        found
    }

    /// Returns whether a step failed and the run went on all the same.
    pub fn went_on_without(&self, step: usize) -> bool {
        let failed = self.steps[step].status == StepStatus::Failed
            && self.on_failure(self.step(step)) == OnFailure::Continue;
        let (Phase::Finished(_, why), true) = (&self.phase, failed) else { return failed };
        // One that could not be decided about, or was lost, ends the run whatever it declares.
        let why = why.as_deref().unwrap_or_default();
        !(0..self.steps[step].instances.len().max(1))
            .any(|instance| why.starts_with(&format!("step `{}` ", self.key(step, instance))))
    }

    /// Returns the position of a step.
    pub fn position(&self, step: &str) -> Option<usize> {
        self.index.positions.get(step).copied()
    }

    /// Returns the definition of a step.
    pub fn step(&self, position: usize) -> &Step {
        &self.ability.steps[position]
    }

    /// Returns the key of an instance.
    pub fn key(&self, step: usize, instance: usize) -> StepKey {
        let item = self.steps[step].instances.get(instance).and_then(|instance| instance.label.clone());
        StepKey { step: self.ability.steps[step].id.value.clone(), item }
    }

    /// Returns where the instance of a key is.
    pub fn find(&self, key: &StepKey) -> Option<(usize, usize)> {
        let step = self.position(key.step.as_str())?;
        let state = &self.steps[step];
        let instance = match &key.item {
            Some(label) => state.labels.get(label).copied()?,
            None => state.instances.first().filter(|only| only.label.is_none()).map(|_| 0)?,
        };
        Some((step, instance))
    }

    /// Returns the instance of a key.
    pub fn instance(&self, key: &StepKey) -> Option<&Instance> {
        self.find(key).map(|(step, instance)| &self.steps[step].instances[instance])
    }

    /// Returns how the run is, in one word.
    pub fn status(&self) -> RunStatus {
        match &self.phase {
            Phase::AwaitingPlan => RunStatus::AwaitingPlan,
            Phase::Finished(EndStatus::Completed, _) => RunStatus::Completed,
            Phase::Finished(EndStatus::Failed, _) => RunStatus::Failed,
            Phase::Finished(EndStatus::Cancelled, _) => RunStatus::Cancelled,
            Phase::Finished(EndStatus::TimedOut, _) => RunStatus::TimedOut,
            // Nobody has to decide about a lost step of a run that ends.
            _ if !self.index.lost.is_empty() && self.ending.is_none() => RunStatus::Interrupted,
            _ if !self.index.running.is_empty() || self.index.hook.is_some() => RunStatus::Running,
            _ if !self.index.asking.is_empty() || !self.index.paused.is_empty() => RunStatus::Waiting,
            _ => RunStatus::Running,
        }
    }

    /// Returns whether the run is over.
    pub fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Finished(..))
    }

    /// Returns how many steps are over, done or not.
    pub fn closed(&self) -> usize {
        self.index.closed
    }

    /// Returns the instances with an attempt under way, and its number.
    pub fn in_flight(&self) -> Vec<(StepKey, u32)> {
        let attempt = |(step, instance): &(usize, usize)| {
            (self.key(*step, *instance), self.steps[*step].instances[*instance].attempt)
        };
        self.index.running.iter().map(attempt).collect()
    }

    /// Returns whether anything may look at outputs as data; known once, because abilities can be long.
    pub fn uses_json(&self) -> bool {
        self.index.uses_json
    }

    /// Returns the hook that is under way.
    pub fn hook_in_flight(&self) -> Option<&HookKey> {
        self.index.hook.as_ref()
    }

    /// Returns the questions that wait for a human.
    pub fn questions(&self) -> Vec<(StepKey, &Question)> {
        let asked = self.index.asking.iter().filter_map(|(step, instance)| {
            match &self.steps[*step].instances[*instance].state {
                InstanceState::Asking(question) => Some((self.key(*step, *instance), question)),
                _ => None,
            }
        });
        asked.collect()
    }

    /// Returns the instances whose driver was lost.
    pub fn lost(&self) -> Vec<StepKey> {
        self.index.lost.iter().map(|(step, instance)| self.key(*step, *instance)).collect()
    }

    /// Returns the next moment at which something happens by itself.
    pub fn next_moment(&self) -> Option<Timestamp> {
        if self.is_finished() {
            return None;
        }
        // What is due but has no room begins when something else ends, not at a moment.
        let has_room = self.index.running.len() < self.capacity() && self.index.lost.is_empty();
        let paused = self.index.paused.first().map(|(at, ..)| *at).filter(|_| has_room);
        let asked = self.questions().into_iter().filter_map(|(_, question)| question.deadline).min();
        let own = self.created.deadline.filter(|_| self.ending.is_none());
        let waiting = if self.ending.is_some() { None } else { paused.into_iter().chain(asked).min() };
        waiting.into_iter().chain(own).min()
    }

    /// Returns what happens when a step fails for good.
    pub(crate) fn on_failure(&self, step: &Step) -> OnFailure {
        let own = step.on_failure.as_ref().or(self.ability.settings.on_failure.as_ref());
        own.map_or(OnFailure::Stop, |word| word.value)
    }

    /// Returns how many attempts may be under way at the same time.
    pub(crate) fn capacity(&self) -> usize {
        if !self.ability.settings.is_parallel() {
            return usize::MAX;
        }
        self.ability.settings.max_parallel.as_ref().map_or(4, |most| most.value as usize)
    }

    /// Returns what the agent of a step may still use of models: the smaller of what is left of the step's budget and of the run's.
    pub fn budget_left(&self, step: usize) -> Result<Budget, Exhausted> {
        let own = match &self.step(step).kind {
            StepKind::Agent(agent) => agent.budget,
            StepKind::Skill(skill) => skill.budget,
            StepKind::Script(_) | StepKind::Approval(_) | StepKind::Workflow(_) => Budget::default(),
        };
        Ok(own.left(&self.steps[step].spent)?.and(self.run_budget_left()?))
    }

    /// Returns what everybody in the run may still use of models.
    pub fn run_budget_left(&self) -> Result<Budget, Exhausted> {
        self.ability.settings.budget.left(&self.spent)
    }

    /// Returns the hooks of a phase.
    pub(crate) fn hooks(&self, phase: HookPhase) -> Vec<HookKey> {
        self.created.hooks.iter().filter(|hook| hook.phase == phase).cloned().collect()
    }

    /// Closes a step and tells the steps that wait for it.
    pub(super) fn close_step(&mut self, step: usize, status: StepStatus) {
        if self.steps[step].status.is_closed() {
            return;
        }
        self.steps[step].status = status;
        self.index.ready.remove(step);
        self.index.open.remove(step);
        self.index.closed += 1;
        let dependents = Arc::clone(&self.index.dependents);
        for dependent in dependents[step].iter().copied() {
            let state = &mut self.steps[dependent];
            state.unmet = state.unmet.saturating_sub(1);
            if state.unmet == 0 && state.status == StepStatus::Waiting {
                self.index.ready.insert(dependent);
            }
        }
    }
}

/// Returns for how many steps a step waits, of which so many are known and not closed.
///
/// A need that is no step is never met, so that a run that lacks one does not complete without it.
pub(super) fn unmet(open: usize, step: &Step, positions: &HashMap<SmolStr, usize>) -> u32 {
    let lacks = step.needs.iter().any(|need| !positions.contains_key(need.as_str()));
    u32::try_from(open).unwrap_or(u32::MAX).saturating_add(u32::from(lacks))
}
