//! The only way a run changes.

use super::decide::failure_question;
use super::places::Places;
use super::shared::Shared;
use super::state::{Phase, Run};
use super::step::{Instance, InstanceState, StepStatus};
use crate::definition::ApprovalStep;
use crate::event::{
    AttemptFailure, EndStatus, Event, HookPhase, LossDecision, NotedVerdict, Output, QuestionKind, Skip,
    StepKey, StepResult, Then, VerdictAnswer,
};
use crate::model::Cost;
use crate::turn::Spent;
use smol_str::SmolStr;

impl Run {
    /// Takes in what happened.
    ///
    /// An event that does not fit (it cannot come from [`Run::advance`] or [`Run::decide`]) changes nothing.
    pub fn apply(&mut self, event: &Event) {
        match event {
            // The first event made the run; see [`Run::create`].
            Event::Created(_) => {}
            Event::PlanAnswered { approved: true, .. } => self.phase = Phase::Before(0),
            Event::PlanAnswered { by, approved: false, comment } => {
                self.end(EndStatus::Cancelled, Some(said("the plan was rejected", by, comment.as_deref())));
            }
            Event::HookStarted { hook } => {
                if hook.phase == HookPhase::After && !matches!(self.phase, Phase::After(_)) {
                    self.phase = Phase::After(0);
                }
                self.index.hook = Some(hook.clone());
            }
            Event::HookEnded { hook, error } => {
                self.index.hook = None;
                match (&self.phase, error) {
                    (Phase::Before(_), Some(error)) => {
                        self.end(EndStatus::Failed, Some(format!("{hook} failed: {error}")));
                    }
                    (Phase::Before(done), None) => self.phase = Phase::Before(done + 1),
                    // What fails after the steps is in the log and changes nothing about them.
                    (Phase::After(done), _) => self.phase = Phase::After(done + 1),
                    _ => {}
                }
            }
            Event::StepSkipped { step, why } => {
                if let Some(step) = self.position(step.as_str()) {
                    self.steps[step].note = Some(match why {
                        Skip::When { because } => because.clone(),
                        Skip::Rejected { need } => format!("needs `{need}`, which was rejected"),
                        Skip::Chosen { by } => format!("skipped by {by}"),
                    });
                    self.close_step(step, StepStatus::Skipped(why.clone()));
                }
            }
            Event::StepExpanded { step, items } => {
                if let Some(step) = self.position(step.as_str()) {
                    let instances = items
                        .iter()
                        .map(|(label, item)| Instance::new(Some(label.clone()), Some(item.clone())));
                    self.steps[step].expand(instances.collect());
                    self.open_step(step);
                    self.settle(step);
                }
            }
            Event::AttemptStarted { key, attempt, deadline } => self.start(key, *attempt, *deadline),
            Event::AttemptSucceeded { key, result, again, .. } => {
                if let Some((step, instance)) = self.leave(key) {
                    let state = match again {
                        Some(at) => InstanceState::Paused(*at),
                        None => InstanceState::Completed,
                    };
                    self.spend(step, result);
                    let until = self.step(step).repeat.as_ref().filter(|_| again.is_some());
                    let missing = until.map(|repeat| format!("`{}` does not hold yet", repeat.until.text()));
                    let entry = &mut self.steps[step].instances[instance];
                    entry.result = result.clone();
                    entry.missing = missing.into_iter().collect();
                    self.enter(step, instance, state);
                }
            }
            Event::AttemptFailed { key, failure, result, then, .. } => {
                if let Some((step, instance)) = self.leave_or_open(key) {
                    self.spend(step, result);
                    let state = after_failure(key, failure, *then);
                    let entry = &mut self.steps[step].instances[instance];
                    entry.result = result.clone();
                    entry.error = Some(failure.to_string());
                    entry.missing = match failure {
                        AttemptFailure::Evidence(missing) => missing.clone(),
                        _ => Vec::new(),
                    };
                    if matches!(then, Then::Retry(_)) {
                        entry.retries += 1;
                    }
                    self.enter(step, instance, state);
                    if *then == Then::Stop {
                        self.end(EndStatus::Failed, Some(format!("step `{key}` failed: {failure}")));
                    }
                }
            }
            Event::AttemptCancelled { key, .. } => {
                if let Some((step, instance)) = self.leave(key) {
                    self.enter(step, instance, InstanceState::Cancelled);
                }
            }
            Event::AttemptLost { key, rerun, .. } => {
                if let Some((step, instance)) = self.leave(key) {
                    let state = if *rerun { InstanceState::Ready } else { InstanceState::Lost };
                    self.enter(step, instance, state);
                }
            }
            Event::LossResolved { key, by, decision } => {
                if let Some((step, instance)) = self.leave(key) {
                    match decision {
                        LossDecision::Rerun => self.enter(step, instance, InstanceState::Ready),
                        LossDecision::Fail => self.fail_lost(key, (step, instance), by),
                    }
                }
            }
            Event::StepSummarized { step, summary, usage, .. } => {
                if let Some(step) = self.position(step.as_str()) {
                    let result = &mut self.steps[step].result;
                    result.summary = Some(summary.clone());
                    result.usage = Some(result.usage.unwrap_or_default() + *usage);
                    self.spent.add(*usage, Cost::default(), 1);
                }
            }
            Event::QuestionAsked { key, question } => {
                if let Some((step, instance)) = self.leave_or_open(key) {
                    self.enter(step, instance, InstanceState::Asking(question.clone()));
                }
            }
            Event::QuestionAnswered { key, answer, by, comment } => {
                self.answered(key, answer, Some((by, comment.as_deref())));
            }
            Event::QuestionExpired { key } => self.answered(key, ApprovalStep::REJECTED, None),
            Event::CancelRequested { by, reason } => {
                self.cancelling = true;
                self.end(EndStatus::Cancelled, Some(said("it was cancelled", by, reason.as_deref())));
            }
            Event::DeadlinePassed => self.end(EndStatus::TimedOut, Some("its time was over".to_owned())),
            Event::VerdictNoted { until, verdict } => {
                let verdicts = &mut self.verdicts;
                verdicts.until = *until;
                let count = match verdict {
                    NotedVerdict::Lost(_) => &mut verdicts.lost,
                    NotedVerdict::Given(given) => match given.answer {
                        VerdictAnswer::Denied => &mut verdicts.denied,
                        VerdictAnswer::Asked => &mut verdicts.asked,
                        VerdictAnswer::Warned => &mut verdicts.warned,
                    },
                };
                *count = count.saturating_add(1);
            }
            Event::Finished { status, error } => {
                for step in 0..self.steps.len() {
                    if !self.steps[step].status.is_closed() {
                        self.close_step(step, StepStatus::Cancelled);
                    }
                }
                self.index.paused.clear();
                self.index.asking.clear();
                self.index.lost.clear();
                self.phase = Phase::Finished(*status, error.clone());
            }
        }
    }

