//! The spans of a session, as its log tells them: turns, and in each what a model was asked and which tools were called.
//!
//! What was said, what tools were given and what they answered may hold a secret, and is in no span.

use super::names;
use super::span::{Attribute, Place, Span, SpanId, SpanKind};
use crate::port::SessionId;
use abide_core::event::Timestamp;
use abide_core::model::{AnswerEnd, Cost, Piece, Usage};
use abide_core::turn::{Answered, Charged, Decision, Outcome, SessionCreated, TurnEnd, TurnEvent};

/// Says where a turn stands, by its label and when it began; nothing if nobody wants to know of it.
pub type PlaceOf<'a> = dyn Fn(Option<&str>, Timestamp) -> Option<Place> + Send + Sync + 'a;

/// The spans of a session, as far as its log has been folded.
pub struct SessionFold<'a> {
    id: SessionId,
    place_of: &'a PlaceOf<'a>,
    created: SessionCreated,
    turn: Option<Turn>,
    last: Timestamp,
    spans: Vec<Span>,
}

/// The turn that is under way.
struct Turn {
    span: Span,
    chat: Option<Span>,
    calls: Vec<Call>,
}

/// A call of the last answer.
struct Call {
    id: String,
    name: String,
    span: Option<Span>,
    /// The question to a human whether it may be made.
    asked: Option<Span>,
    done: bool,
}

impl<'a> SessionFold<'a> {
    /// Begins with an empty log, or, once it is told what the session is, in the middle of one.
    pub fn new(id: SessionId, created: SessionCreated, place_of: &'a PlaceOf<'a>) -> Self {
        Self { id, place_of, created, turn: None, last: Timestamp::default(), spans: Vec::new() }
    }

    /// Takes in the next event.
    pub fn take(&mut self, position: u64, at: Timestamp, event: &TurnEvent) {
        match event {
            TurnEvent::Created(created) => self.created = (**created).clone(),
            TurnEvent::Told { label, .. } => self.told(position, at, label.as_deref()),
            TurnEvent::Asked => self.asked(position, at),
            TurnEvent::Answered(answered) => self.answered(position, at, answered),
            TurnEvent::Decided { call, decision } => self.decided(position, at, *call, decision),
            TurnEvent::Started { call } => self.begin_call(position, at, *call),
            TurnEvent::Result { call, outcome } => self.result(position, at, *call, outcome),
            TurnEvent::Held { .. } => {}
            TurnEvent::Charged(charged) => self.charged(*charged),
            TurnEvent::Ended(end) => self.ended(at, end),
            TurnEvent::Compacted(compacted) => {
                if compacted.by_model {
                    // The time since whatever came before it was the model's.
                    let from = self.last;
                    let span = self.begin(position, "chat", from.min(at), true);
                    let end = |span: Span| {
                        let span = used(span, compacted.usage, compacted.cost);
                        span.with(names::COMPACTED, Attribute::Flag(true)).end(at, None)
                    };
                    self.spans.extend(span.map(end));
                }
            }
        }
        self.last = at;
    }

    /// Returns the spans of the turns that are over; each turn's own comes after what happened in it.
    pub fn into_spans(self) -> Vec<Span> {
        self.spans
    }

    fn told(&mut self, position: u64, at: Timestamp, label: Option<&str>) {
        // One that is still there was never ended; no loop does this.
        self.ended(at, &TurnEnd::Cancelled);
        let Some(place) = (self.place_of)(label, at) else { return };
        let id = SpanId::at(self.id.as_str(), position);
        let agent = &self.created.agent;
        let mut span = Span::begin(place, id, format!("invoke_agent {agent}"), at)
            .text(names::OPERATION, "invoke_agent")
            .text(names::AGENT, agent.as_str());
        span = self.of_model(span).text(names::CONVERSATION, self.id.as_str());
        match (&self.created.run, label) {
            (Some(run), _) => span = span.text(names::RUN, run.as_str()),
            (None, Some(label)) => span = span.text(names::MESSAGE, label),
            (None, None) => {}
        }
        self.turn = Some(Turn { span, chat: None, calls: Vec::new() });
    }

    /// Names who serves the model, and the model.
    fn of_model(&self, span: Span) -> Span {
        match self.created.model.split_once('/') {
            Some((provider, model)) => {
                span.text(names::PROVIDER, provider).text(names::SYSTEM, provider).text(names::MODEL, model)
            }
            None => span,
        }
    }

    /// Begins a span of the turn that is under way; one of a model, or one of a tool.
    fn begin(&self, position: u64, what: &str, at: Timestamp, of_model: bool) -> Option<Span> {
        let turn = self.turn.as_ref()?;
        let place = turn.span.place.under(turn.span.id);
        let model = self.created.model.split_once('/').map_or("", |(_, model)| model);
        let name = if of_model { format!("{what} {model}") } else { what.to_owned() };
        let id = SpanId::at(self.id.as_str(), position);
        let mut span = Span::begin(place, id, name.trim_end().to_owned(), at);
        if of_model {
            span.kind = SpanKind::Client;
            span = self.of_model(span.text(names::OPERATION, "chat"));
        }
        span = span.text(names::AGENT, self.created.agent.as_str());
        span = span.text(names::CONVERSATION, self.id.as_str());
        if let Some(run) = &self.created.run {
            span = span.text(names::RUN, run.as_str());
        }
        Some(span)
    }

