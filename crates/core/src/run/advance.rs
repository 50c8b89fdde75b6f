//! What follows by itself: the next event that nobody has to cause.

use super::scope::RunScope;
use super::state::{Phase, Run};
use super::step::StepStatus;
use crate::definition::{ApprovalStep, Items, Step, StepKind};
use crate::event::{
    AttemptFailure, EndStatus, Event, HookPhase, Question, QuestionKind, Skip, StepKey, StepResult, Then,
    Timestamp,
};
use crate::value::{Duration, Value};
use smol_str::SmolStr;
use std::collections::HashSet;

/// How long an attempt may take when the step does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_millis(5 * 60 * 1000);

impl Run {
    /// Returns what follows now, in order, and applies it; empty when the run waits for something outside.
    ///
    /// The driver appends the events before it does what they ask for. `secrets` are the values of secret
    /// inputs, which conditions may look at.
    pub fn advance(&mut self, now: Timestamp, secrets: &[(String, String)]) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next(now, secrets) {
            self.apply(&event);
            events.push(event);
        }
        events
    }

    /// Only [`Run::apply`] changes a run: what is in no event would be lost with the driver.
    fn next(&self, now: Timestamp, secrets: &[(String, String)]) -> Option<Event> {
        match &self.phase {
            Phase::Finished(..) => None,
            _ if self.ending.is_some() => self.next_of_the_end(),
            // A driver may look after a long time: nothing begins that would be ended at once.
            Phase::AwaitingPlan | Phase::Before(_) | Phase::Steps if self.is_overdue(now) => {
                Some(Event::DeadlinePassed)
            }
            Phase::AwaitingPlan => None,
            Phase::Before(_) if self.before_is_done() => self.next_step(now, secrets),
            Phase::Before(done) => self.next_hook(HookPhase::Before, *done),
            Phase::After(_) => self.next_of_the_end(),
            Phase::Steps => self.next_step(now, secrets),
        }
    }

    fn is_overdue(&self, now: Timestamp) -> bool {
        // When everything is done, there is nothing to end.
        let is_done = self.index.closed == self.steps.len() && self.index.hook.is_none();
        !is_done && self.created.deadline.is_some_and(|deadline| deadline <= now)
    }

    fn next_hook(&self, phase: HookPhase, done: usize) -> Option<Event> {
        if self.index.hook.is_some() {
            return None;
        }
        self.hooks(phase).into_iter().nth(done).map(|hook| Event::HookStarted { hook })
    }

    /// Lets what is under way end, then runs the hooks after the steps, then ends the run.
    fn next_of_the_end(&self) -> Option<Event> {
        if !self.index.running.is_empty() || self.index.hook.is_some() {
            return None;
        }
        // A run whose plan was never agreed to has nothing to clean up after.
        let done = match self.phase {
            Phase::AwaitingPlan => None,
            Phase::After(done) => Some(done),
            _ => Some(0),
        };
        if let Some(event) = done.and_then(|done| self.next_hook(HookPhase::After, done)) {
            return Some(event);
        }
        let (status, error) = self.outcome();
        Some(Event::Finished { status, error })
    }

    fn next_step(&self, now: Timestamp, secrets: &[(String, String)]) -> Option<Event> {
        // Whoever was lost must be found before anything else begins.
        if !self.index.lost.is_empty() {
            return None;
        }
        if let Some(event) = self.next_attempt(now) {
            return Some(event);
        }
        let parallel = self.ability.settings.is_parallel();
        let may_open =
            if parallel { self.index.running.len() < self.capacity() } else { self.index.open.is_empty() };
        if may_open && let Some(step) = self.index.ready.first() {
            return Some(self.open(step, now, secrets));
        }
        if self.index.open.is_empty() && self.index.ready.is_empty() {
            return self.next_of_the_end();
        }
        None
    }

    /// Starts the first instance that can start.
    fn next_attempt(&self, now: Timestamp) -> Option<Event> {
        if self.index.running.len() >= self.capacity() {
            return None;
        }
        let due = self.index.paused.first().filter(|(at, ..)| *at <= now);
        let due = due.map(|(_, step, instance)| (*step, *instance));
        let startable = || {
            let (step, places) = self.index.startable.iter().find(|(step, _)| self.has_room(**step))?;
            Some((*step, places.first()?))
        };
        let (step, instance) = due.or_else(startable)?;
        Some(self.begin(step, instance, now))
    }

    /// Tells whether another instance of a step may run beside those that do.
    fn has_room(&self, step: usize) -> bool {
        let most = self.step(step).for_each.as_ref().and_then(|for_each| for_each.max_parallel.as_ref());
        let most = most.map_or(1, |most| most.value as usize);
        let under_way = self.index.running.range((step, 0)..(step + 1, 0)).count();
        let waiting = self.index.asking.range((step, 0)..(step + 1, 0)).count();
        let resting = self.index.paused.iter().filter(|(_, paused, _)| *paused == step).count();
        under_way + waiting + resting < most
    }

    /// Looks at a step that waits for nothing any more.
    fn open(&self, step: usize, now: Timestamp, secrets: &[(String, String)]) -> Event {
        let definition = self.step(step);
        let id = definition.id.value.clone();
        let key = StepKey::of(id.clone());
        let scope = RunScope::new(self, None, secrets);
        if let Some(need) = self.rejected_need(step) {
            return Event::StepSkipped { step: id, why: Skip::Rejected { need } };
        }
        if let Some(when) = &definition.when {
            match when.evaluate_condition(&scope) {
                Ok(true) => {}
                Ok(false) => {
                    return Event::StepSkipped {
                        step: id,
                        why: Skip::When { because: when.explain(&scope) },
                    };
                }
                Err(error) => return broken(key, 0, format!("`when` cannot be decided: {error}")),
            }
        }
        let Some(for_each) = &definition.for_each else {
            return self.begin(step, 0, now);
        };
        let items = match &for_each.items.value {
            Items::List(items) => Ok(Value::List(items.clone())),
            // Items are in the log: secret inputs stay masked in it.
            Items::Template(template) => {
                template.render_value(&RunScope::new(self, None, &[])).map_err(|error| error.to_string())
            }
        };
        match items {
            Ok(Value::List(items)) => Event::StepExpanded { step: id, items: labelled(items) },
            Ok(other) => broken(key, 0, format!("`for_each` takes a list, and this is {}", other.kind())),
            Err(error) => broken(key, 0, format!("`for_each` cannot be decided: {error}")),
        }
    }

    /// Returns a step that this one waits for and that was rejected, or skipped for such a reason.
    ///
    /// A step whose `when` asks for just that no is made for it. Any other condition, also one that happens to be true
    /// after a no, does not get round it.
    fn rejected_need(&self, step: usize) -> Option<crate::definition::StepId> {
        let is_for_the_no = |on: usize| {
            let path = ["steps", self.step(on).id.as_str(), "answer"];
            let when = self.step(step).when.as_ref();
            when.is_some_and(|when| when.demands(&path, ApprovalStep::REJECTED))
        };
        let rejected = |on: &&usize| match self.steps[**on].status {
            StepStatus::Rejected => !is_for_the_no(**on),
            StepStatus::Skipped(Skip::Rejected { .. }) => true,
            _ => false,
        };
        self.index.waits[step].iter().find(rejected).map(|on| self.step(*on).id.value.clone())
    }

    fn begin(&self, step: usize, instance: usize, now: Timestamp) -> Event {
        let definition = self.step(step);
        let (key, attempt) = match self.steps[step].instances.get(instance) {
            Some(entry) => (self.key(step, instance), entry.attempt + 1),
            None => (StepKey::of(definition.id.value.clone()), 1),
        };
        let deadline = Self::time_limit(definition).map(|limit| now.after(limit.time()));
        match &definition.kind {
            StepKind::Approval(approval) => self.ask(key, approval, deadline),
            _ => Event::AttemptStarted { key, attempt, deadline },
        }
    }

    /// Returns how long an attempt of a step may take.
    pub(crate) fn time_limit(step: &Step) -> Option<Duration> {
        let own = step.timeout.as_ref().map(|timeout| timeout.value);
        match step.kind {
            StepKind::Approval(_) | StepKind::Workflow(_) => own,
            StepKind::Script(_) | StepKind::Agent(_) | StepKind::Skill(_) => {
                Some(own.unwrap_or(DEFAULT_TIMEOUT))
            }
        }
    }

    fn ask(&self, key: StepKey, approval: &ApprovalStep, deadline: Option<Timestamp>) -> Event {
        // What is asked is in the log: secret inputs stay masked in it.
        let scope = RunScope::new(self, self.find(&key), &[]);
        let prompt = match approval.prompt.render(&scope) {
            Ok(prompt) => prompt.trim_end().to_owned(),
            Err(error) => return broken(key, 1, format!("its prompt cannot be written: {error}")),
        };
        let options = if approval.options.is_empty() {
            vec![
                ("Approve".to_owned(), SmolStr::new_static(ApprovalStep::APPROVED)),
                ("Reject".to_owned(), SmolStr::new_static(ApprovalStep::REJECTED)),
            ]
        } else {
            approval
                .options
                .iter()
                .map(|option| (option.label.value.clone(), option.value.as_str().into()))
                .collect()
        };
        let approvers = approval.approvers.iter().map(|approver| approver.value.clone()).collect();
        Event::QuestionAsked {
            key,
            question: Question { about: QuestionKind::Approval, prompt, options, approvers, deadline },
        }
    }

    /// Returns how a run ends that has nothing left to do, which the hooks after the steps are told.
    ///
    /// Fail closed: a step that was never looked at, or a rejection, is not completion.
    pub fn outcome(&self) -> (EndStatus, Option<String>) {
        if let Some(ending) = &self.ending {
            return ending.clone();
        }
        let rejected = self.steps.iter().position(|state| state.status == StepStatus::Rejected);
        if self.index.closed < self.steps.len() || self.steps.is_empty() {
            (EndStatus::Failed, Some("some steps could never begin".to_owned()))
        } else if let Some(step) = rejected {
            let why = self.steps[step].note.clone().unwrap_or_else(|| "rejected".to_owned());
            (EndStatus::Failed, Some(format!("step `{}`: {why}", *self.step(step).id)))
        } else {
            (EndStatus::Completed, None)
        }
    }
}

fn broken(key: StepKey, attempt: u32, message: String) -> Event {
    Event::AttemptFailed {
        key,
        attempt,
        failure: AttemptFailure::Expression(message),
        result: StepResult::default(),
        then: Then::Stop,
    }
}

/// Gives each item the label of its instance: the item itself where that makes a name, else its position.
fn labelled(items: Vec<Value>) -> Vec<(SmolStr, Value)> {
    let mut used = HashSet::new();
    let label = |index: usize, item: &Value| -> SmolStr {
        let text = match item {
            Value::Text(text) => text.clone(),
            Value::Int(_) | Value::Bool(_) => item.to_string(),
            _ => String::new(),
        };
        let fits = !text.is_empty()
            && text.len() <= 40
            && text
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.'));
        if fits { text.into() } else { index.to_string().into() }
    };
    items
        .into_iter()
        .enumerate()
        .map(|(index, item)| {
            let plain = label(index, &item);
            let mut name = plain.clone();
            // The name that tells two apart may be a third one's own.
            let mut number = index;
            while !used.insert(name.clone()) {
                name = format!("{plain}.{number}").into();
                number += 1;
            }
            (name, item)
        })
        .collect()
}
