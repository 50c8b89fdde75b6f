//! Runs: started once, listed, shown, ended and gone on with, through the engine's service.

use super::abilities::{LONGEST_NAME, LONGEST_TEXT, inputs};
use super::refusals;
use crate::ask::{Ask, bad, text, wrong};
use crate::door::Answered;
use crate::fleet;
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use crate::view;
use crate::who::Who;
use abide_core::event::{LossDecision, RunId, TraceParent};
use abide_core::run::{Command, Run};
use abide_engine::keys::Scope;
use abide_engine::port::{HeadPlace, NewStart, Noted, Store as _, StoreError};
use abide_engine::service::{self, Prepared, ServiceError, Start};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// The longest name that a caller gives to a request.
pub(crate) const LONGEST_ONCE: usize = 200;
/// How many runs are looked at for one page; a filter that fits few of them gives shorter pages.
const LOOKED_AT: usize = 2_000;

/// Finds the run that a path names.
pub(super) fn id(ask: &Ask) -> Result<RunId, Problem> {
    let missing = || Problem::new(Code::NotFound, format!("there is no run {}", ask.part(0)));
    RunId::parse(ask.part(0)).ok_or_else(missing)
}

pub(super) async fn loaded<H: House>(house: &H, id: &RunId) -> Result<Run, Problem> {
    let loaded = abide_engine::load(house.driver().store(), id).await;
    loaded.map(|loaded| loaded.run).map_err(|error| refusals::load(&error))
}

pub(super) async fn start<H: House>(house: &Arc<H>, ask: &Ask) -> Answered {
    let mut body = ask.object(&["ability", "inputs", "input"])?;
    let ability = text(&mut body, "ability", LONGEST_NAME)?.ok_or_else(|| wrong("ability", "is missing"))?;
    let inputs = inputs(&mut body, "inputs")?;
    let input = text(&mut body, "input", LONGEST_TEXT)?.unwrap_or_default();
    let once = once(ask)?;
    let start = Start {
        ability,
        inputs,
        input,
        by: ask.who.name().into(),
        session: None,
        parent: None,
        depth: 0,
        id: None,
        trace: trace(ask),
    };
    let mut prepared = prepare(house, start).await?;
    let noted = NewStart {
        run: prepared.run.id.to_string(),
        owner: ask.who.name().to_owned(),
        once,
        digest: digest(&prepared),
        at: house.now(),
    };
    let digest = noted.digest.clone();
    let again = match house.starts().note(noted).await.map_err(|error| refusals::starts(&error))? {
        Noted::New => false,
        Noted::Known { digest: known, .. } if known != digest => {
            return Err(reused());
        }
        Noted::Known { run, .. } => {
            // If its start was cut short, it begins now, under the same id: there is never a second one.
            prepared.run.id = RunId::parse(&run)
                .ok_or_else(|| Problem::new(Code::Internal, format!("the start of `{run}` is damaged")))?;
            true
        }
    };
    let id = prepared.run.id.clone();
    let there = again && head(&**house, &id).await?.is_some();
    if !there {
        match service::begin(house.driver(), prepared).await {
            Ok(_) => fleet::drive(house, id.clone(), None, String::new()),
            // The same request, at the same time: whoever began the run drives it, and has its secrets.
            Err(ServiceError::Store(StoreError::Conflict { .. })) => {}
            // Nothing was written: whoever asks again begins it, and the next start of a server forgets it.
            Err(error) => return Err(refusals::service(&error)),
        }
    }
    let head = head(&**house, &id).await?;
    let head = head.ok_or_else(|| Problem::new(Code::NotFound, format!("run {id} was forgotten")))?;
    let reply = Reply::json(StatusCode::CREATED, &head);
    Ok(if again { replayed(reply) } else { reply })
}

/// Says that an answer is about a request that was sent before.
pub(super) fn replayed(reply: Reply) -> Reply {
    reply.header(HeaderName::from_static("idempotency-replayed"), HeaderValue::from_static("true"))
}

/// Says that a request is not the one that was sent with the same name before.
pub(super) fn reused() -> Problem {
    Problem::new(Code::Reused, "this `Idempotency-Key` was sent with another request")
}

/// Checks everything that a start needs, away from what answers requests: it reads the disk.
async fn prepare<H: House>(house: &Arc<H>, start: Start) -> Result<Prepared, Problem> {
    let house = Arc::clone(house);
    let prepared = tokio::task::spawn_blocking(move || service::prepare_for(house.driver(), start)).await;
    let prepared = prepared.map_err(|_| Problem::new(Code::Internal, "the ability could not be prepared"))?;
    prepared.map_err(|error| refusals::service(&error))
}

/// Returns what the caller calls this request.
pub(super) fn once(ask: &Ask) -> Result<Option<String>, Problem> {
    let Some(value) = ask.headers.get("idempotency-key") else { return Ok(None) };
    match value.to_str() {
        Ok(text) if (1..=LONGEST_ONCE).contains(&text.len()) => Ok(Some(text.to_owned())),
        _ => Err(Problem::new(
            Code::BadRequest,
            format!("an `Idempotency-Key` has 1 to {LONGEST_ONCE} visible characters"),
        )),
    }
}

/// Returns the caller's span, if there is one; what cannot be read is left out, as the standard asks.
fn trace(ask: &Ask) -> Option<TraceParent> {
    TraceParent::parse(ask.headers.get("traceparent")?.to_str().ok()?)
}

