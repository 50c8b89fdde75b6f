//! What holds for every log, whatever happened.

use abide_core::definition::{Ability, OnFailure, StepKind};
use abide_core::event::{
    AttemptFailure, EndStatus, Event, HookPhase, LossDecision, QuestionKind, StepKey, Then, Timestamp,
};
use abide_core::run::{InstanceState, Run, StepStatus};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// An event, and what time it was when it was decided.
pub type Timed = (Timestamp, Event);

/// Returns the run that a log amounts to.
///
/// # Panics
/// If the log does not begin with a run's creation.
pub fn replay<'a>(id: &Run, log: impl IntoIterator<Item = &'a Event>) -> Run {
    let mut log = log.into_iter();
    let Some(Event::Created(created)) = log.next() else { panic!("a log begins with its creation") };
    let mut run = Run::create(id.id.clone(), (**created).clone(), Arc::clone(&id.ability));
    log.for_each(|event| run.apply(event));
    run
}

/// Checks that two runs are at the same point in every respect that anything depends on.
///
/// # Panics
/// If they are not.
pub fn same(live: &Run, replayed: &Run) {
    assert_eq!(live.status(), replayed.status(), "a replay has another status");
    assert_eq!(live.phase, replayed.phase, "a replay is in another phase");
    assert_eq!(live.ending, replayed.ending, "a replay ends otherwise");
    assert_eq!(live.verdicts, replayed.verdicts, "a replay has other verdicts");
    assert_eq!(live.in_flight(), replayed.in_flight(), "a replay has other attempts under way");
    assert_eq!(live.hook_in_flight(), replayed.hook_in_flight(), "a replay has another hook under way");
    assert_eq!(live.questions(), replayed.questions(), "a replay asks otherwise");
    assert_eq!(live.lost(), replayed.lost(), "a replay has lost others");
    assert_eq!(live.next_moment(), replayed.next_moment(), "a replay waits for another moment");
    for (position, (one, other)) in live.steps.iter().zip(&replayed.steps).enumerate() {
        assert_eq!(one.status, other.status, "step {position} has another status after a replay");
        assert_eq!(one.result, other.result, "step {position} has another result after a replay");
        assert_eq!(one.instances.len(), other.instances.len());
        for (one, other) in one.instances.iter().zip(&other.instances) {
            assert_eq!(
                (&one.label, one.attempt, one.retries, one.rounds, &one.state, &one.error),
                (&other.label, other.attempt, other.retries, other.rounds, &other.state, &other.error),
                "an instance of step {position} is elsewhere after a replay"
            );
        }
    }
}

/// Checks a log from its beginning to wherever it ends.
///
/// # Panics
/// With the first law that it breaks.
pub fn check(run: &Run, log: &[Timed]) {
    let mut laws = Laws {
        run: replay(run, log.iter().take(1).map(|(_, event)| event)),
        attempts: HashMap::new(),
        under_way: HashSet::new(),
        closed: HashSet::new(),
        not_before: HashMap::new(),
        ending: false,
    };
    for (index, (at, event)) in log.iter().enumerate().skip(1) {
        let may_come_late = matches!(event, Event::VerdictNoted { .. });
        assert!(may_come_late || !laws.run.is_finished(), "event {index} comes after the end: {event:?}");
        laws.before(*at, event);
        laws.run.apply(event);
        laws.after();
    }
    super::snapshots::check(run, log);
}

struct Laws {
    run: Run,
    attempts: HashMap<StepKey, u32>,
    under_way: HashSet<(StepKey, u32)>,
    /// Instances to which nothing more may happen.
    closed: HashSet<StepKey>,
    not_before: HashMap<StepKey, Timestamp>,
    ending: bool,
}