    fn asked(&mut self, position: u64, at: Timestamp) {
        let span = self.begin(position, "chat", at, true);
        let Some(turn) = &mut self.turn else { return };
        // Of one without an answer nobody knows more than that it did not come.
        let lost = turn.chat.take().map(|span| span.end(at, Some("no_answer")));
        turn.chat = span;
        self.spans.extend(lost);
    }

    fn answered(&mut self, position: u64, at: Timestamp, answered: &Answered) {
        let begun = self.turn.as_mut().and_then(|turn| turn.chat.take());
        let Some(span) = begun.or_else(|| self.begin(position, "chat", at, true)) else { return };
        let end = match answered.end {
            AnswerEnd::Done => "stop",
            AnswerEnd::Calls => "tool_calls",
            AnswerEnd::Limit => "length",
            AnswerEnd::Refused => "content_filter",
        };
        let span = used(span, answered.usage, answered.cost);
        let span = span.with(names::FINISH, Attribute::Texts(vec![end.to_owned()]));
        self.spans.push(span.end(at, None));
        let Some(turn) = &mut self.turn else { return };
        let calls = answered.pieces.iter().filter_map(|piece| match piece {
            Piece::Call(call) => Some(Call {
                id: call.id.clone(),
                name: call.name.clone(),
                span: None,
                asked: None,
                done: false,
            }),
            Piece::Text(_) | Piece::Thought(_) => None,
        });
        turn.calls = calls.collect();
    }

    /// Notes what was used beside answers at the question or the call that used it.
    fn charged(&mut self, charged: Charged) {
        let Some(turn) = &mut self.turn else { return };
        let span = match charged.call {
            None => &mut turn.chat,
            Some(call) => match turn.calls.get_mut(call as usize) {
                Some(call) => &mut call.span,
                None => return,
            },
        };
        *span = span.take().map(|span| used(span, charged.spent.usage, charged.spent.cost));
    }

    fn call(&mut self, call: u32) -> Option<&mut Call> {
        self.turn.as_mut()?.calls.get_mut(call as usize).filter(|call| !call.done)
    }

    /// Returns a span about a call.
    fn of_call(&mut self, position: u64, at: Timestamp, call: u32, what: &str) -> Option<Span> {
        let (id, name) = self.call(call).map(|call| (call.id.clone(), call.name.clone()))?;
        let span = self.begin(position, &format!("{what} {name}"), at, false)?;
        Some(span.text(names::TOOL, name).text(names::TOOL_CALL, id))
    }

    fn begin_call(&mut self, position: u64, at: Timestamp, call: u32) {
        if self.call(call).is_none_or(|call| call.span.is_some()) {
            return;
        }
        let span = self.of_call(position, at, call, "execute_tool");
        let span = span.map(|span| span.text(names::OPERATION, "execute_tool"));
        if let Some(call) = self.call(call) {
            call.span = span;
        }
    }

    fn decided(&mut self, position: u64, at: Timestamp, call: u32, decision: &Decision) {
        let answer = match decision {
            Decision::Asked { .. } => {
                let asked = self.of_call(position, at, call, "confirm");
                if let Some(call) = self.call(call) {
                    call.asked = asked;
                }
                return;
            }
            Decision::Allowed { .. } | Decision::Confirmed { .. } => "approve",
            Decision::Denied { .. } => "reject",
        };
        let asked = self.call(call).and_then(|call| call.asked.take());
        self.spans.extend(asked.map(|span| span.text(names::ANSWER, answer).end(at, None)));
        self.begin_call(position, at, call);
        if let Decision::Denied { check, .. } = decision {
            self.end_call(at, call, Some(&format!("denied.{}", check.word())));
        }
    }

    fn result(&mut self, position: u64, at: Timestamp, call: u32, outcome: &Outcome) {
        self.begin_call(position, at, call);
        self.end_call(at, call, outcome.error.as_deref());
    }

    fn end_call(&mut self, at: Timestamp, call: u32, error: Option<&str>) {
        let Some(call) = self.call(call) else { return };
        call.done = true;
        let span = call.span.take();
        self.spans.extend(span.map(|span| span.end(at, error)));
    }

    fn ended(&mut self, at: Timestamp, end: &TurnEnd) {
        let Some(turn) = self.turn.take() else { return };
        let (word, error) = match end {
            TurnEnd::Finished => ("finished", None),
            TurnEnd::OutOfBudget(_) => ("out_of_budget", Some("out_of_budget")),
            TurnEnd::Cancelled => ("cancelled", Some("cancelled")),
            TurnEnd::Failed { .. } => ("failed", Some("failed")),
        };
        // What was under way ended with it.
        let open = turn.calls.into_iter().flat_map(|call| [call.asked, call.span]).flatten();
        let open = turn.chat.into_iter().chain(open).map(|span| span.end(at, Some(error.unwrap_or("ended"))));
        self.spans.extend(open);
        self.spans.push(turn.span.text(names::TURN_END, word).end(at, error));
    }
}

/// Notes what was used of a model, and what that cost.
pub(super) fn used(span: Span, usage: Usage, cost: Cost) -> Span {
    let mut span =
        span.count(names::INPUT_TOKENS, usage.input_tokens).count(names::OUTPUT_TOKENS, usage.output_tokens);
    for (name, count) in [
        (names::CACHE_READ, usage.cache_read_tokens),
        (names::CACHE_WRITE, usage.cache_write_tokens),
        (names::COST, cost.0),
    ] {
        if count > 0 {
            span = span.count(name, count);
        }
    }
    span
}
