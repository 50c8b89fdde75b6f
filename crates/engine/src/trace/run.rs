//! The spans of a run, as its log tells them: the run, the attempts of its steps, its hooks, and what it asked humans.
//!
//! What steps wrote, what they were given and what humans commented may hold a secret, and is in no span.

use super::names;
use super::span::{Attribute, Place, Span, SpanEvent, SpanId};
use crate::driver::child_id;
use crate::port::SessionId;
use crate::turn::session_of;
use abide_core::definition::{Ability, StepId, StepKind};
use abide_core::event::{
    AttemptFailure, Created, EndStatus, Event, HookKey, NotedVerdict, QuestionKind, RunId, Skip, StepKey,
    StepResult, Then, Timestamp,
};
use abide_core::model::Usage;
use std::collections::HashMap;
use std::sync::Arc;

/// How many moments are kept of a run, as collectors keep of any span.
const MOST_EVENTS: usize = 128;

/// The spans of a run, as far as its log has been folded.
pub struct RunFold {
    id: RunId,
    place: Place,
    ability: Arc<Ability>,
    root: Span,
    attempts: HashMap<StepKey, (Span, u32)>,
    questions: HashMap<StepKey, Span>,
    hook: Option<(HookKey, Span)>,
    plan: Option<Span>,
    told: RunSpans,
}

/// What came of folding the log of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunSpans {
    /// The spans that have ended; the run's own is the last one, if it is over.
    pub spans: Vec<Span>,
    /// Whether the run is over.
    pub over: bool,
    /// The runs that it called, each with the span that called it.
    pub calls: Vec<(RunId, SpanId)>,
    /// The attempts that somebody else did.
    pub agents: Vec<AgentAttempt>,
}

/// An attempt that an agent did; what it did is in the log of a session, if abide's own loop drove it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentAttempt {
    /// The session that it has, if it has one.
    pub session: SessionId,
    /// Its span.
    pub span: SpanId,
    /// When it began.
    pub from: Timestamp,
    /// The agent or the skill.
    pub agent: String,
    /// What it used of a model, where its runner says so.
    pub usage: Option<Usage>,
}

impl RunFold {
    /// Begins with the first event of a log.
    pub fn new(id: RunId, place: Place, created: &Created, ability: Arc<Ability>, at: Timestamp) -> Self {
        let first = SpanId::at(id.as_str(), 1);
        let mut root = Span::begin(place, first, format!("run {}", created.name), at)
            .text(names::RUN, id.as_str())
            .text(names::ABILITY, created.name.as_str());
        if let Some(session) = &created.session {
            root = root.text(names::CONVERSATION, session.as_str());
        }
        if let Some((old, _)) = &created.rerun_of {
            root = root.text(names::RERUN_OF, old.as_str());
        }
        let mut fold = Self {
            id,
            place: place.under(first),
            ability,
            root,
            attempts: HashMap::new(),
            questions: HashMap::new(),
            hook: None,
            plan: None,
            told: RunSpans::default(),
        };
        if created.plan_approval {
            fold.plan = Some(fold.begin(0, "approval of the plan".to_owned(), at));
        }
        fold
    }

    /// Takes in the next event.
    pub fn take(&mut self, position: u64, at: Timestamp, event: &Event) {
        if self.told.over {
            // Verdicts may still come; the run's span is as long as the run was.
            return;
        }
        match event {
            Event::PlanAnswered { approved, .. } => {
                if let Some(span) = self.plan.take() {
                    let answer = if *approved { "approve" } else { "reject" };
                    self.told.spans.push(span.text(names::ANSWER, answer).end(at, None));
                }
            }
            Event::HookStarted { hook } => {
                let span = self.begin(position, format!("hook {hook}"), at);
                self.hook = Some((hook.clone(), span.text(names::HOOK, hook.to_string())));
            }
            Event::HookEnded { hook, error } => {
                let begun = self.hook.take_if(|(begun, _)| begun == hook);
                let ended = begun.map(|(_, span)| span.end(at, error.as_ref().map(|_| "hook")));
                self.told.spans.extend(ended);
            }
            Event::StepSkipped { step, why } => self.skipped(at, step, why),
            Event::AttemptStarted { key, attempt, .. } => self.started(position, at, key, *attempt),
            Event::AttemptSucceeded { key, result, .. } => self.ended(at, key, Some(result), None, None),
            Event::AttemptFailed { key, failure, result, then, .. } => {
                self.ended(at, key, Some(result), Some(reason(failure)), Some(*then));
            }
            Event::AttemptCancelled { key, .. } => self.ended(at, key, None, Some("cancelled"), None),
            Event::AttemptLost { key, .. } => self.ended(at, key, None, Some("lost"), None),
            Event::QuestionAsked { key, question } => {
                let about = match question.about {
                    QuestionKind::Approval => "approval",
                    QuestionKind::Failure => "decision",
                };
                let span = self.of_step(position, at, about, key);
                self.questions.insert(key.clone(), span);
            }
            Event::QuestionAnswered { key, answer, .. } => {
                let asked = self.questions.remove(key);
                self.told
                    .spans
                    .extend(asked.map(|span| span.text(names::ANSWER, answer.as_str()).end(at, None)));
            }
            Event::QuestionExpired { key } => {
                let asked = self.questions.remove(key);
                self.told.spans.extend(asked.map(|span| span.end(at, Some("expired"))));
            }
            Event::VerdictNoted { verdict: NotedVerdict::Given(given), .. } => {
                let attributes = vec![
                    ("abide.verdict", Attribute::Text(given.answer.word().to_owned())),
                    ("abide.tool.kind", Attribute::Text(given.kind.to_string())),
                ];
                self.note(SpanEvent { at, name: "verdict", attributes });
            }
            Event::CancelRequested { .. } => {
                self.note(SpanEvent { at, name: "cancel requested", attributes: Vec::new() });
            }
            Event::StepSummarized { .. }
            | Event::Created(_)
            | Event::StepExpanded { .. }
            | Event::LossResolved { .. }
            | Event::DeadlinePassed
            | Event::VerdictNoted { .. } => {}
            Event::Finished { status, .. } => self.finish(at, *status),
        }
    }

