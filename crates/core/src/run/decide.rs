//! What follows from something that happened outside, or why it may not happen.

use super::command::{Command, Refusal};
use super::scope::RunScope;
use super::state::{Phase, Run};
use super::step::InstanceState;
use crate::definition::{ApprovalStep, OnFailure, Repeat, Step, StepKind};
use crate::event::{
    AttemptFailure, EndStatus, Event, LossDecision, NotedVerdict, Observation, ProcessEnd, Question,
    QuestionKind, StepKey, StepResult, Then, Timestamp,
};
use crate::value::Duration as Written;
use smol_str::SmolStr;
use std::time::Duration;

/// The first wait before a retry, and the one between rounds, when the step does not say.
const PAUSE: Written = Written::from_millis(1_000);
/// No wait is longer.
const LONGEST_DELAY: Duration = Duration::from_hours(1);
/// How often a `repeat` runs its step, when it does not say.
const ROUNDS: u32 = 5;

impl Run {
    /// Returns what follows from a command; nothing is applied.
    pub fn decide(&self, command: Command, secrets: &[(String, String)]) -> Result<Vec<Event>, Refusal> {
        if let Phase::Finished(status, _) = &self.phase {
            // Time passes for finished runs too, and a late report of an attempt changes nothing.
            return match command {
                Command::Tick { .. } | Command::Recover { .. } => Ok(Vec::new()),
                // Notes are often read when the run is over.
                Command::TakeVerdicts { noted } => Ok(self.new_verdicts(noted)),
                _ => Err(Refusal::Finished { run: self.id.clone(), status: verb(*status) }),
            };
        }
        match command {
            Command::Tick { now } => Ok(self.tick(now)),
            Command::AnswerPlan { by, approved, comment } => match self.phase {
                Phase::AwaitingPlan if self.ending.is_none() => {
                    Ok(vec![Event::PlanAnswered { by, approved, comment }])
                }
                _ => Err(Refusal::NoPlan(self.id.clone())),
            },
            Command::HookEnded { hook, error } => match &self.index.hook {
                Some(known) if *known == hook => Ok(vec![Event::HookEnded { hook, error }]),
                _ => Err(Refusal::NoHook(hook)),
            },
            Command::AttemptEnded { key, attempt, observation, now } => {
                self.attempt_ended(key, attempt, *observation, now, secrets)
            }
            Command::Summarized { step, summary, model, usage } => {
                let known = self.position(step.as_str()).map(|position| &self.steps[position]);
                // One summary is enough, and a step that is not over has nothing to be summarized.
                let is_new =
                    known.is_some_and(|known| known.status.is_closed() && known.result.summary.is_none());
                let event = Event::StepSummarized { step, summary, model, usage };
                Ok(if is_new { vec![event] } else { Vec::new() })
            }
            Command::Answer { key, answer, by, comment, now } => self.answer(key, answer, by, comment, now),
            Command::Cancel { by, reason } => match &self.ending {
                Some(_) => Err(Refusal::Ending(self.id.clone())),
                None => Ok(vec![Event::CancelRequested { by, reason }]),
            },
            Command::Recover { again } => Ok(self.recover(&again)),
            Command::TakeVerdicts { noted } => Ok(self.new_verdicts(noted)),
            Command::Resolve { key, by, decision } => match self.instance(&key) {
                None => Err(Refusal::NoStep(key)),
                Some(instance) if instance.state == InstanceState::Lost => {
                    Ok(self.resolved(key, by, decision))
                }
                Some(_) => Err(Refusal::NotLost(key)),
            },
        }
    }

    /// Returns the verdicts that are not in the log: of two that read the same notes, the second finds none.
    fn new_verdicts(&self, noted: Vec<(u64, NotedVerdict)>) -> Vec<Event> {
        let new = noted.into_iter().filter(|(until, _)| *until > self.verdicts.until);
        new.map(|(until, verdict)| Event::VerdictNoted { until, verdict }).collect()
    }

