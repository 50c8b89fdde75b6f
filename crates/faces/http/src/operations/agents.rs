//! Agents: made and changed whole or not at all, and never with a capability that they could not use.

use super::choices::{Configured, Ids, choices};
use crate::ask::{Ask, bad, id_after, if_match, text, wrong};
use crate::door::{Answered, Door};
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use abide_core::capability::Conflicts;
use abide_core::capability::SelectionError;
use abide_engine::capability::{Choice, EquipError};
use abide_engine::port::{AgentRow, AgentStatus, AgentsError};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// The longest of everything, in bytes.
pub(crate) const LONGEST_NAME: usize = 200;
pub(crate) const LONGEST_DESCRIPTION: usize = 4_096;
pub(crate) const LONGEST_PROMPT: usize = 256 * 1024;
/// How many lists of capabilities are remembered.
const MOST_REMEMBERED: usize = 1_000;
/// How often a change without `If-Match` is tried when others change the agent at the same time.
const TRIES: usize = 8;

const FIELDS: &[&str] = &["name", "description", "system_prompt", "model", "capabilities"];

/// Lists of capabilities that have been found to fit together; which ones there are does not change while a server runs.
#[derive(Default)]
pub(crate) struct Equippable(Mutex<HashSet<Vec<Choice>>>);

impl Equippable {
    fn lock(&self) -> MutexGuard<'_, HashSet<Vec<Choice>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, capabilities: &[Choice]) {
        // There is no end of what can be configured, and some of it is long.
        if !Configured(capabilities).is_empty() {
            return;
        }
        let mut known = self.lock();
        if known.len() >= MOST_REMEMBERED {
            known.clear();
        }
        known.insert(capabilities.to_vec());
    }
}

pub(super) async fn create<H: House>(door: &Door<H>, ask: &Ask) -> Answered {
    let agent = made(door, ask.object(FIELDS)?)?;
    add(&*door.house, agent).await
}

/// Puts a new agent together, and refuses one that could not be.
pub(super) fn made<H: House>(door: &Door<H>, mut body: Map<String, Value>) -> Result<AgentRow, Problem> {
    let now = door.house.now();
    let blank = AgentRow {
        id: Uuid::now_v7().to_string(),
        name: String::new(),
        description: None,
        system_prompt: String::new(),
        model: None,
        capabilities: Vec::new(),
        status: AgentStatus::Active,
        created_at: now,
        updated_at: now,
        version: 1,
    };
    let agent = changed(blank, &mut body)?;
    check(door, &agent)?;
    Ok(agent)
}

/// Keeps a new agent, and shows it.
pub(super) async fn add<H: House>(house: &H, agent: AgentRow) -> Answered {
    abide_engine::audit::about(&agent.id);
    house.agents().add(agent.clone()).await.map_err(|error| failed(&error))?;
    Ok(shown(StatusCode::CREATED, &agent))
}

/// Takes what a body says about an agent.
fn changed(mut agent: AgentRow, body: &mut Map<String, Value>) -> Result<AgentRow, Problem> {
    if let Some(name) = text(body, "name", LONGEST_NAME)? {
        agent.name = name;
    }
    // A null takes away what may be missing, and nothing else.
    for (name, field, longest) in [
        ("description", &mut agent.description, LONGEST_DESCRIPTION),
        ("model", &mut agent.model, LONGEST_NAME),
    ] {
        if body.contains_key(name) {
            *field = text(body, name, longest)?;
        }
    }
    if let Some(prompt) = text(body, "system_prompt", LONGEST_PROMPT)? {
        agent.system_prompt = prompt;
    }
    if let Some(capabilities) = choices(body, &agent.capabilities)? {
        agent.capabilities = capabilities;
    }
    if agent.name.trim().is_empty() {
        return Err(wrong("name", "is missing or empty"));
    }
    Ok(agent)
}

/// Refuses an agent that could not have what it names.
fn check<H: House>(door: &Door<H>, agent: &AgentRow) -> Result<(), Problem> {
    if door.equippable.lock().contains(&agent.capabilities) {
        return Ok(());
    }
    let capabilities = door.house.capabilities();
    let Err(reasons) = capabilities.equip(&agent.capabilities, &agent.system_prompt, Conflicts::Refuse)
    else {
        door.equippable.remember(&agent.capabilities);
        return Ok(());
    };
    let told: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    let named = reasons.iter().find_map(|reason| match reason {
        EquipError::Selection(SelectionError::Unknown { id, .. }) => Some(id.clone()),
        EquipError::Selection(
            SelectionError::Twice(id)
            | SelectionError::Unusable { id, .. }
            | SelectionError::Missing { id, .. }
            | SelectionError::Version { id, .. }
            | SelectionError::Conflict { second: id, .. },
        )
        | EquipError::Configuration { id, .. } => Some(id.to_string()),
        _ => None,
    });
    Err(Problem::new(Code::Capability, told.join("\n"))
        .with("capability", json!(named))
        .with("problems", json!(told)))
}

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    let limit = ask.limit()?;
    let status = match ask.query("status") {
        None => None,
        Some(word) => Some(AgentStatus::parse(word).ok_or_else(|| bad("status", "is active or archived"))?),
    };
    let after = id_after(ask)?;
    let mut page =
        house.agents().list(after.as_deref(), status, limit + 1).await.map_err(|error| failed(&error))?;
    let more = page.len() > limit;
    page.truncate(limit);
    let next = page.last().filter(|_| more).map(|last| last.id.clone());
    Ok(Reply::done(&Page { items: page.iter().map(Shown::of).collect(), next }))
}

