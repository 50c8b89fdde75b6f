//! What was changed, by whom: noted for every route that says so in the table, and listed.
//!
//! A store that makes the change writes the note in the same transaction ([`abide_engine::audit`]); what none has taken is written
//! before the caller is told that it was done. So nothing that was acknowledged is missing.

use crate::ask::Ask;
use crate::door::{Answered, Door};
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use crate::routes::{BYTES, Route};
use abide_engine::audit::noting;
use abide_engine::port::{NewNote, Stored};
use serde_json::{Map, Value, json};

/// The fields of a body that are said in the audit: none of them can be a secret.
const SAID: &[&str] = &[
    "name",
    "agent",
    "scopes",
    "model",
    "capabilities",
    "status",
    "url",
    "events",
    "step",
    "answer",
    "comment",
    "reason",
    "decision",
    "title",
    "active",
    "from",
    "to",
];
/// The longest text that is said of one, in characters.
const LONGEST: usize = 500;

/// Does what a request asks for, and notes who asked if the route says so.
pub(crate) async fn audited<H: House>(door: &Door<H>, route: &Route, request: &str, ask: Ask) -> Answered {
    if !route.audited {
        return super::done(door, route.operation, ask).await;
    }
    let note = NewNote {
        at: door.house.now(),
        by: ask.who.name().to_owned(),
        action: route.id.to_owned(),
        subject: ask.path.join("/"),
        request: Some(request.to_owned()),
        detail: detail(route, &ask).to_string(),
    };
    let (done, left) = noting(Some(note), super::done(door, route.operation, ask)).await;
    let reply = done?;
    if let Some(note) = left {
        door.house.audit().note(note).await.map_err(|_| {
            Problem::new(
                Code::Unavailable,
                "it was done, and could not be noted in the audit: look before you try again",
            )
        })?;
    }
    Ok(reply)
}

/// Leaves out what is configured for capabilities: whoever makes one may ask for a secret there.
fn ids(capabilities: &Value) -> Value {
    let id = |entry: &Value| match entry {
        Value::Object(entry) => entry.get("id").cloned().unwrap_or_default(),
        plain => plain.clone(),
    };
    capabilities.as_array().map(|entries| entries.iter().map(id).collect()).unwrap_or_default()
}

fn detail(route: &Route, ask: &Ask) -> Value {
    let mut body = match route.body {
        // What is in a file is its owner's business.
        None | Some(BYTES) => Map::new(),
        Some(_) => match ask.document().ok().map(serde_json::from_str) {
            Some(Ok(Value::Object(body))) => body,
            _ => Map::new(),
        },
    };
    if let Some(capabilities) = body.get_mut("capabilities") {
        *capabilities = ids(capabilities);
    }
    let path = ask.query("path").map(|path| ("path".to_owned(), Value::from(path)));
    let short = |value: &Value| match value {
        Value::String(text) => Value::from(text.chars().take(LONGEST).collect::<String>()),
        other => other.clone(),
    };
    let said: Map<String, Value> = body
        .iter()
        .filter(|(name, value)| SAID.contains(&name.as_str()) && value.to_string().len() < 16 * 1024)
        .map(|(name, value)| (name.clone(), short(value)))
        .chain(path.iter().map(|(name, value)| (name.clone(), short(value))))
        .collect();
    Value::Object(said)
}

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    let limit = ask.limit()?;
    let after = ask.number("after")?.unwrap_or(0);
    let page = house.audit().list(after, limit).await;
    let page = page.map_err(|_| Problem::new(Code::Unavailable, "the audit cannot be reached"))?;
    let next = page.last().filter(|_| page.len() == limit).map(|last| last.seq.to_string());
    let items: Vec<Value> = page.iter().map(row).collect();
    Ok(Reply::done(&json!({ "items": items, "next": next })))
}

/// Returns a row of the audit, the same for the API and `abide audit changes`.
pub fn row(stored: &Stored) -> Value {
    let mut data: Value = serde_json::from_str(&stored.data).unwrap_or_default();
    json!({
        "seq": stored.seq,
        "at": stored.at,
        "action": stored.kind,
        "by": data["by"].take(),
        "subject": data["subject"].take(),
        "request": data["request"].take(),
        "detail": data["detail"].take(),
        "previous_hash": stored.previous,
        "hash": stored.hash,
    })
}
