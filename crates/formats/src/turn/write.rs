//! Events of a session → JSON.

use crate::event::write::{Map, int, maybe, text, usage_data};
use abide_core::model::{AnswerEnd, Arguments, Cost, Part, Piece, Thought, ToolCall};
use abide_core::turn::{
    Answered, Compacted, Decision, Exhausted, Outcome, SessionCreated, TurnEnd, TurnEvent,
};
use abide_core::value::Value;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Returns the data of an event as JSON text; its kind is [`TurnEvent::kind`].
pub fn write(event: &TurnEvent) -> String {
    data(event).to_string()
}

fn data(event: &TurnEvent) -> Value {
    let map = Map::new();
    match event {
        TurnEvent::Created(created) => created_data(created),
        TurnEvent::Told { parts, label } => {
            map.with("parts", parts_data(parts)).with("label", maybe(label.as_ref())).done()
        }
        TurnEvent::Asked => map.done(),
        TurnEvent::Answered(answered) => answered_data(answered),
        TurnEvent::Decided { call, decision } => decision_data(map.with("call", int(*call)), decision),
        TurnEvent::Started { call } => map.with("call", int(*call)).done(),
        TurnEvent::Result { call, outcome } => outcome_data(map.with("call", int(*call)), outcome),
        TurnEvent::Held { why } => map.with("why", text(why)).done(),
        TurnEvent::Ended(end) => end_data(end),
        TurnEvent::Compacted(compacted) => compacted_data(compacted),
    }
}

fn created_data(created: &SessionCreated) -> Value {
    Map::new()
        .with("version", int(1))
        .with("agent", text(&created.agent))
        .with("model", text(&created.model))
        .with("parent", maybe(created.parent.as_ref()))
        .with("run", maybe(created.run.as_ref()))
        .with("step", maybe(created.step.as_ref()))
        .done()
}

fn parts_data(parts: &[Part]) -> Value {
    let part = |part: &Part| match part {
        Part::Text(words) => Map::new().with("text", text(words)).done(),
        Part::Image(image) => Map::new()
            .with("image", Value::Text(BASE64_STANDARD.encode(&image.bytes)))
            .with("media", text(image.media.word()))
            .done(),
    };
    Value::List(parts.iter().map(part).collect())
}

fn answered_data(answered: &Answered) -> Value {
    let end = match answered.end {
        AnswerEnd::Done => "done",
        AnswerEnd::Calls => "calls",
        AnswerEnd::Limit => "limit",
        AnswerEnd::Refused => "refused",
    };
    let map = Map::new()
        .with("pieces", Value::List(answered.pieces.iter().map(piece_data).collect()))
        .with("usage", usage_data(answered.usage))
        .with("cost", cost_data(answered.cost))
        .with("end", text(end));
    match &answered.structured {
        Some(value) => map.exactly("structured", value.clone()).done(),
        None => map.done(),
    }
}

fn cost_data(cost: Cost) -> Value {
    match cost {
        Cost(0) => Value::Null,
        Cost(amount) => Value::Int(i64::try_from(amount).unwrap_or(i64::MAX)),
    }
}

fn piece_data(piece: &Piece) -> Value {
    let map = Map::new();
    match piece {
        Piece::Text(words) => map.with("text", text(words)).done(),
        Piece::Call(call) => map.with("call", call_data(call)).done(),
        Piece::Thought(Thought::Open { text: words, seal }) => {
            map.with("thought", text(words)).with("seal", text(seal)).done()
        }
        Piece::Thought(Thought::Sealed(sealed)) => map.with("sealed", text(sealed)).done(),
    }
}

fn call_data(call: &ToolCall) -> Value {
    let map = Map::new().with("id", text(&call.id)).with("name", text(&call.name));
    match &call.arguments {
        Arguments::Data(value) => map.exactly("arguments", value.clone()).done(),
        Arguments::Unreadable(words) => map.with("unreadable", text(words)).done(),
    }
}

fn decision_data(map: Map, decision: &Decision) -> Value {
    match decision {
        Decision::Allowed { note } => {
            map.with("decision", text("allowed")).with("note", maybe(note.as_ref()))
        }
        Decision::Asked { why } => map.with("decision", text("asked")).with("why", text(why)),
        Decision::Confirmed { by } => map.with("decision", text("confirmed")).with("by", text(by)),
        Decision::Denied { check, why } => {
            map.with("decision", text("denied")).with("check", text(check.word())).with("why", text(why))
        }
    }
    .done()
}

fn outcome_data(map: Map, outcome: &Outcome) -> Value {
    map.with("parts", parts_data(&outcome.parts))
        .with("error", maybe(outcome.error.as_ref()))
        .with("detail", maybe(outcome.detail.as_ref()))
        .done()
}

fn end_data(end: &TurnEnd) -> Value {
    let map = Map::new();
    match end {
        TurnEnd::Finished => map.with("end", text("finished")),
        TurnEnd::OutOfBudget(exhausted) => {
            let (what, limit) = match exhausted {
                Exhausted::Tokens { limit } => ("tokens", *limit),
                Exhausted::Cost { limit } => ("cost", limit.0),
                Exhausted::Time => ("time", 0),
                Exhausted::Turns { limit } => ("turns", u64::from(*limit)),
                Exhausted::Depth { limit } => ("depth", u64::from(*limit)),
            };
            let limit = Value::Int(i64::try_from(limit).unwrap_or(i64::MAX));
            map.with("end", text("out_of_budget")).with("what", text(what)).with("limit", limit)
        }
        TurnEnd::Cancelled => map.with("end", text("cancelled")),
        TurnEnd::Failed { why } => map.with("end", text("failed")).with("why", text(why)),
    }
    .done()
}

fn compacted_data(compacted: &Compacted) -> Value {
    Map::new()
        .with("upto", int(compacted.upto))
        .with("summary", text(&compacted.summary))
        .with("by_model", Value::Bool(compacted.by_model))
        .with("usage", usage_data(compacted.usage))
        .with("cost", cost_data(compacted.cost))
        .done()
}
