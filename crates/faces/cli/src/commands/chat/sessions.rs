//! Which session is talked in: a new one, the last one, or one that is named; and nobody else talks in it meanwhile.

use crate::runs::{self, SystemClock};
use crate::{Exit, Failure};
use abide_core::skill::tool::PREFIX;
use abide_engine::port::{Clock as _, HeadPlace, SessionId, Store as _};
use abide_engine::turn::SessionLog;
use abide_store_sqlite::SqliteStore;
use std::sync::Arc;
use std::time::Duration;

/// For how long a session is ours while this process lives.
const HELD: Duration = Duration::from_hours(24);
/// How many sessions are looked at to find the last one.
const PAGE: usize = 200;

pub(in crate::commands) fn new_session() -> Result<SessionId, Failure> {
    let id = SystemClock.new_run().to_string();
    SessionId::parse(&id).ok_or_else(|| Failure::new(Exit::System, format!("`{id}` is no id")))
}

/// Finds the session that is to go on.
pub(super) async fn resumed(
    store: &Arc<SqliteStore>,
    name: &str,
) -> Result<SessionLog<SqliteStore>, Failure> {
    let none = || Failure::new(Exit::NotFound, "there is no such session").help("`abide chat` begins one");
    let id = if name.is_empty() { last(store).await?.ok_or_else(none)? } else { name.to_owned() };
    let id = SessionId::parse(&id).ok_or_else(none)?;
    let found = SessionLog::find(Arc::clone(store), id).await;
    found.map_err(|error| Failure::new(Exit::System, error.to_string()))?.ok_or_else(none)
}

/// Returns the session that people talked in last; those of steps and skills are not theirs.
async fn last(store: &SqliteStore) -> Result<Option<String>, Failure> {
    let mut place: Option<HeadPlace> = None;
    loop {
        let page = store.heads(place.as_ref(), PAGE).await.map_err(|error| runs::store_failure(&error))?;
        let found = page.iter().find(|head| {
            let summary = runs::summary(head);
            let is_skill = runs::text_of(&summary, "agent").is_some_and(|agent| agent.starts_with(PREFIX));
            runs::text_of(&summary, "run").is_none() && !is_skill
        });
        if let Some(head) = found {
            return Ok(Some(head.stream.clone()));
        }
        match page.last() {
            Some(last) if page.len() == PAGE => place = Some(last.place()),
            _ => return Ok(None),
        }
    }
}

/// Makes sure that nobody else talks in the session.
pub(super) async fn hold(store: &SqliteStore, log: &mut SessionLog<SqliteStore>) -> Result<(), Failure> {
    let now = SystemClock.now();
    let lease =
        store.lease(log.id().as_str(), &runs::holder(), now.0, now.after(HELD).0, &runs::is_dead).await;
    let lease = lease.map_err(|error| {
        Failure::new(Exit::Refused, format!("the session is open elsewhere: {error}"))
            .help("end it there first, or begin another one with `abide chat`")
    })?;
    log.hold(lease);
    Ok(())
}
