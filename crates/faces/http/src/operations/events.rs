//! The events of a run or a session: page by page, or as they happen.

use super::refusals;
use super::runs::id;
use super::sessions::find;
use crate::ask::{Ask, bad};
use crate::door::{Answered, Door, closed};
use crate::house::House;
use crate::hub::Piece;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use crate::standing::Guest;
use crate::view;
use abide_engine::port::{Store, StoreError, Stored, StreamHead};
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::{broadcast, watch};

/// How many events are read at once for a stream.
const AT_ONCE: u64 = 256;

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    page(house.driver().store(), id(ask)?.as_str(), ask).await
}

pub(super) async fn list_of_session<H: House>(house: &H, ask: &Ask) -> Answered {
    let session = find(house, ask).await?;
    match page(&**house.talks().store(), &session.id, ask).await {
        // Nothing was said in it yet.
        Err(problem) if problem.code() == Code::NotFound => {
            Ok(Reply::done(&json!({ "items": [], "next": null })))
        }
        page => page,
    }
}

async fn page<S: Store>(store: &S, stream: &str, ask: &Ask) -> Answered {
    let (limit, after) = (ask.limit()?, ask.number("after")?.unwrap_or(0));
    let end = after.checked_add(1 + limit as u64).ok_or_else(|| bad("after", "is too great"))?;
    let events = store.read(stream, after + 1..end).await.map_err(|error| refusals::store(&error))?;
    let next = events.last().filter(|_| events.len() == limit).map(|last| last.seq.to_string());
    let items: Vec<Value> = events.iter().map(view::event).collect();
    Ok(Reply::done(&json!({ "items": items, "next": next })))
}

/// Returns the last event that the caller knows.
fn last(ask: &Ask) -> Result<u64, Problem> {
    match ask.headers.get("last-event-id") {
        None => Ok(ask.number("after")?.unwrap_or(0)),
        Some(text) => text
            .to_str()
            .ok()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|text| text.parse().ok())
            // No store counts further.
            .filter(|last| i64::try_from(*last).is_ok())
            .ok_or_else(|| Problem::new(Code::BadRequest, "`Last-Event-ID` is the id of an event")),
    }
}

pub(super) async fn stream<H: House>(door: &Door<H>, ask: &Ask) -> Answered {
    let (id, last) = (id(ask)?, last(ask)?);
    let head =
        door.house.driver().store().head(id.as_str()).await.map_err(|error| refusals::store(&error))?;
    let head = head.ok_or_else(|| Problem::new(Code::NotFound, format!("there is no run {id}")))?;
    if is_over(&view::head(&head)) && head.seq <= last {
        // Browsers and libraries take this for the end, and do not come back.
        return Ok(Reply::nothing());
    }
    let room = door.rooms.stream(&ask.who)?;
    let (sender, parts) = channel(16);
    let (house, closing) = (Arc::clone(&door.house), door.closing());
    let listener = Listener { sender, guest: door.guest(ask), heartbeat: door.times.heartbeat };
    tokio::spawn(async move {
        let ends = |head: &StreamHead| {
            let row = view::head(head);
            is_over(&row).then(|| json!({ "run": head.stream, "status": row["status"] }))
        };
        let told = Told { stream: id.as_str(), last, pieces: None, listener: &listener, ends: &ends };
        // Whatever ends it, the caller comes back with the last id that it has.
        let _ = told.tell(house.driver().store(), closing).await;
    });
    Ok(Reply::stream("text/event-stream", parts, room))
}

pub(super) async fn stream_of_session<H: House>(door: &Door<H>, ask: &Ask) -> Answered {
    let (session, last) = (find(&*door.house, ask).await?, last(ask)?);
    let pieces = Some(door.house.hub().hear(&session.id));
    let room = door.rooms.stream(&ask.who)?;
    let (sender, parts) = channel(16);
    let (house, closing) = (Arc::clone(&door.house), door.closing());
    let listener = Listener { sender, guest: door.guest(ask), heartbeat: door.times.heartbeat };
    tokio::spawn(async move {
        // A session is never over: somebody may say something.
        let ends = |_: &StreamHead| None;
        let told = Told { stream: &session.id, last, pieces, listener: &listener, ends: &ends };
        let _ = told.tell(&**house.talks().store(), closing).await;
    });
    Ok(Reply::stream("text/event-stream", parts, room))
}

/// Why a stream ends before what it tells of does.
enum Ended {
    /// Nobody listens any more, or may.
    Alone,
    /// The log does not answer.
    Unread,
}

impl From<StoreError> for Ended {
    fn from(_: StoreError) -> Self {
        Self::Unread
    }
}

/// Whoever listens to a stream.
struct Listener<H> {
    sender: Sender<Bytes>,
    guest: Guest<H>,
    heartbeat: Duration,
}

