//! What is said to sessions: taken at once, told in turn, and never lost once it is taken.

use super::refusals;
use super::runs::{once, replayed, reused};
use super::sessions::{find, under_way};
use crate::ask::{Ask, text, wrong};
use crate::door::Answered;
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use abide_engine::port::{MOST_WAITING, MessageRow, NewMessage, Posted, WhenBusy};
use abide_engine::talk::Patience;
use http::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

/// The longest message, in bytes.
pub(crate) const LONGEST_MESSAGE: usize = 512 * 1024;

pub(super) async fn post<H: House>(house: &H, ask: &Ask) -> Answered {
    let mut body = ask.object(&["text", "when_busy"])?;
    let said = text(&mut body, "text", LONGEST_MESSAGE)?.filter(|said| !said.is_empty());
    let said = said.ok_or_else(|| wrong("text", "is missing or empty"))?;
    let when_busy = match text(&mut body, "when_busy", 16)? {
        None => WhenBusy::Queue,
        Some(word) => {
            WhenBusy::parse(&word).ok_or_else(|| wrong("when_busy", "is queue, interrupt or refuse"))?
        }
    };
    let new = NewMessage {
        id: Uuid::now_v7().to_string(),
        session: ask.part(0).to_owned(),
        text: said,
        by: ask.who.name().to_owned(),
        when_busy,
        once: once(ask)?,
        at: house.now(),
    };
    let (session, said) = (new.session.clone(), new.text.clone());
    match house.messages().post(new).await.map_err(|error| refusals::messages(&error))? {
        Posted::New(message) => {
            house.talks().drive(&session, Patience::Wait);
            Ok(Reply::json(StatusCode::ACCEPTED, &to_json(&message, None)))
        }
        Posted::Known(message) if message.text != said || message.when_busy != when_busy => Err(reused()),
        Posted::Known(message) => {
            let turn = under_way(house, &session).await?;
            Ok(replayed(Reply::json(StatusCode::ACCEPTED, &to_json(&message, turn.as_deref()))))
        }
        Posted::Busy => Err(Problem::new(
            Code::Refused,
            format!("a turn of session {session} is not over, and the message was not to wait"),
        )),
        Posted::Full => Err(Problem::new(
            Code::Refused,
            format!("{MOST_WAITING} messages of session {session} wait already"),
        )),
        Posted::NoSession => Err(Problem::new(Code::NotFound, format!("there is no session {session}"))),
    }
}

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    let session = find(house, ask).await?;
    let (limit, after) = (ask.limit()?, ask.number("after")?.unwrap_or(0));
    let page = house.messages().list(&session.id, after, limit + 1).await;
    let mut page = page.map_err(|error| refusals::messages(&error))?;
    let more = page.len() > limit;
    page.truncate(limit);
    let next = page.last().filter(|_| more).map(|last| last.number.to_string());
    let turn = under_way(house, &session.id).await?;
    let items: Vec<Value> = page.iter().map(|message| to_json(message, turn.as_deref())).collect();
    Ok(Reply::done(&json!({ "items": items, "next": next })))
}

pub(super) async fn show<H: House>(house: &H, ask: &Ask) -> Answered {
    let session = find(house, ask).await?;
    let found = house.messages().find(&session.id, ask.part(1)).await;
    let found = found.map_err(|error| refusals::messages(&error))?;
    let missing =
        || Problem::new(Code::NotFound, format!("session {} has no message {}", session.id, ask.part(1)));
    let turn = under_way(house, &session.id).await?;
    Ok(Reply::done(&to_json(&found.ok_or_else(missing)?, turn.as_deref())))
}

pub(super) async fn cancel<H: House>(house: &H, ask: &Ask) -> Answered {
    let session = find(house, ask).await?;
    let mut body = ask.object(&["queued"])?;
    let all = match body.remove("queued") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(all)) => all,
        Some(_) => return Err(wrong("queued", "is true or false")),
    };
    let cancelled = house.messages().cancel(&session.id, ask.who.name(), all).await;
    let cancelled = cancelled.map_err(|error| refusals::messages(&error))?;
    // Whoever drives it hears of it; if nobody does, nobody would bring it to its end.
    house.talks().drive(&session.id, Patience::Wait);
    let turn = under_way(house, &session.id).await?;
    let items: Vec<Value> = cancelled.iter().map(|message| to_json(message, turn.as_deref())).collect();
    Ok(Reply::done(&json!({ "items": items })))
}

/// Returns a message; `turn` is the one that is under way in its session.
fn to_json(message: &MessageRow, turn: Option<&str>) -> Value {
    let status = match &message.end {
        Some(end) => end.status.as_str(),
        None if turn == Some(&*message.id) => "running",
        None => "queued",
    };
    let end = message.end.as_ref();
    json!({
        "id": message.id,
        "session": message.session,
        "number": message.number,
        "text": message.text,
        "by": message.by,
        "when_busy": message.when_busy.word(),
        "created_at": message.created_at,
        "turn": {
            "status": status,
            "answer": end.map(|end| end.answer.as_str()),
            "error": end.and_then(|end| end.error.as_deref()),
            "cancelled_by": message.cancelled_by,
            "ended_at": end.map(|end| end.at),
        },
    })
}
