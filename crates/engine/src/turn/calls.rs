//! The calls of one answer: each goes through the same checks in the same order, and then they run.
//!
//! ```text
//! loop detector → tool exists → agent's rules and the gate → a human, if they say so → argument schema → handler
//! ```
//! Calls that depend on nothing run beside each other; the results stand in the order of the calls. What may not be
//! done twice is in the log before it is done.

use super::beside::Besides;
use super::rounds::{Heard, Round, TurnError};
use crate::port::{
    Beside, Clock, ConfirmQuestion, Confirmation, Later, Store, ToolContext, ToolError, ToolOutput, ToolSpec,
};
use crate::toolbox::CheckedTool;
use abide_core::capability::Risk;
use abide_core::model::{Arguments, Part, ToolCall};
use abide_core::turn::{
    Charged, Check, Decision, Judgement, Outcome, Room, Stage, TurnEnd, TurnEvent, cut, judged,
};
use abide_core::value::Value;
use abide_formats::json;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a human has to answer; silence is a no.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
/// How many calls of one answer are made; the rest is told to come again.
const MOST: usize = 64;
/// How much of the reason of an internal error is kept.
const DETAIL_BYTES: usize = 2_000;

/// What has come to its end while calls run.
enum Done {
    Confirmed(usize, Confirmation),
    Ran(usize, Outcome),
}

