//! `abide audit show [RUN]`, `abide audit verify [RUN]`, `abide audit changes` and `abide audit gate`

use crate::args::{AuditArguments, AuditCommand, DatabaseArguments};
use crate::gate::{gate, try_to_take_verdicts};
use crate::house::Stores;
use crate::runs;
use crate::session::Session;
use crate::ui::json::from_value;
use crate::ui::moment::moment;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_core::event::{Event, NotedVerdict, RunId, Timestamp};
use abide_engine::port::{
    AuditDamage, NO_HASH, Store as _, StoreError, Stored, StreamHead, verify as verify_chain, verify_audit,
};
use abide_engine::{LoadError, verify as verify_run};
use abide_store_sqlite::SqliteStore;
use serde_json::json;
use std::fmt::Write as _;

pub(crate) fn audit(session: &mut Session<'_>, arguments: &AuditArguments) -> Result<Exit, Failure> {
    if let AuditCommand::Gate { all, limit } = &arguments.command {
        return gate_journal(session, *all, *limit);
    }
    if let AuditCommand::Changes { database } = &arguments.command {
        return changes(session, database);
    }
    let Some(store) = runs::find_store(session)? else {
        return Err(
            Failure::new(Exit::NotFound, "no run was ever started here").help("`abide run NAME` starts one")
        );
    };
    runs::block_on(async {
        match &arguments.command {
            AuditCommand::Show { run } => {
                let id = runs::find_run(&store, run.as_deref(), runs::Wanted::Any).await?;
                try_to_take_verdicts(session.surroundings, &store, &id).await;
                show(session, &store, &id).await
            }
            AuditCommand::Verify { run } => verify(session, &store, run.as_deref()).await,
            // These need no log, and were answered above.
            AuditCommand::Gate { .. } | AuditCommand::Changes { .. } => Ok(Exit::Done),
        }
    })?
}

/// Prints what the gate answered to sessions without a run.
fn gate_journal(session: &mut Session<'_>, all: bool, limit: usize) -> Result<Exit, Failure> {
    let Some(gate) = gate(session.surroundings) else {
        return Err(Failure::new(Exit::System, "there is no home folder to look in: set HOME"));
    };
    let mut notes = gate.noted_outside().map_err(|error| Failure::new(Exit::System, error.to_string()))?;
    let root = session.place.root().display().to_string();
    notes.retain(|note| all || note.project == root);
    let skipped = notes.len().saturating_sub(limit);
    if notes.is_empty() && !session.json {
        session.say(
            "the gate denied nothing here outside of runs; `abide audit show` tells of those in a run\n",
        )?;
    }
    for note in &notes[skipped..] {
        let line = if session.json {
            // Texts and numbers always serialise.
            serde_json::to_string(note).unwrap_or_default()
        } else {
            let about = note.given().map(|given| given.to_string()).unwrap_or_default();
            let project = if all { format!("  {}", note.project) } else { String::new() };
            let text = format!("{} {}{project}  {about}", note.client, note.session);
            format!("{}  {}", moment(Timestamp(note.at)), visible(&text, true))
        };
        session.print(&format!("{line}\n"))?;
    }
    Ok(Exit::Done)
}

/// Prints what was changed, if the chain of its hashes holds; with `--json` one document per line.
fn changes(session: &mut Session<'_>, database: &DatabaseArguments) -> Result<Exit, Failure> {
    let unread = |error: &dyn std::fmt::Display| Failure::new(Exit::System, error.to_string());
    runs::block_on(async {
        let audit = Stores::keys(session, database.database.as_deref())?.1;
        let count = verify_audit(&*audit).await.map_err(|error| match error {
            AuditDamage::Unread(error) => unread(&error),
            AuditDamage::Damaged(error) => Failure::new(Exit::Problems, error.to_string())
                .help("somebody has changed it behind the back of abide: compare it with a backup"),
        })?;
        let mut after = 0;
        while after < count {
            let page = audit.list(after, usize::try_from(PAGE).unwrap_or(usize::MAX)).await;
            let page = page.map_err(|error| unread(&error))?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for stored in &page {
                let row = abide_http::audit_row(stored);
                let line = if session.json {
                    row.to_string()
                } else {
                    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
                    let about =
                        format!("{}  {} {}  {}", text("by"), text("action"), text("subject"), row["detail"]);
                    format!("{:>4}  {}  {}", stored.seq, moment(Timestamp(stored.at)), visible(&about, true))
                };
                session.print(&format!("{line}\n"))?;
            }
        }
        session.say(&format!("✓ {count} changes are as they were written\n"))?;
        Ok(Exit::Done)
    })?
}