    fn tick(&self, now: Timestamp) -> Vec<Event> {
        if self.ending.is_some() {
            return Vec::new();
        }
        if self.created.deadline.is_some_and(|deadline| deadline <= now) {
            return vec![Event::DeadlinePassed];
        }
        let expired = self
            .questions()
            .into_iter()
            .filter(|(_, question)| question.deadline.is_some_and(|at| at <= now));
        expired.map(|(key, _)| Event::QuestionExpired { key }).collect()
    }

    /// An attempt that was under way is run again only where that was declared safe, or where its worker can go on.
    fn recover(&self, again: &[StepKey]) -> Vec<Event> {
        let mut events = Vec::new();
        if let Some(hook) = &self.index.hook {
            // Not a human's to decide: behind a hook before the steps nothing has begun, and a new run is as good; one
            // after the steps changes nothing about them.
            let error = "its driver was lost".to_owned();
            events.push(Event::HookEnded { hook: hook.clone(), error: Some(error) });
        }
        for (key, attempt) in self.in_flight() {
            let Some((step, _)) = self.find(&key) else { continue };
            let definition = self.step(step);
            let idempotent = definition.idempotent.as_ref().is_some_and(|flag| flag.value);
            // A child run has its own log, which its driver continues.
            let is_child = matches!(definition.kind, StepKind::Workflow(_));
            if is_child {
                continue;
            }
            let rerun = idempotent || again.contains(&key) || self.on_failure(definition) == OnFailure::Retry;
            events.push(if self.ending.is_some() {
                Event::AttemptCancelled { key, attempt }
            } else {
                Event::AttemptLost { key, attempt, rerun }
            });
        }
        events
    }

    fn answer(
        &self,
        key: StepKey,
        answer: SmolStr,
        by: SmolStr,
        comment: Option<String>,
        now: Timestamp,
    ) -> Result<Vec<Event>, Refusal> {
        let instance = self.instance(&key).ok_or_else(|| Refusal::NoQuestion { key: key.clone() })?;
        let InstanceState::Asking(question) = &instance.state else {
            return Err(match &instance.result.answer {
                Some(answer) => {
                    Refusal::Answered { key, answer: answer.clone(), by: instance.result.by.clone() }
                }
                None => Refusal::NoQuestion { key },
            });
        };
        if self.ending.is_some() {
            return Err(Refusal::Ending(self.id.clone()));
        }
        if question.deadline.is_some_and(|deadline| deadline <= now) {
            return Err(Refusal::Late { key });
        }
        if !question.approvers.is_empty() {
            let may = |approver: &String| **approver == *by || *approver == ApprovalStep::ANYBODY_ELSE;
            if !question.approvers.iter().any(may) {
                return Err(Refusal::NotAnApprover { key, by, approvers: question.approvers.join(", ") });
            }
            if self.created.by == by {
                return Err(Refusal::OwnRun { key, by });
            }
        }
        // A no is always possible, whatever the options are.
        let known =
            answer == ApprovalStep::REJECTED || question.options.iter().any(|(_, value)| *value == answer);
        if !known {
            let options =
                question.options.iter().map(|(_, value)| format!("`{value}`")).collect::<Vec<_>>().join(", ");
            return Err(Refusal::NoOption { key, answer, options });
        }
        Ok(vec![Event::QuestionAnswered { key, answer, by, comment }])
    }