/// Returns what stands for a request; secrets are masked in it.
fn digest(prepared: &Prepared) -> String {
    let created = &prepared.run.created;
    let inputs: Vec<Value> = created
        .inputs
        .iter()
        .map(|(name, value)| json!([name.as_str(), abide_formats::json::to_json(value)]))
        .collect();
    let text = json!([created.name.as_str(), inputs, created.input]).to_string();
    Sha256::digest(text).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

async fn head<H: House>(house: &H, id: &RunId) -> Result<Option<Value>, Problem> {
    let head = house.driver().store().head(id.as_str()).await.map_err(|error| refusals::store(&error))?;
    Ok(head.as_ref().map(view::head))
}

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    let limit = ask.limit()?;
    let mut place = ask.query("after").map(place).transpose()?;
    let fits = |head: &Value| {
        ["status", "ability", "by"]
            .iter()
            .all(|name| ask.query(name).is_none_or(|wanted| head[*name].as_str() == Some(wanted)))
    };
    let (mut items, mut looked_at) = (Vec::new(), 0);
    let next = loop {
        let most = (limit - items.len()).max(50).min(LOOKED_AT - looked_at);
        let page = house.driver().store().heads(place.as_ref(), most).await;
        let page = page.map_err(|error| refusals::store(&error))?;
        let ended = page.len() < most;
        for head in page {
            looked_at += 1;
            place = Some(head.place());
            let row = view::head(&head);
            if fits(&row) {
                items.push(row);
            }
            if items.len() == limit {
                break;
            }
        }
        if items.len() == limit || looked_at >= LOOKED_AT {
            break place.map(|place| format!("{}~{}", place.changed_at, place.stream));
        }
        if ended {
            break None;
        }
    };
    Ok(Reply::done(&json!({ "items": items, "next": next })))
}

pub(super) fn place(text: &str) -> Result<HeadPlace, Problem> {
    let read = text.split_once('~').and_then(|(at, stream)| Some((at.parse().ok()?, stream)));
    let (changed_at, stream) = read.ok_or_else(|| bad("after", "is not the `next` of a page"))?;
    Ok(HeadPlace { changed_at, stream: stream.to_owned() })
}

pub(super) async fn show<H: House>(house: &H, ask: &Ask) -> Answered {
    shown(house, &id(ask)?).await
}

async fn shown<H: House>(house: &H, id: &RunId) -> Answered {
    let family = service::family(house.driver().store(), id).await.map_err(|error| refusals::load(&error))?;
    // A family begins with the run itself.
    let first =
        family.first().ok_or_else(|| Problem::new(Code::NotFound, format!("there is no run {id}")))?;
    Ok(Reply::done(&view::family(&family, first)))
}

pub(super) async fn cancel<H: House>(house: &Arc<H>, ask: &Ask) -> Answered {
    let id = id(ask)?;
    let mut body = ask.object(&["reason"])?;
    let reason = text(&mut body, "reason", 4_096)?;
    let run = loaded(&**house, &id).await?;
    // To end a run is a human's right: whoever has no key could be the agent that it holds.
    let own = matches!(&ask.who, Who::Key(key) if *key.name == *run.created.by);
    if !own && !ask.who.may(Scope::Approve) {
        return Err(Problem::new(
            Code::NotYours,
            "to end a run that somebody else started needs a key with the scope `approve`",
        ));
    }
    let command = Command::Cancel { by: ask.who.name().into(), reason };
    service::command(house.driver(), &id, command).await.map_err(|error| refusals::service(&error))?;
    // If nobody drives it, nobody would bring it to its end.
    fleet::drive(house, id.clone(), None, String::new());
    shown(&**house, &id).await
}

pub(super) async fn resume<H: House>(house: &Arc<H>, ask: &Ask) -> Answered {
    let id = id(ask)?;
    let mut body = ask.object(&["decision", "inputs"])?;
    let given = inputs(&mut body, "inputs")?;
    let decision = match text(&mut body, "decision", 16)?.as_deref() {
        None => None,
        Some("rerun") => Some(LossDecision::Rerun),
        Some("fail") => Some(LossDecision::Fail),
        Some(_) => return Err(wrong("decision", "is rerun or fail")),
    };
    if decision.is_some() && !ask.who.may(Scope::Approve) {
        return Err(Problem::new(
            Code::NotYours,
            "to decide about a step that was cut short needs a key with the scope `approve`",
        ));
    }
    let run = loaded(&**house, &id).await?;
    if run.is_finished() {
        return Err(Problem::new(Code::Refused, format!("run {id} is over: it is {}", run.status().word())));
    }
    if let Some((parent, step)) = &run.created.parent {
        return Err(Problem::new(
            Code::Refused,
            format!("run {id} belongs to `{step}` of {parent}: resume that one"),
        ));
    }
    if run.created.session.is_some() {
        return Err(Problem::new(Code::Refused, format!("run {id} goes on in the session of its agent")));
    }
    if house.fleet().drives(&id) {
        return shown(&**house, &id).await;
    }
    // Values that this server still holds need not be given again.
    if !given.is_empty() || house.driver().secrets_of(&id).is_empty() {
        let secrets = service::secrets_again(&run, &given).map_err(|error| refusals::service(&error))?;
        house.driver().give_secrets(&id, secrets);
    }
    service::can_go_on(house.driver(), &run).map_err(|error| refusals::service(&error))?;
    if let Some(head) =
        house.driver().store().head(id.as_str()).await.map_err(|error| refusals::store(&error))?
    {
        house.not_before(head.changed_at);
    }
    fleet::drive(house, id.clone(), decision, ask.who.name().to_owned());
    shown(&**house, &id).await
}