    /// Counts what an attempt has used.
    fn spend(&mut self, step: usize, result: &StepResult) {
        let Spent { usage, cost, turns } = result.spent();
        if (Spent { usage, cost, turns }) != Spent::default() {
            self.steps[step].spent.add(usage, cost, turns);
            self.spent.add(usage, cost, turns);
        }
    }

    /// Counts a lost attempt as failed: what follows is what the step says about failures.
    fn fail_lost(&mut self, key: &StepKey, (step, instance): (usize, usize), by: &SmolStr) {
        let failure = AttemptFailure::Lost(by.clone());
        self.steps[step].instances[instance].error = Some(failure.to_string());
        let then = self.after_loss(step);
        self.enter(step, instance, after_failure(key, &failure, then));
        if then == Then::Stop {
            let why = format!("step `{key}` was lost, and {by} counted it as failed");
            self.end(EndStatus::Failed, Some(why));
        }
    }

    /// Remembers how the run will end; the first reason stays.
    fn end(&mut self, status: EndStatus, error: Option<String>) {
        if self.ending.is_none() {
            self.ending = Some((status, error));
        }
    }

    fn open_step(&mut self, step: usize) {
        // The first step that begins ends the time of the hooks before them.
        if matches!(self.phase, Phase::Before(_)) {
            self.phase = Phase::Steps;
        }
        self.steps[step].status = StepStatus::Open;
        self.index.ready.remove(step);
        self.index.open.insert(step);
        let instances = self.steps[step].instances.len();
        if instances > 0 {
            self.index.startable.insert(step, Places::before(instances));
        }
    }

    fn start(&mut self, key: &StepKey, attempt: u32, deadline: Option<crate::event::Timestamp>) {
        let Some((step, instance)) = self.leave_or_open(key) else { return };
        let entry = &mut self.steps[step].instances[instance];
        entry.attempt = attempt;
        entry.rounds += 1;
        self.enter(step, instance, InstanceState::Running { deadline });
    }

    /// Finds an instance, making the only one of a step that has just begun.
    fn leave_or_open(&mut self, key: &StepKey) -> Option<(usize, usize)> {
        let step = self.position(key.step.as_str())?;
        if self.steps[step].instances.is_empty() && key.item.is_none() {
            self.steps[step].expand(Shared::from_iter([Instance::new(None, None)]));
            self.open_step(step);
        }
        self.leave(key)
    }

    /// Takes an instance out of wherever it is.
    fn leave(&mut self, key: &StepKey) -> Option<(usize, usize)> {
        let (step, instance) = self.find(key)?;
        let at = (step, instance);
        self.index.running.remove(&at);
        if let Some(places) = self.index.startable.get_mut(&step) {
            places.remove(instance);
            if places.is_empty() {
                self.index.startable.remove(&step);
            }
        }
        self.index.asking.remove(&at);
        self.index.lost.remove(&at);
        if let InstanceState::Paused(moment) = self.steps[step].instances[instance].state {
            self.index.paused.remove(&(moment, step, instance));
        }
        Some(at)
    }