/// How many events or runs are read at once.
const PAGE: u64 = 1_000;

/// Prints every event of a run.
pub(super) async fn show(
    session: &mut Session<'_>,
    store: &SqliteStore,
    id: &RunId,
) -> Result<Exit, Failure> {
    let mut next = 1;
    loop {
        let events =
            store.read(id.as_str(), next..next + PAGE).await.map_err(|error| runs::store_failure(&error))?;
        for stored in &events {
            let line = if session.json { as_json(id, stored) } else { as_line(stored) };
            session.print(&line)?;
        }
        next += events.len() as u64;
        if (events.len() as u64) < PAGE {
            return Ok(Exit::Done);
        }
    }
}

fn as_json(id: &RunId, stored: &Stored) -> String {
    let data = abide_formats::json::parse(&stored.data).map(|data| from_value(&data)).unwrap_or_default();
    let document = json!({
        "run": id.as_str(),
        "seq": stored.seq,
        "at": stored.at,
        "type": stored.kind,
        "data": data,
        "previous_hash": stored.previous,
        "hash": stored.hash,
    });
    format!("{document}\n")
}

fn as_line(stored: &Stored) -> String {
    let about = match abide_formats::event::read(&stored.kind, &stored.data) {
        Ok(event) => about(&event),
        Err(error) => format!("cannot be read: {error}"),
    };
    let mut line = format!("{:>4}  {}  {:<20}", stored.seq, moment(Timestamp(stored.at)), stored.kind);
    // Writing to a string cannot fail.
    let _ = write!(line, "  {}", visible(&about, true));
    format!("{}\n", line.trim_end())
}

/// Says in a few words what an event is about.
fn about(event: &Event) -> String {
    let attempt_of = |key: &dyn std::fmt::Display, attempt: u32| {
        if attempt > 1 { format!("{key} (attempt {attempt})") } else { key.to_string() }
    };
    let because =
        |comment: &Option<String>| comment.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    match event {
        Event::Created(created) => {
            let rerun = created
                .rerun_of
                .as_ref()
                .map(|(run, step)| format!(", again from `{step}` of {run}"))
                .unwrap_or_default();
            format!("{} by {}{rerun}", created.name, created.by)
        }
        Event::PlanAnswered { by, approved, comment } => {
            format!("{} by {by}{}", if *approved { "approved" } else { "rejected" }, because(comment))
        }
        Event::HookStarted { hook } | Event::HookEnded { hook, error: None } => hook.to_string(),
        Event::HookEnded { hook, error: Some(error) } => format!("{hook}: {error}"),
        Event::StepSkipped { step, why } => match why {
            abide_core::event::Skip::When { because } => format!("{step}: {because}"),
            abide_core::event::Skip::Rejected { need } => format!("{step}: `{need}` was rejected"),
            abide_core::event::Skip::Chosen { by } => format!("{step} by {by}"),
        },
        Event::StepExpanded { step, items } => format!("{step}: {} items", items.len()),
        Event::AttemptStarted { key, attempt, .. } | Event::AttemptCancelled { key, attempt } => {
            attempt_of(key, *attempt)
        }
        Event::AttemptSucceeded { key, attempt, again, .. } => {
            format!("{}{}", attempt_of(key, *attempt), if again.is_some() { ", again" } else { "" })
        }
        Event::AttemptFailed { key, attempt, failure, .. } => {
            format!("{}: {failure}", attempt_of(key, *attempt))
        }
        Event::AttemptLost { key, attempt, .. } => attempt_of(key, *attempt),
        Event::LossResolved { key, by, decision } => {
            format!("{key}: {} by {by}", format!("{decision:?}").to_lowercase())
        }
        Event::QuestionAsked { key, question } => format!("{key}: {}", question.prompt),
        Event::QuestionAnswered { key, answer, by, comment } => {
            format!("{key}: `{answer}` by {by}{}", because(comment))
        }
        Event::StepSummarized { step, model, .. } => format!("{step} by {model}"),
        Event::QuestionExpired { key } => key.to_string(),
        Event::CancelRequested { by, reason } => format!("by {by}{}", because(reason)),
        Event::DeadlinePassed => String::new(),
        Event::VerdictNoted { verdict: NotedVerdict::Given(given), .. } => given.to_string(),
        Event::VerdictNoted { verdict: NotedVerdict::Lost(why), .. } => why.clone(),
        Event::Finished { status, error } => format!("{}{}", status.word(), because(error)),
    }
}

