//! What humans are asked, by runs and by agents of sessions, and their answers; the name of the key is the name in the log.

use super::refusals;
use super::runs::{id, loaded, place};
use crate::ask::{Ask, text, wrong};
use crate::door::Answered;
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use crate::view;
use abide_core::event::{RunId, StepKey, Timestamp};
use abide_core::run::{Command, Run};
use abide_engine::keys::UNSIGNED;
use abide_engine::port::{CallAnswer, QuestionsError, Store as _};
use abide_engine::service::{self, Open};
use serde_json::{Value, json};
use std::sync::Arc;

/// How many runs are looked at for one page, and how many of them are read.
const LOOKED_AT: usize = 2_000;
const READ: usize = 200;

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    let limit = ask.limit()?;
    let mut place = ask.query("after").map(place).transpose()?;
    // Calls of sessions wait for a minute at most: they come first, however many there are.
    let calls = if place.is_none() { house.inbox().open().await.map_err(unreached)? } else { Vec::new() };
    let mut items: Vec<Value> = calls.iter().map(view::tool_approval).collect();
    let (limit, mut looked_at, mut read) = (limit + items.len(), 0, 0);
    let next = 'pages: loop {
        let page = house.driver().store().heads(place.as_ref(), 100).await;
        let page = page.map_err(|error| refusals::store(&error))?;
        let ended = page.len() < 100;
        for head in page {
            // A run's questions stay together, so a page may be a little longer than it should.
            if items.len() >= limit || looked_at >= LOOKED_AT || read >= READ {
                break 'pages place.map(|place| format!("{}~{}", place.changed_at, place.stream));
            }
            looked_at += 1;
            place = Some(head.place());
            let row = view::head(&head);
            let over =
                matches!(row["status"].as_str(), Some("completed" | "failed" | "cancelled" | "timed_out"));
            if let (false, Some(id)) = (over, RunId::parse(&head.stream)) {
                read += 1;
                items.extend(asked(&loaded(house, &id).await?));
            }
        }
        if ended {
            break None;
        }
    };
    Ok(Reply::done(&json!({ "items": items, "next": next })))
}

/// Returns what a run asks a human.
fn asked(run: &Run) -> Vec<Value> {
    let shown = |open: &Open| match open {
        Open::Plan => view::approval(run, None),
        Open::Question(key, question) => view::approval(run, Some((key, question))),
    };
    service::open(run).iter().map(shown).collect()
}

pub(super) async fn answer<H: House>(house: &Arc<H>, ask: &Ask) -> Answered {
    if house.inbox().knows(ask.part(0)).await.map_err(unreached)? {
        return answer_call(&**house, ask).await;
    }
    let id = id(ask)?;
    let mut body = ask.object(&["step", "answer", "comment"])?;
    let step = text(&mut body, "step", 512)?;
    let answer = text(&mut body, "answer", 512)?.ok_or_else(|| wrong("answer", "is missing"))?;
    let comment = text(&mut body, "comment", 16 * 1024)?;
    let run = loaded(&**house, &id).await?;
    let by = ask.who.name();
    let command = match step {
        None => {
            let approved = match answer.as_str() {
                "approved" => true,
                "rejected" => false,
                _ => return Err(wrong("answer", "to a plan is approved or rejected")),
            };
            Command::AnswerPlan { by: by.into(), approved, comment }
        }
        Some(step) => {
            let key = StepKey::parse(&step).ok_or_else(|| wrong("step", "is not a step"))?;
            check_starter(&run, &key)?;
            Command::Answer {
                key,
                answer: answer.into(),
                by: by.into(),
                comment,
                now: Timestamp(house.now()),
            }
        }
    };
    let run =
        service::command(house.driver(), &id, command).await.map_err(|error| refusals::service(&error))?;
    let (id, status) = (id.as_str(), run.status().word());
    Ok(Reply::done(&json!({ "id": id, "run": id, "status": status, "by": by })))
}

/// Answers whether an agent may call a tool.
async fn answer_call<H: House>(house: &H, ask: &Ask) -> Answered {
    let mut body = ask.object(&["step", "answer", "comment"])?;
    if text(&mut body, "step", 512)?.is_some() {
        return Err(wrong("step", "is of a run, and this is a call of a session"));
    }
    let answer = text(&mut body, "answer", 512)?.ok_or_else(|| wrong("answer", "is missing"))?;
    let (why, by) = (text(&mut body, "comment", 16 * 1024)?, ask.who.name().to_owned());
    let approved = match answer.as_str() {
        "approved" => true,
        "rejected" => false,
        _ => return Err(wrong("answer", "to a call is approved or rejected")),
    };
    let said = CallAnswer { by: by.clone(), approved, why };
    if !house.inbox().answer(ask.part(0), said).await.map_err(unreached)? {
        return Err(Problem::new(Code::Refused, "nobody waits for this answer any more"));
    }
    Ok(Reply::done(&json!({ "id": ask.part(0), "run": null, "status": answer, "by": by })))
}

fn unreached(_: QuestionsError) -> Problem {
    Problem::new(Code::Unavailable, "what agents ask cannot be reached")
}

/// Refuses an answer where two people are needed and nobody knows who the first one was.
///
/// Whoever starts a run does not approve it where approvers are named; one who started it without a key, and then approves it with
/// one, would have been both.
fn check_starter(run: &Run, key: &StepKey) -> Result<(), Problem> {
    let question = run.questions().into_iter().find(|(known, _)| known == key);
    let needs_two = question.is_some_and(|(_, question)| !question.approvers.is_empty());
    if needs_two && *run.created.by == *UNSIGNED {
        return Err(Problem::new(
            Code::NotYours,
            format!("`{key}` names its approvers, and nobody knows who started the run: it was started without a key"),
        )
        .help("start the run with a key"));
    }
    Ok(())
}
