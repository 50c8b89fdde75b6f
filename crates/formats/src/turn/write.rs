//! Events of a session → JSON.

use crate::event::write::{cost_data, usage_data};
use crate::written::{Json, Map, int, list, map, mapping, maybe, text};
use abide_core::model::{AnswerEnd, Arguments, Part, Piece, Thought, ToolCall};
use abide_core::turn::{
    Answered, Charged, Compacted, Decision, Exhausted, Outcome, SessionCreated, TurnEnd, TurnEvent,
};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Returns the data of an event as JSON text; its kind is [`TurnEvent::kind`].
pub fn write(event: &TurnEvent) -> String {
    mapping(|map| {
        data(event, map);
    })
}

fn data<'a, 'b>(event: &TurnEvent, map: &'a mut Map<'b>) -> &'a mut Map<'b> {
    match event {
        TurnEvent::Created(created) => created_data(created, map),
        TurnEvent::Told { parts, label } => {
            map.with("parts", parts_data(parts)).with("label", maybe(label.as_ref()))
        }
        TurnEvent::Asked => map,
        TurnEvent::Answered(answered) => answered_data(answered, map),
        TurnEvent::Decided { call, decision } => decision_data(map.with("call", int(*call)), decision),
        TurnEvent::Started { call } => map.with("call", int(*call)),
        TurnEvent::Result { call, outcome } => outcome_data(map.with("call", int(*call)), outcome),
        TurnEvent::Held { why } => map.with("why", text(why)),
        TurnEvent::Ended(end) => end_data(end, map),
        TurnEvent::Compacted(compacted) => compacted_data(compacted, map),
        TurnEvent::Charged(charged) => charged_data(*charged, map),
    }
}

fn created_data<'a, 'b>(created: &SessionCreated, map: &'a mut Map<'b>) -> &'a mut Map<'b> {
    map.with("version", int(1))
        .with("agent", text(&created.agent))
        .with("model", text(&created.model))
        .with("parent", maybe(created.parent.as_ref()))
        .with("run", maybe(created.run.as_ref()))
        .with("step", maybe(created.step.as_ref()))
}

fn parts_data(parts: &[Part]) -> impl Json {
    list(parts.iter().map(|part| {
        map(move |map| {
            match part {
                Part::Text(words) => map.with("text", text(words)),
                Part::Image(image) => map
                    .with("image", BASE64_STANDARD.encode(&image.bytes))
                    .with("media", text(image.media.word())),
            };
        })
    }))
}

fn answered_data<'a, 'b>(answered: &Answered, map: &'a mut Map<'b>) -> &'a mut Map<'b> {
    let end = match answered.end {
        AnswerEnd::Done => "done",
        AnswerEnd::Calls => "calls",
        AnswerEnd::Limit => "limit",
        AnswerEnd::Refused => "refused",
    };
    let map = map
        .with("pieces", list(answered.pieces.iter().map(piece_data)))
        .with("usage", usage_data(answered.usage))
        .with("cost", cost_data(answered.cost))
        .with("end", text(end));
    match &answered.structured {
        Some(value) => map.exactly("structured", value),
        None => map,
    }
}

fn piece_data(piece: &Piece) -> impl Json {
    map(move |map| {
        match piece {
            Piece::Text(words) => map.with("text", text(words)),
            Piece::Call(call) => map.with("call", call_data(call)),
            Piece::Thought(Thought::Open { text: words, seal }) => {
                map.with("thought", text(words)).with("seal", text(seal))
            }
            Piece::Thought(Thought::Sealed(sealed)) => map.with("sealed", text(sealed)),
        };
    })
}

fn call_data(call: &ToolCall) -> impl Json {
    map(move |map| {
        let map = map.with("id", text(&call.id)).with("name", text(&call.name));
        match &call.arguments {
            Arguments::Data(value) => map.exactly("arguments", value),
            Arguments::Unreadable(words) => map.with("unreadable", text(words)),
        };
    })
}

fn decision_data<'a, 'b>(map: &'a mut Map<'b>, decision: &Decision) -> &'a mut Map<'b> {
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
}

fn outcome_data<'a, 'b>(map: &'a mut Map<'b>, outcome: &Outcome) -> &'a mut Map<'b> {
    map.with("parts", parts_data(&outcome.parts))
        .with("error", maybe(outcome.error.as_ref()))
        .with("detail", maybe(outcome.detail.as_ref()))
}

fn end_data<'a, 'b>(end: &TurnEnd, map: &'a mut Map<'b>) -> &'a mut Map<'b> {
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
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            map.with("end", text("out_of_budget")).with("what", text(what)).with("limit", limit)
        }
        TurnEnd::Cancelled => map.with("end", text("cancelled")),
        TurnEnd::Failed { why } => map.with("end", text("failed")).with("why", text(why)),
    }
}

fn charged_data<'a, 'b>(charged: Charged, map: &'a mut Map<'b>) -> &'a mut Map<'b> {
    let turns = i64::from(charged.spent.turns);
    map.with("call", charged.call.map(i64::from))
        .with("usage", usage_data(charged.spent.usage))
        .with("cost", cost_data(charged.spent.cost))
        .with("turns", (turns != 0).then_some(turns))
}

fn compacted_data<'a, 'b>(compacted: &Compacted, map: &'a mut Map<'b>) -> &'a mut Map<'b> {
    map.with("upto", int(compacted.upto))
        .with("summary", text(&compacted.summary))
        .with("by_model", compacted.by_model)
        .with("usage", usage_data(compacted.usage))
        .with("cost", cost_data(compacted.cost))
}
