//! A conversation as its log tells it.

use super::{Answered, Compacted, Decision, Outcome, Repeats, SessionCreated, Spent, TurnEnd, TurnEvent};
use crate::model::{AnswerEnd, Message, Part, Piece, ToolCall, ToolResult};
use crate::value::Value;
use std::sync::Arc;

/// A conversation: what was said, and how far the turn is that is under way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    /// What the session is.
    pub created: SessionCreated,
    /// What a model is sent. Every call in it has a result, unless [`Conversation::active`] has open ones.
    ///
    /// Shared with the question that is being asked, so that a long conversation is not copied for each.
    pub messages: Arc<Vec<Message>>,
    /// The turn that is under way.
    pub active: Option<Turn>,
    /// How many turns there were, the active one included.
    pub turns: u32,
    /// What was used, by all turns.
    pub spent: Spent,
    /// What was used by the last turn that ended.
    pub last_spent: Spent,
    /// How the last turn ended, with its label.
    pub last: Option<(Option<String>, TurnEnd)>,
    /// The text of the last answer.
    pub text: String,
    /// The last answer as data.
    pub structured: Option<Value>,
    /// How many tokens the conversation had at one of its messages, by the word of the provider.
    pub(super) measured: Option<(usize, u64)>,
}

/// A turn: from what the model is told to its final answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn {
    /// What its teller calls it.
    pub label: Option<String>,
    /// Which message began it.
    pub told: usize,
    /// What it has used.
    pub spent: Spent,
    /// How often the model was asked.
    pub asked: u32,
    /// How often it answered; what it has used counts the answers of those that it called, too.
    pub answers: u32,
    /// The calls of the last answer; none when all of them have results.
    pub calls: Vec<Call>,
    /// Why the last answer ended, if it was the final one.
    pub answered: Option<AnswerEnd>,
    /// How often it was held since a call of it was last allowed.
    pub held: u32,
    /// The calls that were made, and how often.
    pub repeats: Repeats,
}

/// A call and how far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What is called.
    pub call: ToolCall,
    /// How far it is.
    pub stage: Stage,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    /// Nobody has looked at it.
    Open,
    /// A human is being asked.
    Waiting {
        /// What about.
        why: String,
    },
    /// It may be made.
    Allowed {
        /// What the model is told beside the result.
        note: Option<String>,
    },
    /// It is being made, and must not be made again.
    Started,
    /// It has a result.
    Done(ToolResult),
}

impl Turn {
    /// Returns the positions of the calls without a result, in order.
    pub fn open(&self) -> impl Iterator<Item = usize> {
        let open =
            |(position, call): (usize, &Call)| (!matches!(call.stage, Stage::Done(_))).then_some(position);
        self.calls.iter().enumerate().filter_map(open)
    }
}