pub(super) async fn show<H: House>(house: &H, ask: &Ask) -> Answered {
    Ok(shown(StatusCode::OK, &find(house, ask.part(0)).await?))
}

pub(super) async fn patch<H: House>(door: &Door<H>, ask: &Ask) -> Answered {
    let body = ask.object(FIELDS)?;
    change(&*door.house, ask, |agent| {
        if agent.status == AgentStatus::Archived {
            return Err(Problem::new(Code::Refused, format!("the agent {} is archived", agent.id)));
        }
        let agent = changed(agent, &mut body.clone())?;
        check(door, &agent)?;
        Ok(agent)
    })
    .await
}

pub(super) async fn archive<H: House>(house: &H, ask: &Ask) -> Answered {
    ask.object(&[])?;
    change(house, ask, |agent| Ok(AgentRow { status: AgentStatus::Archived, ..agent })).await
}

/// Changes an agent as it is, or as the caller has seen it.
async fn change<H: House>(
    house: &H,
    ask: &Ask,
    change: impl Fn(AgentRow) -> Result<AgentRow, Problem>,
) -> Answered {
    let expected = expected(house, ask).await?;
    for _ in 0..TRIES {
        let found = find(house, ask.part(0)).await?;
        if expected.is_some_and(|expected| expected != found.version) {
            return Err(changed_meanwhile());
        }
        let mut agent = change(found)?;
        agent.updated_at = house.now().max(agent.updated_at);
        match house.agents().replace(agent.clone()).await {
            Ok(version) => return Ok(shown(StatusCode::OK, &AgentRow { version, ..agent })),
            Err(AgentsError::Changed { .. }) if expected.is_none() => {}
            Err(AgentsError::Changed { .. }) => return Err(changed_meanwhile()),
            Err(error) => return Err(failed(&error)),
        }
    }
    Err(changed_meanwhile())
}

/// Returns the version that the caller has seen, if they say so.
async fn expected<H: House>(house: &H, ask: &Ask) -> Result<Option<u64>, Problem> {
    let tags = if_match(ask)?;
    if tags.is_empty() || tags.contains(&"*") {
        return Ok(None);
    }
    let version = |tag: &&str| tag.strip_prefix('"')?.strip_suffix('"')?.parse().ok();
    let versions: Vec<u64> = tags.iter().filter_map(version).collect();
    match versions[..] {
        [one] => Ok(Some(one)),
        [] => Err(changed_meanwhile()),
        _ => {
            // One of several: whichever of them it is now may be changed, and nothing that comes after.
            let now = find(house, ask.part(0)).await?.version;
            if versions.contains(&now) { Ok(Some(now)) } else { Err(changed_meanwhile()) }
        }
    }
}

fn changed_meanwhile() -> Problem {
    Problem::new(Code::Changed, "the agent is not the one that `If-Match` names: read it again")
}

pub(super) async fn find<H: House>(house: &H, id: &str) -> Result<AgentRow, Problem> {
    let found = house.agents().find(id).await.map_err(|error| failed(&error))?;
    found.ok_or_else(|| Problem::new(Code::NotFound, format!("there is no agent {id}")))
}

fn shown(status: StatusCode, agent: &AgentRow) -> Reply {
    let reply = Reply::json(status, &Shown::of(agent));
    match HeaderValue::from_str(&format!("\"{}\"", agent.version)) {
        Ok(tag) => reply.header(header::ETAG, tag),
        Err(_) => reply,
    }
}

/// An agent as it is told; written as it stands, since it is asked for more often than anything else.
#[derive(Serialize)]
struct Shown<'a> {
    capabilities: Ids<'a>,
    #[serde(skip_serializing_if = "Configured::is_empty")]
    configuration: Configured<'a>,
    created_at: i64,
    description: Option<&'a str>,
    id: &'a str,
    model: Option<&'a str>,
    name: &'a str,
    status: &'static str,
    system_prompt: &'a str,
    updated_at: i64,
}

impl<'a> Shown<'a> {
    fn of(agent: &'a AgentRow) -> Self {
        Self {
            capabilities: Ids(&agent.capabilities),
            configuration: Configured(&agent.capabilities),
            created_at: agent.created_at,
            description: agent.description.as_deref(),
            id: &agent.id,
            model: agent.model.as_deref(),
            name: &agent.name,
            status: agent.status.word(),
            system_prompt: &agent.system_prompt,
            updated_at: agent.updated_at,
        }
    }
}

/// A page of agents.
#[derive(Serialize)]
struct Page<'a> {
    items: Vec<Shown<'a>>,
    next: Option<String>,
}

fn failed(error: &AgentsError) -> Problem {
    match error {
        AgentsError::Missing(_) => Problem::new(Code::NotFound, error.to_string()),
        AgentsError::Changed { .. } => changed_meanwhile(),
        AgentsError::Unreachable(_) => Problem::new(Code::Unavailable, "the agents cannot be reached"),
    }
}
