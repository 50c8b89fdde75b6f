//! JSON → events of a session.

use crate::event::BadEvent;
use crate::event::fields::Fields;
use crate::event::read::{cost, usage};
use crate::json;
use abide_core::model::{
    AnswerEnd, Arguments, Cost, Image, ImageMedia, Part, Piece, Thought, ToolCall, Usage,
};
use abide_core::turn::{
    Answered, Charged, Check, Compacted, Decision, EventKind, Exhausted, Outcome, SessionCreated, Spent,
    TurnEnd, TurnEvent,
};
use abide_core::value::Value;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::sync::Arc;

/// Reads an event from its kind and its data.
pub fn read(kind: &str, data: &str) -> Result<TurnEvent, BadEvent> {
    let known = EventKind::parse(kind)
        .ok_or_else(|| BadEvent::new(kind, "it is not known to this version of abide"))?;
    let value = json::parse(data).map_err(|error| BadEvent::new(kind, error))?;
    let mut fields = Fields::new(kind, value)?;
    let event = event(known, &mut fields)?;
    fields.finish()?;
    Ok(event)
}

fn event(kind: EventKind, fields: &mut Fields<'_>) -> Result<TurnEvent, BadEvent> {
    Ok(match kind {
        EventKind::Created => TurnEvent::Created(Box::new(created(fields)?)),
        EventKind::Told => TurnEvent::Told { parts: parts(fields)?, label: fields.optional_text("label")? },
        EventKind::Asked => TurnEvent::Asked,
        EventKind::Answered => TurnEvent::Answered(Box::new(answered(fields)?)),
        EventKind::Decided => TurnEvent::Decided { call: fields.count("call")?, decision: decision(fields)? },
        EventKind::Started => TurnEvent::Started { call: fields.count("call")? },
        EventKind::Result => TurnEvent::Result {
            call: fields.count("call")?,
            outcome: Outcome {
                parts: parts(fields)?,
                error: fields.optional_text("error")?,
                detail: fields.optional_text("detail")?,
            },
        },
        EventKind::Held => TurnEvent::Held { why: fields.text("why")? },
        EventKind::Ended => TurnEvent::Ended(end(fields)?),
        EventKind::Compacted => TurnEvent::Compacted(Compacted {
            upto: fields.count("upto")?,
            summary: fields.text("summary")?,
            by_model: fields.flag("by_model")?,
            usage: used(fields)?,
            cost: cost(fields)?,
        }),
        EventKind::Charged => {
            let call = fields.optional_int("call")?.map(u32::try_from);
            let turns = fields.optional_int("turns")?.map_or(Ok(0), u32::try_from);
            TurnEvent::Charged(Charged {
                call: call.transpose().map_err(|_| fields.bad("call"))?,
                spent: Spent {
                    usage: used(fields)?,
                    cost: cost(fields)?,
                    turns: turns.map_err(|_| fields.bad("turns"))?,
                },
            })
        }
    })
}

fn created(fields: &mut Fields<'_>) -> Result<SessionCreated, BadEvent> {
    if fields.count("version")? != 1 {
        return Err(fields.bad("version"));
    }
    Ok(SessionCreated {
        agent: fields.text("agent")?,
        model: fields.text("model")?,
        parent: fields.optional_text("parent")?,
        run: fields.optional_text("run")?,
        step: fields.optional_text("step")?,
    })
}

fn parts(fields: &mut Fields<'_>) -> Result<Vec<Part>, BadEvent> {
    each(fields, "parts", |inner| {
        if let Some(text) = inner.optional_text("text")? {
            return Ok(Part::Text(text));
        }
        let encoded = inner.text("image")?;
        let media = inner.text("media")?;
        let known = [ImageMedia::Gif, ImageMedia::Jpeg, ImageMedia::Png, ImageMedia::Webp];
        let media =
            known.into_iter().find(|known| known.word() == media).ok_or_else(|| inner.bad("media"))?;
        let bytes = BASE64_STANDARD.decode(encoded).map_err(|_| inner.bad("image"))?;
        Ok(Part::Image(Image { media, bytes: Arc::from(bytes) }))
    })
}

