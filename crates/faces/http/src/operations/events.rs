//! The events of a run: page by page, or as they happen.

use super::refusals;
use super::runs::id;
use crate::ask::{Ask, bad};
use crate::bounds::HEARTBEAT;
use crate::door::{Answered, Door, closed};
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use crate::view;
use abide_core::event::RunId;
use abide_engine::port::{Store as _, StoreError, Stored};
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::watch;

/// How many events are read at once for a stream.
const AT_ONCE: u64 = 256;

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    let (id, limit) = (id(ask)?, ask.limit()?);
    let after = ask.number("after")?.unwrap_or(0);
    let end = after.checked_add(1 + limit as u64).ok_or_else(|| bad("after", "is too great"))?;
    let events = house.driver().store().read(id.as_str(), after + 1..end).await;
    let events = events.map_err(|error| refusals::store(&error))?;
    let next = events.last().filter(|_| events.len() == limit).map(|last| last.seq.to_string());
    let items: Vec<Value> = events.iter().map(view::event).collect();
    Ok(Reply::done(&json!({ "items": items, "next": next })))
}

pub(super) async fn stream<H: House>(door: &Door<H>, ask: &Ask) -> Answered {
    let id = id(ask)?;
    let last = match ask.headers.get("last-event-id") {
        None => ask.number("after")?.unwrap_or(0),
        Some(text) => text
            .to_str()
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| Problem::new(Code::BadRequest, "`Last-Event-ID` is the id of an event"))?,
    };
    let head =
        door.house.driver().store().head(id.as_str()).await.map_err(|error| refusals::store(&error))?;
    let head = head.ok_or_else(|| Problem::new(Code::NotFound, format!("there is no run {id}")))?;
    if is_over(&view::head(&head)) && head.seq <= last {
        // Browsers and libraries take this for the end, and do not come back.
        return Ok(Reply::nothing());
    }
    let (sender, parts) = channel(16);
    let (house, closing) = (Arc::clone(&door.house), door.closing());
    tokio::spawn(async move {
        // Whatever ends it, the caller comes back with the last id that it has.
        let _ = tell(&*house, &id, last, &sender, closing).await;
    });
    Ok(Reply::stream("text/event-stream", parts))
}

/// Why a stream ends before its run does.
enum Ended {
    /// Nobody listens any more.
    Alone,
    /// The log does not answer.
    Unread,
}

impl From<StoreError> for Ended {
    fn from(_: StoreError) -> Self {
        Self::Unread
    }
}

async fn tell<H: House>(
    house: &H,
    id: &RunId,
    mut last: u64,
    sender: &Sender<Bytes>,
    mut closing: watch::Receiver<bool>,
) -> Result<(), Ended> {
    let store = house.driver().store();
    loop {
        let events = store.read(id.as_str(), last + 1..last.saturating_add(1 + AT_ONCE)).await?;
        for event in &events {
            send(sender, part(event)).await?;
            last = event.seq;
        }
        if events.len() as u64 == AT_ONCE {
            continue;
        }
        let Some(head) = store.head(id.as_str()).await? else { return Ok(()) };
        let row = view::head(&head);
        if head.seq <= last && is_over(&row) {
            let data = json!({ "run": id.as_str(), "status": row["status"] });
            return send(sender, format!("event: end\ndata: {data}\n\n")).await;
        }
        let mut changed = std::pin::pin!(store.changed(id.as_str(), last));
        loop {
            tokio::select! {
                done = &mut changed => {
                    done?;
                    break;
                }
                () = tokio::time::sleep(HEARTBEAT) => send(sender, ": still here\n\n".to_owned()).await?,
                () = sender.closed() => return Ok(()),
                () = closed(&mut closing) => return Ok(()),
            }
        }
    }
}

fn part(event: &Stored) -> String {
    format!("id: {}\nevent: {}\ndata: {}\n\n", event.seq, event.kind, view::event(event))
}

async fn send(sender: &Sender<Bytes>, text: String) -> Result<(), Ended> {
    sender.send(Bytes::from(text)).await.map_err(|_| Ended::Alone)
}

pub(super) fn is_over(head: &Value) -> bool {
    matches!(head["status"].as_str(), Some("completed" | "failed" | "cancelled" | "timed_out"))
}
