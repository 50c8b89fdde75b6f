//! Sessions of agents: made, called something, and removed with all that belongs to them.

use super::refusals;
use crate::ask::{Ask, id_after, text, wrong};
use crate::door::Answered;
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use crate::view;
use abide_engine::audit;
use abide_engine::keys::Scope;
use abide_engine::port::{AgentStatus, SessionId, SessionRow, Store as _, StoreError};
use http::StatusCode;
use serde_json::{Value, json};
use std::time::Duration;
use uuid::Uuid;

/// The longest title, in bytes.
pub(crate) const LONGEST_TITLE: usize = 200;
/// How long a turn has to end when its session is removed.
const GOING: Duration = Duration::from_secs(5);

pub(super) async fn create_of<H: House>(house: &H, ask: &Ask) -> Answered {
    let mut body = ask.object(&["title"])?;
    let title = text(&mut body, "title", LONGEST_TITLE)?;
    let agent = ask.part(0).to_owned();
    let missing = Problem::new(Code::NotFound, format!("there is no agent {agent}"));
    made(house, ask, (agent, title), missing).await
}

pub(super) async fn create<H: House>(house: &H, ask: &Ask) -> Answered {
    let mut body = ask.object(&["agent", "title"])?;
    let title = text(&mut body, "title", LONGEST_TITLE)?;
    let agent = text(&mut body, "agent", LONGEST_TITLE)?.ok_or_else(|| wrong("agent", "is missing"))?;
    let missing = Problem::new(Code::Invalid, format!("there is no agent `{agent}`"));
    made(house, ask, (agent, title), missing).await
}

async fn made<H: House>(
    house: &H,
    ask: &Ask,
    (agent, title): (String, Option<String>),
    missing: Problem,
) -> Answered {
    let found = house.agents().find(&agent).await;
    let found = found.map_err(|_| Problem::new(Code::Unavailable, "the agents cannot be reached"))?;
    match found.map(|agent| agent.status) {
        None => return Err(missing),
        Some(AgentStatus::Archived) => {
            return Err(Problem::new(Code::Refused, format!("the agent {agent} is archived")));
        }
        Some(AgentStatus::Active) => {}
    }
    let now = house.now();
    let session = SessionRow {
        id: Uuid::now_v7().to_string(),
        agent,
        title,
        by: ask.who.name().to_owned(),
        created_at: now,
        updated_at: now,
    };
    audit::about(&session.id);
    house.sessions().add(session.clone()).await.map_err(|error| refusals::sessions(&error))?;
    Ok(Reply::json(StatusCode::CREATED, &to_json(&session)))
}

pub(super) async fn list_of<H: House>(house: &H, ask: &Ask) -> Answered {
    let found = house.agents().find(ask.part(0)).await;
    let found = found.map_err(|_| Problem::new(Code::Unavailable, "the agents cannot be reached"))?;
    if found.is_none() {
        return Err(Problem::new(Code::NotFound, format!("there is no agent {}", ask.part(0))));
    }
    page(house, ask, Some(ask.part(0))).await
}

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    page(house, ask, ask.query("agent")).await
}

async fn page<H: House>(house: &H, ask: &Ask, agent: Option<&str>) -> Answered {
    let (limit, after) = (ask.limit()?, id_after(ask)?);
    let page = house.sessions().list(after.as_deref(), agent, limit + 1).await;
    let mut page = page.map_err(|error| refusals::sessions(&error))?;
    let more = page.len() > limit;
    page.truncate(limit);
    let next = page.last().filter(|_| more).map(|last| last.id.clone());
    let items: Vec<Value> = page.iter().map(to_json).collect();
    Ok(Reply::done(&json!({ "items": items, "next": next })))
}

/// Finds the session that a path names.
pub(super) async fn find<H: House>(house: &H, ask: &Ask) -> Result<SessionRow, Problem> {
    let id = ask.part(0);
    let found = house.sessions().find(id).await.map_err(|error| refusals::sessions(&error))?;
    found.ok_or_else(|| Problem::new(Code::NotFound, format!("there is no session {id}")))
}