    /// Puts an instance where it is now, and settles its step when it was the last.
    fn enter(&mut self, step: usize, instance: usize, state: InstanceState) {
        let at = (step, instance);
        match &state {
            InstanceState::Ready => {
                self.index.startable.entry(step).or_default().insert(instance);
            }
            InstanceState::Running { .. } => {
                self.index.running.insert(at);
            }
            InstanceState::Paused(moment) => {
                self.index.paused.insert((*moment, step, instance));
            }
            InstanceState::Asking(_) => {
                self.index.asking.insert(at);
            }
            InstanceState::Lost => {
                self.index.lost.insert(at);
            }
            _ => {}
        }
        let entry = &mut self.steps[step];
        let (was_done, is_done) = (entry.instances[instance].state.is_done(), state.is_done());
        match (was_done, is_done) {
            (false, true) => entry.undone -= 1,
            (true, false) => entry.undone += 1,
            _ => {}
        }
        entry.instances[instance].state = state;
        self.settle(step);
    }

    fn answered(&mut self, key: &StepKey, answer: &str, who: Option<(&SmolStr, Option<&str>)>) {
        let Some((step, instance)) = self.find(key) else { return };
        let InstanceState::Asking(question) = self.steps[step].instances[instance].state.clone() else {
            return;
        };
        self.leave(key);
        let by = who.map(|(by, _)| by.clone());
        match question.about {
            QuestionKind::Approval => {
                self.steps[step].instances[instance].result = StepResult {
                    output: Output::whole(answer),
                    answer: Some(answer.into()),
                    by: by.clone(),
                    comment: who.and_then(|(_, comment)| comment).map(str::to_owned),
                    ..StepResult::default()
                };
                let state = if answer == ApprovalStep::REJECTED {
                    let whose = by.as_deref().map_or_else(
                        || "nobody answered in time".to_owned(),
                        |by| format!("rejected by {by}"),
                    );
                    let comment = who.and_then(|(_, comment)| comment).map(|comment| format!(": {comment}"));
                    self.steps[step].instances[instance].error =
                        Some(format!("{whose}{}", comment.unwrap_or_default()));
                    InstanceState::Rejected
                } else {
                    InstanceState::Completed
                };
                self.enter(step, instance, state);
            }
            QuestionKind::Failure => match answer {
                "retry" => self.enter(step, instance, InstanceState::Ready),
                "skip" => {
                    self.steps[step].instances[instance].result.by = by;
                    self.enter(step, instance, InstanceState::Skipped);
                }
                _ => {
                    let error = self.steps[step].instances[instance].error.clone().unwrap_or_default();
                    self.enter(step, instance, InstanceState::Failed);
                    self.end(EndStatus::Failed, Some(format!("step `{key}` failed: {error}")));
                }
            },
        }
    }

    /// Closes a step when all of its instances are done.
    fn settle(&mut self, step: usize) {
        if self.steps[step].undone > 0 {
            return;
        }
        let instances = &self.steps[step].instances;
        let has = |wanted: &InstanceState| instances.iter().any(|instance| instance.state == *wanted);
        let status = if has(&InstanceState::Cancelled) {
            StepStatus::Cancelled
        } else if has(&InstanceState::Rejected) {
            StepStatus::Rejected
        } else if has(&InstanceState::Failed) {
            StepStatus::Failed
        } else if !instances.is_empty()
            && instances.iter().all(|instance| instance.state == InstanceState::Skipped)
        {
            let by = instances.iter().find_map(|instance| instance.result.by.clone());
            StepStatus::Skipped(Skip::Chosen { by: by.unwrap_or_default() })
        } else {
            StepStatus::Completed
        };
        let note = instances.iter().find_map(|instance| instance.error.clone());
        let result = match instances.first() {
            Some(only) if only.label.is_none() => only.result.clone(),
            _ => joined(instances),
        };
        let state = &mut self.steps[step];
        state.result = result;
        if status != StepStatus::Completed {
            state.note = note;
        }
        self.close_step(step, status);
    }

    /// Tells when the hooks before the steps are done, which is not an event of its own.
    pub(super) fn before_is_done(&self) -> bool {
        matches!(self.phase, Phase::Before(done) if done >= self.hooks(HookPhase::Before).len())
    }
}

/// Returns where an instance is after a failure.
fn after_failure(key: &StepKey, failure: &AttemptFailure, then: Then) -> InstanceState {
    match then {
        Then::Retry(at) => InstanceState::Paused(at),
        // The question follows as its own event, but a log that ends before it asks all the same.
        Then::Ask => InstanceState::Asking(failure_question(key, failure)),
        Then::Continue | Then::Stop => InstanceState::Failed,
    }
}

/// Joins the outputs of instances, one after the other.
fn joined(instances: &Shared<Instance>) -> StepResult {
    let mut output = Output::default();
    for instance in instances {
        let text = &instance.result.output;
        if !output.text.is_empty() && !output.text.ends_with('\n') {
            output.text.push('\n');
        }
        output.text.push_str(&text.text);
        output.bytes += text.bytes;
        output.cut |= text.cut;
    }
    StepResult { output, ..StepResult::default() }
}

fn said(what: &str, by: &str, comment: Option<&str>) -> String {
    match comment {
        Some(comment) => format!("{what} by {by}: {comment}"),
        None => format!("{what} by {by}"),
    }
}