impl Laws {
    fn before(&mut self, at: Timestamp, event: &Event) {
        match event {
            Event::Created(_) => panic!("a run is created once"),
            Event::AttemptStarted { key, attempt, deadline } => {
                self.may_begin(key, at);
                let last = self.attempts.insert(key.clone(), *attempt).unwrap_or(0);
                assert_eq!(*attempt, last + 1, "attempts of {key} are counted without gaps");
                assert!(self.under_way.insert((key.clone(), *attempt)));
                assert!(deadline.is_none_or(|deadline| deadline >= at), "{key} begins after its deadline");
                let moment = self.not_before.remove(key);
                assert!(moment.is_none_or(|moment| moment <= at), "{key} is tried again too early");
            }
            Event::AttemptSucceeded { key, attempt, again, .. } => {
                self.ended(key, *attempt);
                match again {
                    Some(moment) => drop(self.not_before.insert(key.clone(), *moment)),
                    None => self.close(key),
                }
            }
            Event::AttemptFailed { key, attempt, failure, then, .. } => {
                // Only another run can be cancelled by somebody else; what a driver ends itself is no outcome.
                let step = self.run.position(key.step.as_str()).map(|step| &self.run.step(step).kind);
                let is_child = matches!(step, Some(StepKind::Workflow(_)));
                assert!(
                    is_child || !matches!(failure, AttemptFailure::Child(_)),
                    "{key} failed by being left"
                );
                // A step whose condition or prompt cannot be evaluated fails without having begun.
                if self.attempts.get(key).is_some_and(|known| known == attempt) {
                    self.ended(key, *attempt);
                }
                match then {
                    Then::Retry(moment) => drop(self.not_before.insert(key.clone(), *moment)),
                    Then::Ask => {}
                    Then::Continue => self.close(key),
                    Then::Stop => {
                        self.close(key);
                        self.ending = true;
                    }
                }
            }
            Event::AttemptCancelled { key, attempt } => {
                assert!(self.ending, "{key} is cancelled in a run that goes on");
                self.ended(key, *attempt);
                self.close(key);
            }
            Event::AttemptLost { key, attempt, rerun } => {
                assert!(!self.ending, "what is lost at the end is cancelled");
                assert_eq!(*rerun, self.is_safe(key), "whether {key} is run again is not what it declares");
                self.ended(key, *attempt);
            }
            Event::LossResolved { key, decision, .. } => {
                assert!(self.run.lost().contains(key), "{key} was not lost");
                // A step that says what follows a failure says it of this one too.
                match (decision, self.on_failure(key)) {
                    (LossDecision::Rerun, _) => {}
                    (LossDecision::Fail, OnFailure::Ask) if !self.ending => {}
                    (LossDecision::Fail, on_failure) => {
                        self.close(key);
                        self.ending |= on_failure != OnFailure::Continue;
                    }
                }
            }
            Event::QuestionAsked { key, question } => {
                if question.about == QuestionKind::Approval {
                    self.may_begin(key, at);
                }
            }
            Event::QuestionAnswered { key, answer, .. } => {
                let question = self.question(key);
                assert!(question.1.is_none_or(|deadline| at < deadline), "{key} is answered late");
                match (question.0, answer.as_str()) {
                    (QuestionKind::Failure, "retry") => {}
                    (QuestionKind::Failure, answer) => {
                        self.close(key);
                        self.ending |= answer != "skip";
                    }
                    (QuestionKind::Approval, _) => self.close(key),
                }
            }
            Event::StepSummarized { step, .. } => {
                let position = self.run.position(step.as_str()).expect("a step of the ability");
                let state = &self.run.steps[position];
                assert!(state.status.is_closed(), "{step} is summarized before it is over");
                assert!(state.result.summary.is_none(), "{step} is summarized twice");
            }
            Event::QuestionExpired { key } => {
                let question = self.question(key);
                assert!(question.1.is_some_and(|deadline| deadline <= at), "{key} expires early");
                self.close(key);
            }
            Event::StepSkipped { .. } | Event::StepExpanded { .. } => {
                assert!(!self.ending, "a step is looked at after the end began: {event:?}");
            }
            Event::HookStarted { hook } => {
                let fits = (hook.phase == HookPhase::After) || !self.ending;
                assert!(fits, "{hook} begins after the end began");
                assert!(self.under_way.is_empty(), "{hook} begins beside a step");
            }
            Event::HookEnded { hook, error } => {
                self.ending |= hook.phase == HookPhase::Before && error.is_some();
            }
            Event::PlanAnswered { approved, .. } => self.ending |= !approved,
            Event::CancelRequested { .. } => self.ending = true,
            Event::DeadlinePassed => {
                assert!(self.run.created.deadline.is_some_and(|deadline| deadline <= at), "too early");
                self.ending = true;
            }
            Event::VerdictNoted { until, .. } => {
                assert!(*until > self.run.verdicts.until, "a verdict is taken in twice");
            }
            Event::Finished { status, .. } => {
                assert!(self.under_way.is_empty(), "the run ends while something is under way");
                if *status == EndStatus::Completed {
                    self.completed();
                }
            }
        }
    }