/// Returns the message whose turn is under way in a session.
pub(super) async fn under_way<H: House>(house: &H, session: &str) -> Result<Option<String>, Problem> {
    Ok(stands(house, session).await?.0)
}

/// Returns the message whose turn is under way in a session, and how many events it has.
async fn stands<H: House>(house: &H, session: &str) -> Result<(Option<String>, u64), Problem> {
    let head = house.talks().store().head(session).await.map_err(|error| refusals::store(&error))?;
    // A session in which nothing was said has no log.
    let Some(head) = head else { return Ok((None, 0)) };
    Ok((view::head(&head)["turn"].as_str().map(str::to_owned), head.seq))
}

pub(super) async fn show<H: House>(house: &H, ask: &Ask) -> Answered {
    let session = find(house, ask).await?;
    let open = house.messages().open(&session.id).await.map_err(|error| refusals::messages(&error))?;
    let (turn, events) = stands(house, &session.id).await?;
    let mut shown = to_json(&session);
    shown["status"] = Value::from(if open.is_empty() { "idle" } else { "active" });
    shown["turn"] = json!(turn);
    shown["open"] = Value::from(open.len());
    shown["events"] = Value::from(events);
    Ok(Reply::done(&shown))
}

pub(super) async fn patch<H: House>(house: &H, ask: &Ask) -> Answered {
    let session = find(house, ask).await?;
    let mut body = ask.object(&["title"])?;
    if !body.contains_key("title") {
        return Ok(Reply::done(&to_json(&session)));
    }
    let title = text(&mut body, "title", LONGEST_TITLE)?;
    let called = house.sessions().retitle(&session.id, title, house.now()).await;
    let called = called.map_err(|error| refusals::sessions(&error))?;
    let called =
        called.ok_or_else(|| Problem::new(Code::NotFound, format!("there is no session {}", session.id)))?;
    Ok(Reply::done(&to_json(&called)))
}

pub(super) async fn delete<H: House>(house: &H, ask: &Ask) -> Answered {
    let session = find(house, ask).await?;
    if session.by != ask.who.name() && !ask.who.may(Scope::Approve) {
        return Err(Problem::new(
            Code::NotYours,
            "to remove a session that somebody else made needs a key with the scope `approve`",
        ));
    }
    let removed = house.sessions().remove(&session.id).await.map_err(|error| refusals::sessions(&error))?;
    if !removed {
        return Err(Problem::new(Code::NotFound, format!("there is no session {}", session.id)));
    }
    // Whoever drives it hears of it; what still goes wrong is done again at the next start.
    let _ = forgotten(house, &session.id).await;
    Ok(Reply::done(&to_json(&session)))
}

/// Forgets what belongs to sessions that were removed, as far as a crash has left something.
pub(crate) async fn forget_removed<H: House>(house: &H) {
    while let Ok(removed) = house.sessions().removed(100).await {
        let mut gone = 0;
        for id in &removed {
            gone += usize::from(forgotten(house, id).await.is_ok());
        }
        if gone == 0 {
            return;
        }
    }
}

/// Forgets the log, the files and the row of a session that was removed, when its turn has ended.
async fn forgotten<H: House>(house: &H, id: &str) -> Result<(), Problem> {
    let ended = async {
        while house.talks().drives(id) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let _ = tokio::time::timeout(GOING, ended).await;
    if let Some(session) = SessionId::parse(id) {
        let files = house.files().forget(&session).await;
        files.map_err(|error| Problem::new(Code::Unavailable, error.to_string()))?;
    }
    match house.talks().store().forget(id).await {
        Ok(()) | Err(StoreError::Unknown(_)) => {}
        Err(error) => return Err(refusals::store(&error)),
    }
    house.sessions().forget(id).await.map_err(|error| refusals::sessions(&error))
}

fn to_json(session: &SessionRow) -> Value {
    json!({
        "id": session.id,
        "agent": session.agent,
        "title": session.title,
        "by": session.by,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
    })
}