/// Reads a list of mappings.
fn each<'a, T>(
    fields: &mut Fields<'a>,
    name: &str,
    mut read: impl FnMut(&mut Fields<'a>) -> Result<T, BadEvent>,
) -> Result<Vec<T>, BadEvent> {
    let items = fields.list(name)?;
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        let mut inner = fields.nested(item)?;
        all.push(read(&mut inner)?);
        inner.finish()?;
    }
    Ok(all)
}

fn answered(fields: &mut Fields<'_>) -> Result<Answered, BadEvent> {
    Ok(Answered {
        pieces: each(fields, "pieces", piece)?,
        structured: fields.take("structured"),
        usage: used(fields)?,
        cost: cost(fields)?,
        end: match fields.text("end")?.as_str() {
            "done" => AnswerEnd::Done,
            "calls" => AnswerEnd::Calls,
            "limit" => AnswerEnd::Limit,
            "refused" => AnswerEnd::Refused,
            _ => return Err(fields.bad("end")),
        },
    })
}

fn used(fields: &mut Fields<'_>) -> Result<Usage, BadEvent> {
    Ok(usage(fields)?.unwrap_or_default())
}

fn piece(fields: &mut Fields<'_>) -> Result<Piece, BadEvent> {
    if let Some(text) = fields.optional_text("text")? {
        return Ok(Piece::Text(text));
    }
    if let Some(mut inner) = fields.inner("call")? {
        let call = ToolCall {
            id: inner.text("id")?,
            name: inner.text("name")?,
            arguments: match inner.optional_text("unreadable")? {
                Some(text) => Arguments::Unreadable(text),
                None => Arguments::Data(inner.take("arguments").unwrap_or(Value::Null)),
            },
        };
        inner.finish()?;
        return Ok(Piece::Call(call));
    }
    if let Some(sealed) = fields.optional_text("sealed")? {
        return Ok(Piece::Thought(Thought::Sealed(sealed)));
    }
    Ok(Piece::Thought(Thought::Open { text: fields.text("thought")?, seal: fields.text("seal")? }))
}

fn decision(fields: &mut Fields<'_>) -> Result<Decision, BadEvent> {
    Ok(match fields.text("decision")?.as_str() {
        "allowed" => Decision::Allowed { note: fields.optional_text("note")? },
        "asked" => Decision::Asked { why: fields.text("why")? },
        "confirmed" => Decision::Confirmed { by: fields.text("by")? },
        "denied" => Decision::Denied {
            check: Check::parse(&fields.text("check")?).ok_or_else(|| fields.bad("check"))?,
            why: fields.text("why")?,
        },
        _ => return Err(fields.bad("decision")),
    })
}

fn end(fields: &mut Fields<'_>) -> Result<TurnEnd, BadEvent> {
    Ok(match fields.text("end")?.as_str() {
        "finished" => TurnEnd::Finished,
        "cancelled" => TurnEnd::Cancelled,
        "failed" => TurnEnd::Failed { why: fields.text("why")? },
        "out_of_budget" => {
            let what = fields.text("what")?;
            let limit = fields.optional_int("limit")?.unwrap_or(0);
            let limit = u64::try_from(limit).map_err(|_| fields.bad("limit"))?;
            let small = || u32::try_from(limit).map_err(|_| fields.bad("limit"));
            TurnEnd::OutOfBudget(match what.as_str() {
                "tokens" => Exhausted::Tokens { limit },
                "cost" => Exhausted::Cost { limit: Cost(limit) },
                "time" => Exhausted::Time,
                "turns" => Exhausted::Turns { limit: small()? },
                "depth" => Exhausted::Depth { limit: small()? },
                _ => return Err(fields.bad("what")),
            })
        }
        _ => return Err(fields.bad("end")),
    })
}