impl<H: House> Listener<H> {
    async fn send(&self, text: String) -> Result<(), Ended> {
        // The key may have been revoked since it was let in.
        if !self.guest.may_stay().await {
            return Err(Ended::Alone);
        }
        self.sender.send(Bytes::from(text)).await.map_err(|_| Ended::Alone)
    }
}

/// A stream that is told to somebody.
struct Told<'a, H> {
    stream: &'a str,
    /// The last event that they know.
    last: u64,
    /// What is said between events.
    pieces: Option<broadcast::Receiver<Piece>>,
    listener: &'a Listener<H>,
    /// Says what is told last, if the stream is over.
    ends: &'a (dyn Fn(&StreamHead) -> Option<Value> + Send + Sync),
}

impl<H: House> Told<'_, H> {
    async fn tell<S: Store>(mut self, store: &S, mut closing: watch::Receiver<bool>) -> Result<(), Ended> {
        let mut early: Option<Piece> = None;
        loop {
            let upto = self.last.saturating_add(1 + AT_ONCE);
            let events = match store.read(self.stream, self.last + 1..upto).await {
                // A session in which nothing was said.
                Err(StoreError::Unknown(_)) if self.last == 0 && self.pieces.is_some() => Vec::new(),
                events => events?,
            };
            for event in &events {
                self.send(part(event)).await?;
                self.last = event.seq;
            }
            if events.len() as u64 == AT_ONCE {
                continue;
            }
            if let Some(head) = store.head(self.stream).await?
                && head.seq <= self.last
                && let Some(data) = (self.ends)(&head)
            {
                return self.send(format!("event: end\ndata: {data}\n\n")).await;
            }
            if let Some(piece) = early.take() {
                self.say(&piece).await?;
            }
            early = match self.wait(store, &mut closing).await? {
                Waited::Changed => None,
                Waited::Early(piece) => Some(piece),
                Waited::Over => return Ok(()),
            };
        }
    }

    /// Waits until there is more to read, and says meanwhile what is said.
    async fn wait<S: Store>(
        &mut self,
        store: &S,
        closing: &mut watch::Receiver<bool>,
    ) -> Result<Waited, Ended> {
        let mut changed = std::pin::pin!(store.changed(self.stream, self.last));
        loop {
            tokio::select! {
                done = &mut changed => {
                    done?;
                    return self.said_before().await;
                }
                piece = next(&mut self.pieces) => {
                    if piece.after > self.last {
                        return Ok(Waited::Early(piece));
                    }
                    self.say(&piece).await?;
                }
                () = tokio::time::sleep(self.listener.heartbeat) => self.send(": still here\n\n".to_owned()).await?,
                () = self.listener.sender.closed() => return Ok(Waited::Over),
                () = closed(closing) => return Ok(Waited::Over),
            }
        }
    }

    /// Says what was said before the event that is read next.
    async fn said_before(&mut self) -> Result<Waited, Ended> {
        while let Some(Ok(piece)) = self.pieces.as_mut().map(broadcast::Receiver::try_recv) {
            if piece.after > self.last {
                return Ok(Waited::Early(piece));
            }
            self.say(&piece).await?;
        }
        Ok(Waited::Changed)
    }

    /// Says a piece, unless what it belongs to has been told as a whole.
    async fn say(&self, piece: &Piece) -> Result<(), Ended> {
        if piece.after != self.last {
            return Ok(());
        }
        let text = match &piece.text {
            Some(text) => {
                let data = json!({ "after": piece.after, "at": piece.at, "text": text });
                format!("event: delta\ndata: {data}\n\n")
            }
            None => format!("event: again\ndata: {}\n\n", json!({ "after": piece.after })),
        };
        self.send(text).await
    }

    async fn send(&self, text: String) -> Result<(), Ended> {
        self.listener.send(text).await
    }
}

/// What was waited for.
enum Waited {
    /// There may be more to read.
    Changed,
    /// A piece came before the event that it follows was told.
    Early(Piece),
    /// Nobody listens any more, or the server ends.
    Over,
}

/// Waits for the next piece; whoever was slow misses some.
async fn next(pieces: &mut Option<broadcast::Receiver<Piece>>) -> Piece {
    loop {
        match pieces {
            None => std::future::pending().await,
            Some(heard) => match heard.recv().await {
                Ok(piece) => return piece,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => *pieces = None,
            },
        }
    }
}

fn part(event: &Stored) -> String {
    format!("id: {}\nevent: {}\ndata: {}\n\n", event.seq, event.kind, view::event(event))
}

pub(super) fn is_over(head: &Value) -> bool {
    matches!(head["status"].as_str(), Some("completed" | "failed" | "cancelled" | "timed_out"))
}