/// What is wrong with the log of a run.
struct Damage {
    run: String,
    seq: Option<u64>,
    what: String,
}

async fn verify(session: &mut Session<'_>, store: &SqliteStore, run: Option<&str>) -> Result<Exit, Failure> {
    let heads = match run {
        Some(text) => {
            let id = runs::find_run(store, Some(text), runs::Wanted::Any).await?;
            store.head(id.as_str()).await.map_err(|error| runs::store_failure(&error))?.into_iter().collect()
        }
        None => every_head(store).await?,
    };
    let mut damages = Vec::new();
    let mut events = 0;
    for head in &heads {
        match check(store, head).await {
            Ok(count) => events += count,
            Err(damage) => damages.push(damage),
        }
    }
    if session.json {
        let list: Vec<_> = damages
            .iter()
            .map(|damage| json!({ "run": damage.run, "seq": damage.seq, "problem": damage.what }))
            .collect();
        session.print_json(&json!({ "runs": heads.len(), "events": events, "damaged": list }))?;
    } else {
        for damage in &damages {
            session.print(&format!("✗ {}: {}\n", damage.run, visible(&damage.what, true)))?;
        }
        let count = heads.len();
        let text = match damages.len() {
            0 => format!("✓ {count} runs with {events} events are as they were written\n"),
            bad => format!("{bad} of {count} runs are damaged\n"),
        };
        session.print(&text)?;
    }
    Ok(if damages.is_empty() { Exit::Done } else { Exit::Problems })
}

/// Says what is wrong with the log, if something is.
pub(super) async fn damages(store: &SqliteStore) -> Result<Vec<String>, Failure> {
    let mut damages = Vec::new();
    for head in every_head(store).await? {
        if let Err(damage) = check(store, &head).await {
            damages.push(format!("{}: {}", damage.run, damage.what));
        }
    }
    Ok(damages)
}

/// Says which logs are not what their hashes say, whatever their events mean.
pub(super) async fn broken_chains(store: &SqliteStore) -> Result<Vec<String>, Failure> {
    let mut broken = Vec::new();
    for head in every_head(store).await? {
        let (mut next, mut previous) = (1, NO_HASH.to_owned());
        loop {
            let events = store.read(&head.stream, next..next + PAGE).await;
            let events = events.map_err(|error| runs::store_failure(&error))?;
            if let Err(damage) = verify_chain(&head.stream, &previous, next, &events) {
                broken.push(damage.to_string());
                break;
            }
            let Some(last) = events.last() else { break };
            previous.clone_from(&last.hash);
            next = last.seq + 1;
        }
        if next <= head.seq && broken.is_empty() {
            broken.push(format!("{}: event {next} is missing", head.stream));
        }
    }
    Ok(broken)
}

async fn every_head(store: &SqliteStore) -> Result<Vec<StreamHead>, Failure> {
    let mut heads: Vec<StreamHead> = Vec::new();
    let page = usize::try_from(PAGE).unwrap_or(usize::MAX);
    loop {
        let after = heads.last().map(StreamHead::place);
        let more = store.heads(after.as_ref(), page).await.map_err(|error| runs::store_failure(&error))?;
        let last = more.len() < page;
        heads.extend(more);
        if last {
            return Ok(heads);
        }
    }
}

/// Reads a whole run back, which checks its hashes, its events, its replay and its snapshot; returns how many events
/// it has.
async fn check(store: &SqliteStore, head: &StreamHead) -> Result<u64, Damage> {
    let damage = |seq, what: String| Damage { run: head.stream.clone(), seq, what };
    let id = RunId::parse(&head.stream).ok_or_else(|| damage(None, "its id is not one".to_owned()))?;
    let loaded = verify_run(store, &id).await.map_err(|error| match &error {
        LoadError::Store(StoreError::Damaged { seq, .. }) | LoadError::Event { seq, .. } => {
            damage(Some(*seq), error.to_string())
        }
        _ => damage(None, error.to_string()),
    })?;
    if loaded.seq < head.seq {
        return Err(damage(Some(loaded.seq + 1), format!("event {} is missing", loaded.seq + 1)));
    }
    let said = runs::summary(head);
    let said = runs::text_of(&said, "status").unwrap_or_default();
    // A run that goes on while it is read has moved on since its head was.
    if loaded.seq == head.seq && said != loaded.run.status().word() {
        let what = format!("it is listed as `{said}`, and its log says `{}`", loaded.run.status().word());
        return Err(damage(None, what));
    }
    Ok(loaded.seq)
}