impl Conversation {
    /// Takes in what happened: the only way a conversation changes.
    pub fn apply(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::Created(created) => self.created = (**created).clone(),
            TurnEvent::Told { parts, label } => self.tell(parts, label.clone()),
            TurnEvent::Asked => {
                if let Some(turn) = &mut self.active {
                    turn.asked += 1;
                }
            }
            TurnEvent::Answered(answered) => self.answer(answered),
            TurnEvent::Decided { call, decision } => self.decide(*call, decision),
            TurnEvent::Started { call } => self.set(*call, |_| Stage::Started),
            TurnEvent::Result { call, outcome } => self.finish(*call, outcome),
            TurnEvent::Held { why } => self.hold(why),
            TurnEvent::Ended(end) => self.end(end),
            TurnEvent::Compacted(compacted) => self.compact(compacted),
            TurnEvent::Charged(charged) => {
                let turn = self.active.as_mut().map(|turn| &mut turn.spent);
                for spent in turn.into_iter().chain([&mut self.spent]) {
                    spent.add(charged.spent.usage, charged.spent.cost, charged.spent.turns);
                }
            }
        }
    }

    /// Returns what follows from a loop that died: calls of which nobody knows whether they were made.
    ///
    /// They are not made again. What only looks is, and has no [`TurnEvent::Started`]; what takes up again where it was, as
    /// `takes_up` says of it, stays open.
    pub fn lost(&self, takes_up: impl Fn(&ToolCall) -> bool) -> Vec<TurnEvent> {
        let calls = self.active.iter().flat_map(|turn| turn.calls.iter().enumerate());
        calls
            .filter(|(_, call)| call.stage == Stage::Started && !takes_up(&call.call))
            .map(|(position, call)| TurnEvent::Result {
                call: u32::try_from(position).unwrap_or(u32::MAX),
                outcome: Outcome::error(
                    Outcome::UNKNOWN,
                    format!(
                        "abide was interrupted while `{}` ran: it is not known whether it had its effect. Look before you call it again.",
                        call.call.name
                    ),
                ),
            })
            .collect()
    }

    fn messages_mut(&mut self) -> &mut Vec<Message> {
        Arc::make_mut(&mut self.messages)
    }

    fn tell(&mut self, parts: &[Part], label: Option<String>) {
        if self.active.is_some() {
            // No loop does this. Whatever was open is closed, so that the conversation stays one.
            self.end(&TurnEnd::Cancelled);
        }
        self.turns += 1;
        self.active = Some(Turn { label, told: self.messages.len(), ..Turn::default() });
        self.messages_mut().push(Message::User(parts.to_vec()));
        self.text.clear();
        self.structured = None;
    }

    fn answer(&mut self, answered: &Answered) {
        self.spent.add(answered.usage, answered.cost, 1);
        self.text = text(&answered.pieces);
        self.structured.clone_from(&answered.structured);
        if answered.usage.input_tokens > 0 {
            self.measured = Some((self.messages.len() + 1, answered.usage.tokens()));
        }
        let calls: Vec<Call> = answered
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Call(call) => Some(Call { call: call.clone(), stage: Stage::Open }),
                Piece::Text(_) | Piece::Thought(_) => None,
            })
            .collect();
        if !answered.pieces.is_empty() {
            self.messages_mut().push(Message::Model(answered.pieces.clone()));
        }
        if let Some(turn) = &mut self.active {
            turn.spent.add(answered.usage, answered.cost, 1);
            turn.answers += 1;
            turn.answered = calls.is_empty().then_some(answered.end);
            turn.calls = calls;
        }
    }

    fn decide(&mut self, call: u32, decision: &Decision) {
        let Some(turn) = &mut self.active else { return };
        if let Some(found) = turn.calls.get(call as usize)
            && found.stage == Stage::Open
        {
            turn.repeats.count(&found.call);
        }
        if matches!(decision, Decision::Allowed { .. } | Decision::Confirmed { .. }) {
            turn.held = 0;
        }
        match decision {
            Decision::Allowed { note } => self.set(call, |_| Stage::Allowed { note: note.clone() }),
            Decision::Asked { why } => self.set(call, |_| Stage::Waiting { why: why.clone() }),
            Decision::Confirmed { .. } => self.set(call, |_| Stage::Allowed { note: None }),
            Decision::Denied { why, .. } => self.finish(call, &Outcome::error("denied", why)),
        }
    }

    /// Lets the model go on after an answer that it took for its last.
    fn hold(&mut self, why: &str) {
        let Some(turn) = &mut self.active else { return };
        turn.answered = None;
        turn.held = turn.held.saturating_add(1);
        self.messages_mut().push(Message::user(why));
    }

    /// Changes how far a call is; one that is done stays so.
    fn set(&mut self, call: u32, stage: impl FnOnce(&Call) -> Stage) {
        let Some(turn) = &mut self.active else { return };
        let Some(found) = turn.calls.get_mut(call as usize) else { return };
        if !matches!(found.stage, Stage::Done(_)) {
            found.stage = stage(found);
        }
    }

    fn finish(&mut self, call: u32, outcome: &Outcome) {
        self.set(call, |call| {
            Stage::Done(ToolResult {
                call: call.call.id.clone(),
                parts: outcome.parts.clone(),
                is_error: outcome.error.is_some(),
            })
        });
        self.gather();
    }

    /// Makes the results one message as soon as every call has one.
    fn gather(&mut self) {
        let Some(turn) = &mut self.active else { return };
        if turn.calls.is_empty() || turn.open().next().is_some() {
            return;
        }
        let results = turn.calls.drain(..).filter_map(|call| match call.stage {
            Stage::Done(result) => Some(result),
            _ => None,
        });
        let results = Message::Results(results.collect());
        self.messages_mut().push(results);
    }

    fn end(&mut self, end: &TurnEnd) {
        let open: Vec<(u32, Outcome)> = self
            .active
            .iter()
            .flat_map(|turn| turn.open().map(|position| (position, &turn.calls[position])))
            .map(|(position, call)| {
                let text = match call.stage {
                    Stage::Started => {
                        "the turn ended while this ran: it is not known whether it had its effect"
                    }
                    _ => "the turn ended before this was done",
                };
                (u32::try_from(position).unwrap_or(u32::MAX), Outcome::error("ended", text))
            })
            .collect();
        for (call, outcome) in open {
            self.finish(call, &outcome);
        }
        if let Some(turn) = self.active.take() {
            self.last_spent = turn.spent;
            self.last = Some((turn.label, end.clone()));
        }
    }

    fn compact(&mut self, compacted: &Compacted) {
        self.spent.add(compacted.usage, compacted.cost, 0);
        let upto = (compacted.upto as usize).min(self.messages.len());
        let told = self.active.as_ref().map(|turn| turn.told).filter(|told| *told < upto);
        let told = told.map(|told| self.messages[told].clone());
        let rest = self.messages_mut().split_off(upto);
        let mut messages = vec![Message::user(format!(
            "Summary of the conversation so far, which was too long to be kept whole:\n\n{}",
            compacted.summary
        ))];
        if let Some(turn) = &mut self.active {
            turn.spent.add(compacted.usage, compacted.cost, 0);
            turn.told = if told.is_some() { 1 } else { turn.told.saturating_sub(upto) + 1 };
        }
        messages.extend(told);
        messages.extend(rest);
        self.messages = Arc::new(messages);
        self.measured = None;
    }
}

/// Returns what a model said in words.
fn text(pieces: &[Piece]) -> String {
    let texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        Piece::Call(_) | Piece::Thought(_) => None,
    });
    texts.collect()
}