    fn attempt_ended(
        &self,
        key: StepKey,
        attempt: u32,
        observation: Observation,
        now: Timestamp,
        secrets: &[(String, String)],
    ) -> Result<Vec<Event>, Refusal> {
        let under_way = self.find(&key).filter(|(step, instance)| {
            let entry = &self.steps[*step].instances[*instance];
            entry.attempt == attempt && matches!(entry.state, InstanceState::Running { .. })
        });
        let Some((step, instance)) = under_way else {
            return Err(Refusal::NotUnderWay { key, attempt });
        };
        // In a run that goes on, nobody asked for it: that is a failure, never a step that is done.
        if observation.end == ProcessEnd::Cancelled && self.ending.is_some() {
            return Ok(vec![Event::AttemptCancelled { key, attempt }]);
        }
        let definition = self.step(step);
        let failure = failure(definition, &observation);
        let result = observation.result;
        if let Some(repeat) = &definition.repeat {
            return Ok(self.round(key, attempt, step, instance, repeat, failure, result, now, secrets));
        }
        Ok(match failure {
            None => vec![Event::AttemptSucceeded { key, attempt, result, again: None }],
            Some(failure) => self.failed(key, attempt, step, instance, failure, result, now),
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one attempt")]
    fn failed(
        &self,
        key: StepKey,
        attempt: u32,
        step: usize,
        instance: usize,
        failure: AttemptFailure,
        result: StepResult,
        now: Timestamp,
    ) -> Vec<Event> {
        let definition = self.step(step);
        let on_failure = self.on_failure(definition);
        let retries = self.steps[step].instances[instance].retries;
        let most = Self::most_retries(definition);
        // An agent is told what evidence is missing and tries again, whatever happens to other failures.
        let told = matches!(definition.kind, StepKind::Agent(_) | StepKind::Skill(_))
            && matches!(failure, AttemptFailure::Evidence(_));
        // What there is nothing left for does not begin, however often it is tried.
        let is_used_up = self.budget_left(step).is_err();
        let then = if self.ending.is_some() {
            Then::Stop
        } else if (on_failure == OnFailure::Retry || told) && retries < most && !is_used_up {
            Then::Retry(now.after(if told { Duration::ZERO } else { self.delay(definition, &key, retries) }))
        } else {
            match on_failure {
                OnFailure::Continue => Then::Continue,
                OnFailure::Ask => Then::Ask,
                OnFailure::Stop | OnFailure::Retry => Then::Stop,
            }
        };
        let question = failure_question(&key, &failure);
        let mut events = vec![Event::AttemptFailed { key: key.clone(), attempt, failure, result, then }];
        if then == Then::Ask {
            events.push(Event::QuestionAsked { key, question });
        }
        events
    }

    /// A lost attempt that is counted as failed may be the next thing that a human is asked about.
    fn resolved(&self, key: StepKey, by: SmolStr, decision: LossDecision) -> Vec<Event> {
        let asks = decision == LossDecision::Fail
            && self.find(&key).is_some_and(|(step, _)| self.after_loss(step) == Then::Ask);
        let question = failure_question(&key, &AttemptFailure::Lost(by.clone()));
        let mut events = vec![Event::LossResolved { key: key.clone(), by, decision }];
        if asks {
            events.push(Event::QuestionAsked { key, question });
        }
        events
    }

    /// Returns what follows when a lost attempt of a step is counted as failed. One that may simply be run again is not lost.
    pub(super) fn after_loss(&self, step: usize) -> Then {
        if self.ending.is_some() {
            return Then::Stop;
        }
        match self.on_failure(self.step(step)) {
            OnFailure::Continue => Then::Continue,
            OnFailure::Ask => Then::Ask,
            OnFailure::Stop | OnFailure::Retry => Then::Stop,
        }
    }

    /// Returns how often a step is tried again after a failure.
    pub(crate) fn most_retries(step: &Step) -> u32 {
        step.max_retries.as_ref().map_or(1, |most| most.value)
    }

    /// Returns how long the first wait before a retry is.
    pub(crate) fn pause_before_retries(step: &Step) -> Written {
        step.retry_delay.as_ref().map_or(PAUSE, |delay| delay.value)
    }

    /// Returns how often a step runs at most that is repeated.
    pub(crate) fn most_rounds(repeat: &Repeat) -> u32 {
        repeat.max.as_ref().map_or(ROUNDS, |most| most.value)
    }

    /// Returns how long a step that is repeated waits in between.
    pub(crate) fn pause_between_rounds(repeat: &Repeat) -> Written {
        repeat.delay.as_ref().map_or(PAUSE, |delay| delay.value)
    }

    /// Returns how long to wait before a retry: twice as long each time, and a little different each time.
    ///
    /// The difference comes from the run and the step, so that a replay waits as long.
    fn delay(&self, step: &Step, key: &StepKey, retries: u32) -> Duration {
        let base = Self::pause_before_retries(step).time();
        let doubled =
            base.saturating_mul(1_u32.checked_shl(retries.min(20)).unwrap_or(u32::MAX)).min(LONGEST_DELAY);
        let mut hash: u32 = 0x811c_9dc5;
        for byte in self.id.as_str().bytes().chain(key.to_string().bytes()).chain(retries.to_le_bytes()) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
        // Up to a quarter more.
        doubled + doubled / 4 * (hash % 1000) / 1000
    }

    /// Decides about a step with `repeat`: done, once more, or failed for good.
    #[expect(clippy::too_many_arguments, reason = "the parts of one attempt")]
    fn round(
        &self,
        key: StepKey,
        attempt: u32,
        step: usize,
        instance: usize,
        repeat: &Repeat,
        failure: Option<AttemptFailure>,
        result: StepResult,
        now: Timestamp,
        secrets: &[(String, String)],
    ) -> Vec<Event> {
        let error = failure.as_ref().map(ToString::to_string);
        let scope = RunScope::new(self, Some((step, instance)), secrets).seeing(&result, error.as_deref());
        let holds = repeat.until.evaluate_condition(&scope);
        let rounds = self.steps[step].instances[instance].rounds;
        let most = Self::most_rounds(repeat);
        match holds {
            Err(error) => {
                let failure = AttemptFailure::Expression(format!("`until` cannot be decided: {error}"));
                vec![Event::AttemptFailed { key, attempt, failure, result, then: Then::Stop }]
            }
            Ok(true) if failure.is_none() => {
                vec![Event::AttemptSucceeded { key, attempt, result, again: None }]
            }
            Ok(_) if rounds < most && self.ending.is_none() => {
                let delay = Self::pause_between_rounds(repeat).time();
                vec![Event::AttemptSucceeded { key, attempt, result, again: Some(now.after(delay)) }]
            }
            Ok(_) => self.failed(
                key,
                attempt,
                step,
                instance,
                failure.unwrap_or(AttemptFailure::Until(rounds)),
                result,
                now,
            ),
        }
    }
}

/// Returns the question that a failed step puts to a human.
pub(super) fn failure_question(key: &StepKey, failure: &AttemptFailure) -> Question {
    let option = |label: &str, value: &str| (label.to_owned(), SmolStr::new(value));
    Question {
        about: QuestionKind::Failure,
        prompt: format!("Step `{key}` failed: {failure}"),
        options: vec![option("Retry", "retry"), option("Skip", "skip"), option("Stop", "stop")],
        approvers: Vec::new(),
        deadline: None,
    }
}

/// Returns why an attempt does not count as done.
fn failure(step: &Step, observation: &Observation) -> Option<AttemptFailure> {
    let codes = match &step.kind {
        StepKind::Script(script) => &script.validation.exit_code[..],
        _ => &[],
    };
    match &observation.end {
        ProcessEnd::Signalled(signal) => return Some(AttemptFailure::Signal(*signal)),
        ProcessEnd::TimedOut => return Some(AttemptFailure::TimedOut),
        ProcessEnd::NotStarted(reason) => return Some(AttemptFailure::NotStarted(reason.clone())),
        ProcessEnd::Failed(reason) => return Some(AttemptFailure::Runner(reason.clone())),
        ProcessEnd::Exited(code) => {
            let counts =
                if codes.is_empty() { *code == 0 } else { codes.iter().any(|known| known.value == *code) };
            if !counts && matches!(step.kind, StepKind::Workflow(_)) {
                return Some(AttemptFailure::Child(observation.missing.join("; ")));
            }
            if !counts {
                return Some(AttemptFailure::ExitCode(*code));
            }
        }
        ProcessEnd::Cancelled => return Some(AttemptFailure::Child("was cancelled".to_owned())),
    }
    (!observation.missing.is_empty()).then(|| AttemptFailure::Evidence(observation.missing.clone()))
}

fn verb(status: EndStatus) -> &'static str {
    match status {
        EndStatus::Completed => "completed",
        EndStatus::Failed => "failed",
        EndStatus::Cancelled => "was cancelled",
        EndStatus::TimedOut => "ran out of time",
    }
}