    /// Returns what was found.
    pub fn into_spans(self) -> RunSpans {
        self.told
    }

    fn begin(&self, position: u64, name: String, at: Timestamp) -> Span {
        let span = Span::begin(self.place, SpanId::at(self.id.as_str(), position), name, at);
        span.text(names::RUN, self.id.as_str())
    }

    fn of_step(&self, position: u64, at: Timestamp, what: &str, key: &StepKey) -> Span {
        let span = self.begin(position, format!("{what} {}", key.step), at);
        let span = span.text(names::ABILITY, self.ability.name.as_str()).text(names::STEP, key.to_string());
        match self.kind(&key.step) {
            Some(kind) => span.text(names::STEP_TYPE, kind.step_type().word()),
            None => span,
        }
    }

    fn kind(&self, step: &StepId) -> Option<&StepKind> {
        let found = self.ability.steps.iter().find(|known| known.id.value == *step);
        found.map(|found| &found.kind)
    }

    fn started(&mut self, position: u64, at: Timestamp, key: &StepKey, attempt: u32) {
        // A driver that is gone may have left one without an end.
        self.ended(at, key, None, Some("lost"), None);
        let span = self.of_step(position, at, "step", key).count(names::ATTEMPT, attempt);
        if let Some(StepKind::Workflow(_)) = self.kind(&key.step) {
            self.told.calls.push((child_id(&self.id, key, attempt), span.id));
        }
        self.attempts.insert(key.clone(), (span, attempt));
    }

    fn ended(
        &mut self,
        at: Timestamp,
        key: &StepKey,
        result: Option<&StepResult>,
        error: Option<&str>,
        then: Option<Then>,
    ) {
        let Some((mut span, _)) = self.attempts.remove(key) else { return };
        if let Some(code) = result.and_then(|result| u64::try_from(result.exit_code?).ok()) {
            span = span.count(names::EXIT_CODE, code);
        }
        if let Some(then) = then {
            span = span.text(names::THEN, then_word(then));
        }
        let agent = match self.kind(&key.step) {
            Some(StepKind::Agent(agent)) => Some(agent.agent.value.as_str().to_owned()),
            Some(StepKind::Skill(skill)) => Some(skill.skill.value.to_string()),
            _ => None,
        };
        if let Some(agent) = agent {
            let usage = result.and_then(|result| result.usage);
            let session = session_of(&self.id, key);
            self.told.agents.push(AgentAttempt { session, span: span.id, from: span.from, agent, usage });
        }
        self.told.spans.push(span.end(at, error));
    }

    fn skipped(&mut self, at: Timestamp, step: &StepId, why: &Skip) {
        let why = match why {
            Skip::When { .. } => "when",
            Skip::Rejected { .. } => "rejected",
            Skip::Chosen { .. } => "chosen",
        };
        let attributes = vec![
            (names::STEP, Attribute::Text(step.to_string())),
            ("abide.skip", Attribute::Text(why.to_owned())),
        ];
        self.note(SpanEvent { at, name: "step skipped", attributes });
    }

    fn note(&mut self, event: SpanEvent) {
        if self.root.events.len() < MOST_EVENTS {
            self.root.events.push(event);
        }
    }

    fn finish(&mut self, at: Timestamp, status: EndStatus) {
        self.told.over = true;
        let mut open: Vec<Span> = self.questions.drain().map(|(_, span)| span).collect();
        open.extend(self.attempts.drain().map(|(_, (span, _))| span));
        open.extend(self.hook.take().map(|(_, span)| span).into_iter().chain(self.plan.take()));
        open.sort_by_key(|span| (span.from, span.id.to_string()));
        self.told.spans.extend(open.into_iter().map(|span| span.end(at, Some("cancelled"))));
        let error = (status != EndStatus::Completed).then(|| status.word());
        let root = self.root.clone().text(names::RUN_STATUS, status.word()).end(at, error);
        self.told.spans.push(root);
    }
}

/// Returns the word for why an attempt failed.
fn reason(failure: &AttemptFailure) -> &'static str {
    match failure {
        AttemptFailure::ExitCode(_) => "exit_code",
        AttemptFailure::Signal(_) => "signal",
        AttemptFailure::TimedOut => "timed_out",
        AttemptFailure::NotStarted(_) => "not_started",
        AttemptFailure::Runner(_) => "runner",
        AttemptFailure::Evidence(_) => "evidence",
        AttemptFailure::Expression(_) => "expression",
        AttemptFailure::Until(_) => "until",
        AttemptFailure::Child(_) => "child",
        AttemptFailure::Lost(_) => "lost",
    }
}

fn then_word(then: Then) -> &'static str {
    match then {
        Then::Retry(_) => "retry",
        Then::Ask => "ask",
        Then::Continue => "continue",
        Then::Stop => "stop",
    }
}