    /// Checks that an instance may begin: at this time, in this run, after what it needs, and not twice.
    fn may_begin(&self, key: &StepKey, at: Timestamp) {
        assert!(!self.ending, "{key} begins after the end began");
        assert!(!self.closed.contains(key), "{key} is done and begins again");
        assert!(self.run.lost().is_empty(), "{key} begins before a human decided about a lost step");
        assert!(self.run.created.deadline.is_none_or(|deadline| at < deadline), "{key} begins too late");
        let position = self.run.position(key.step.as_str()).expect("a step of the ability");
        for need in &self.run.step(position).needs {
            let status = &self.run.steps[self.run.position(need.as_str()).expect("a need")].status;
            assert!(status.is_closed(), "{key} begins before {}", **need);
            assert!(*status != StepStatus::Rejected, "{key} begins although {} was rejected", **need);
        }
    }

    /// Tells whether a step says that it may be run again when nobody knows how far it came.
    fn is_safe(&self, key: &StepKey) -> bool {
        let step = self.run.ability.step(key.step.as_str()).expect("a step of the ability");
        step.idempotent.as_ref().is_some_and(|flag| flag.value) || self.on_failure(key) == OnFailure::Retry
    }

    fn on_failure(&self, key: &StepKey) -> OnFailure {
        let step = self.run.ability.step(key.step.as_str()).expect("a step of the ability");
        let word = step.on_failure.as_ref().or(self.run.ability.settings.on_failure.as_ref());
        word.map_or(OnFailure::Stop, |word| word.value)
    }

    fn ended(&mut self, key: &StepKey, attempt: u32) {
        assert!(self.under_way.remove(&(key.clone(), attempt)), "attempt {attempt} of {key} ends twice");
    }

    fn close(&mut self, key: &StepKey) {
        assert!(self.closed.insert(key.clone()), "{key} is done twice");
    }

    fn question(&self, key: &StepKey) -> (QuestionKind, Option<Timestamp>) {
        match self.run.instance(key).map(|instance| &instance.state) {
            Some(InstanceState::Asking(question)) => (question.about, question.deadline),
            other => panic!("{key} was not asked: {other:?}"),
        }
    }

    /// Checks how many run beside each other.
    fn after(&self) {
        let settings = &self.run.ability.settings;
        let in_flight = self.run.in_flight();
        if settings.is_parallel() {
            let most = settings.max_parallel.as_ref().map_or(4, |most| most.value as usize);
            assert!(in_flight.len() <= most, "{} run beside each other, of {most}", in_flight.len());
        } else {
            let steps: HashSet<_> = in_flight.iter().map(|(key, _)| &key.step).collect();
            assert!(steps.len() <= 1, "steps run beside each other: {steps:?}");
        }
        let mut instances = HashMap::<_, usize>::new();
        for (key, _) in &in_flight {
            *instances.entry(&key.step).or_default() += 1;
        }
        for (step, count) in instances {
            let definition = self.run.ability.step(step.as_str()).expect("a step");
            let most = definition.for_each.as_ref().and_then(|each| each.max_parallel.as_ref());
            assert!(count <= most.map_or(1, |most| most.value as usize), "{count} instances of {step}");
        }
    }

    /// Checks that nothing is missing from a run that calls itself complete.
    fn completed(&self) {
        assert!(!self.run.steps.is_empty(), "a run without steps is not complete");
        assert!(!self.ending, "a run that was ended is not complete");
        for (position, state) in self.run.steps.iter().enumerate() {
            let step = self.run.step(position);
            let own = step.on_failure.as_ref().or(self.run.ability.settings.on_failure.as_ref());
            let goes_on = own.is_some_and(|word| word.value == OnFailure::Continue);
            let fine = match state.status {
                StepStatus::Completed | StepStatus::Skipped(_) => true,
                StepStatus::Failed => goes_on,
                _ => false,
            };
            assert!(fine, "the run is complete and {} is {:?}", *step.id, state.status);
        }
    }
}

/// Returns the ability of a text.
///
/// # Panics
/// If it has errors: simulated abilities are valid.
pub fn read(source: &str) -> Arc<Ability> {
    let reading = abide_formats::ability::read(source, "simulated");
    let errors: Vec<_> = reading.problems.iter().filter(|problem| problem.is_error()).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{source}");
    Arc::new(reading.ability.expect("an ability without errors"))
}