impl<S: Store, C: Clock> Round<'_, S, C> {
    /// Sees to the calls that have no result; says how the turn ends if it is stopped meanwhile.
    pub(super) async fn calls(&mut self, open: Vec<usize>) -> Result<Option<TurnEnd>, TurnError> {
        let calls = self.calls_of_answer(open);
        let bytes = self.room.result_bytes(calls.len());
        for group in groups(calls, |call| self.beside(call)) {
            if let Some(end) = self.group(group, bytes).await? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn calls_of_answer(&self, open: Vec<usize>) -> Vec<(usize, ToolCall)> {
        let calls = self.session.conversation().active.as_ref().map_or(&[][..], |turn| &turn.calls);
        open.into_iter().filter_map(|position| Some((position, calls.get(position)?.call.clone()))).collect()
    }

    fn beside(&self, call: &ToolCall) -> Beside {
        // What does not exist is refused, and nothing has to wait for that.
        self.agent.toolbox.find(&call.name).map_or(Beside::Others, |tool| tool.spec().beside)
    }

    /// Sees to calls that may run beside each other.
    async fn group(
        &mut self,
        group: Vec<(usize, ToolCall)>,
        bytes: usize,
    ) -> Result<Option<TurnEnd>, TurnError> {
        if self.session.has_news() && group.iter().any(|(position, _)| *position > 0) {
            // What came before is not held up by what may take long.
            self.agent.store(self.session).await?;
        }
        let mut running: Besides<Done> = Besides::new();
        let mut waiting: VecDeque<(usize, String)> = VecDeque::new();
        let mut ready = Vec::new();
        for (position, call) in &group {
            match self.judge(*position, call).await {
                Judgement::Allow { note } => ready.push((*position, note)),
                Judgement::Ask { why } => waiting.push_back((*position, why)),
                Judgement::Deny { .. } => {}
            }
        }
        let call_at = |position: usize| group.iter().find(|(at, _)| *at == position).map(|(_, call)| call);
        let mut notes: Vec<(usize, Option<String>)> = Vec::new();
        let mut must_store = !waiting.is_empty();
        let mut starting = Vec::new();
        for (position, note) in ready {
            let Some(call) = call_at(position) else { continue };
            if let Some((tool, arguments)) = self.fitting(position, call) {
                must_store |= self.starting(position, &tool);
                notes.push((position, note));
                starting.push((position, call.clone(), tool, arguments));
            }
        }
        if must_store {
            self.agent.store(self.session).await?;
        }
        for (position, call, tool, arguments) in starting {
            running.add(self.running(position, &call, tool, arguments, bytes).await);
        }
        if let Some((position, why)) = waiting.pop_front()
            && let Some(call) = call_at(position)
        {
            running.add(self.asking(position, call, why));
        }
        loop {
            let done = tokio::select! {
                biased;
                () = self.stop.wait() => return Ok(Some(TurnEnd::Cancelled)),
                done = running.next() => done,
            };
            match done {
                None => break,
                Some(Done::Ran(position, mut outcome)) => {
                    let note =
                        notes.iter_mut().find(|(at, _)| *at == position).and_then(|(_, note)| note.take());
                    outcome.parts.extend(note.map(Part::Text));
                    self.charge_calls(Some(position));
                    self.session.note(TurnEvent::Result { call: number(position), outcome });
                    // The last one is stored with what follows from it, and nothing follows before.
                    if !running.is_empty() {
                        self.agent.store(self.session).await?;
                    }
                }
                Some(Done::Confirmed(position, confirmation)) => {
                    let Some(call) = call_at(position) else { continue };
                    if self.confirmed(position, call, confirmation)
                        && let Some((tool, arguments)) = self.fitting(position, call)
                    {
                        self.starting(position, &tool);
                        self.agent.store(self.session).await?;
                        running.add(self.running(position, call, tool, arguments, bytes).await);
                    }
                    self.agent.store(self.session).await?;
                    if let Some((position, why)) = waiting.pop_front()
                        && let Some(call) = call_at(position)
                    {
                        running.add(self.asking(position, call, why));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The first three checks: the loop detector, whether there is such a tool, and who must agree.
    ///
    /// A call that was decided about before a crash is looked at again, since the run may have moved on, but counts once.
    async fn judge(&mut self, position: usize, call: &ToolCall) -> Judgement {
        let is_new = self
            .session
            .conversation()
            .active
            .as_ref()
            .is_some_and(|turn| turn.calls.get(position).is_some_and(|call| call.stage == Stage::Open));
        if is_new && self.agent.tree.repeats(call) {
            let why = format!(
                "`{}` was called with the same input twice in this turn already; a third time brings nothing new. Do something else, or give your final answer.",
                cut(&call.name, 100)
            );
            return self.denied(position, Check::Repeats, why);
        }
        if position >= MOST {
            let why = format!("an answer may call {MOST} tools; call this one again in your next answer");
            return self.denied(position, Check::Policy, why);
        }
        let spec = match self.agent.toolbox.find(&call.name) {
            Ok(tool) => tool.spec(),
            Err(error) => return self.denied(position, Check::Exists, error.for_model()),
        };
        let ruling = self.agent.permissions.ruling(spec, &call.arguments);
        let verdict = self.agent.gate.verdict(call).await;
        let judgement = judged(&call.name, &ruling, verdict);
        self.session.note(TurnEvent::Decided { call: number(position), decision: judgement.decision() });
        judgement
    }

    fn denied(&mut self, position: usize, check: Check, why: String) -> Judgement {
        let decision = Decision::Denied { check, why: why.clone() };
        self.session.note(TurnEvent::Decided { call: number(position), decision });
        Judgement::Deny { why }
    }

    /// The last check: whether the arguments fit.
    fn fitting(&mut self, position: usize, call: &ToolCall) -> Option<(CheckedTool, serde_json::Value)> {
        let tool = self.agent.toolbox.find(&call.name).ok()?.clone();
        let checked = match &call.arguments {
            Arguments::Data(value) => {
                // Models that give nothing mean an empty mapping.
                let value = if *value == Value::Null { &Value::Map(Vec::new()) } else { value };
                let arguments = json::to_json(value);
                tool.check(&arguments).map(|()| arguments)
            }
            Arguments::Unreadable(text) => Err(ToolError::Arguments {
                tool: call.name.clone(),
                problems: vec![format!("they are not JSON: {}", cut(text, 200))],
            }),
        };
        match checked {
            Ok(arguments) => Some((tool, arguments)),
            Err(error) => {
                self.denied(position, Check::Arguments, error.for_model());
                None
            }
        }
    }

    /// Notes that a call is about to be made, if it must not be made twice; returns whether that has to be stored first.
    fn starting(&mut self, position: usize, tool: &CheckedTool) -> bool {
        let once = !can_be_repeated(tool.spec());
        if once {
            self.session.note(TurnEvent::Started { call: number(position) });
        }
        once
    }

    async fn running(
        &self,
        position: usize,
        call: &ToolCall,
        tool: CheckedTool,
        arguments: serde_json::Value,
        bytes: usize,
    ) -> Later<Done> {
        self.agent.tell(Heard::Calling(call.clone())).await;
        let calls = self.session.conversation().active.as_ref().map_or(1, |turn| turn.calls.len());
        let context = ToolContext {
            session: self.session.id().clone(),
            call: self.known_by(position),
            stop: self.stop.clone(),
            time_left: self.agent.tree.until().map(|until| until.since(self.agent.clock.now())),
            output_bytes: bytes,
            picture_bytes: Room::picture_bytes(calls),
        };
        Box::pin(async move { Done::Ran(position, outcome(tool.call(arguments, context).await)) })
    }

    /// Returns what a call of the last answer is known by: the same after a crash, and of no other call.
    fn known_by(&self, position: usize) -> Option<String> {
        let conversation = self.session.conversation();
        let turn = conversation.active.as_ref()?;
        Some(format!("{}.{}.{position}", conversation.turns, turn.answers))
    }

    /// Notes what those have used whom a call has asked; without a position it is the call that was being made.
    pub(super) fn charge_calls(&mut self, position: Option<usize>) {
        let Some(spent) = self.agent.tree.take_owed() else { return };
        let started = || {
            let turn = self.session.conversation().active.as_ref()?;
            turn.calls.iter().position(|call| call.stage == Stage::Started)
        };
        let call = Some(number(position.or_else(started).unwrap_or_default()));
        self.session.note(TurnEvent::Charged(Charged { call, spent }));
    }

    /// Asks a human; silence is a no.
    fn asking(&self, position: usize, call: &ToolCall, why: String) -> Later<Done> {
        let arguments = match &call.arguments {
            Arguments::Data(value) => value.clone(),
            Arguments::Unreadable(text) => Value::Text(text.clone()),
        };
        let agent = self.session.conversation().created.agent.clone();
        let question = ConfirmQuestion {
            session: self.session.id().clone(),
            agent,
            tool: call.name.clone(),
            arguments,
            why,
        };
        let asked = self.agent.confirm.confirm(question);
        let clock = std::sync::Arc::clone(&self.agent.clock);
        let until = clock.now().after(PATIENCE);
        Box::pin(async move {
            let confirmation = tokio::select! {
                biased;
                confirmation = asked => confirmation,
                () = clock.sleep_until(until) => Confirmation::No {
                    by: "nobody".to_owned(),
                    why: Some(format!("nobody answered within {} seconds", PATIENCE.as_secs())),
                },
            };
            Done::Confirmed(position, confirmation)
        })
    }

    /// Notes what a human said; returns whether the call may be made.
    fn confirmed(&mut self, position: usize, call: &ToolCall, confirmation: Confirmation) -> bool {
        let tool = cut(&call.name, 100);
        let why = match confirmation {
            Confirmation::Yes { by } => {
                let decision = Decision::Confirmed { by };
                self.session.note(TurnEvent::Decided { call: number(position), decision });
                return true;
            }
            Confirmation::No { by, why: Some(why) } => format!("`{tool}` was not allowed by {by}: {why}"),
            Confirmation::No { by, why: None } => format!("`{tool}` was not allowed by {by}"),
            Confirmation::Nobody => {
                format!("`{tool}` needs a human's yes, and there is nobody here who could be asked")
            }
        };
        self.denied(position, Check::Human, why);
        false
    }
}

/// Returns whether a call may simply be made again when nobody knows how far it came: what only looks or computes.
fn can_be_repeated(spec: &ToolSpec) -> bool {
    match spec.risk {
        Risk::None | Risk::Medium => true,
        Risk::Low | Risk::High => false,
    }
}

fn outcome(answer: Result<ToolOutput, ToolError>) -> Outcome {
    match answer {
        Ok(output) => Outcome { parts: output.into_parts(), error: None, detail: None },
        Err(error) => {
            let detail = match &error {
                ToolError::Internal(detail) => Some(cut(detail, DETAIL_BYTES)),
                _ => None,
            };
            Outcome { detail, ..Outcome::error(error.code(), error.for_model()) }
        }
    }
}

fn number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// Puts calls into groups: those beside each other that depend on nothing, and each of the others alone.
fn groups(
    calls: Vec<(usize, ToolCall)>,
    beside: impl Fn(&ToolCall) -> Beside,
) -> Vec<Vec<(usize, ToolCall)>> {
    let mut groups: Vec<(Beside, Vec<(usize, ToolCall)>)> = Vec::new();
    for (position, call) in calls {
        let how = beside(&call);
        match groups.last_mut() {
            Some((Beside::Others, group)) if how == Beside::Others => group.push((position, call)),
            _ => groups.push((how, vec![(position, call)])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
