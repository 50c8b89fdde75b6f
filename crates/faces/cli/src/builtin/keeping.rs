//! Forgetting sessions that nobody needs, with their files.

use crate::builtin::sessions_file;
use crate::gate::gate;
use crate::runs::{self, SystemClock};
use crate::session::Session;
use abide_core::definition::SessionSettings;
use abide_core::policy::Client;
use abide_core::run::RunStatus;
use abide_engine::history::Limits;
use abide_engine::port::{Clock as _, Later, SessionFiles as _, SessionId, Store as _, StoreError};
use abide_engine::turn::{Forgetting, prune_sessions};
use abide_store_sqlite::{SqliteSessionFiles, SqliteStore};
use std::sync::Arc;

/// Forgets sessions beyond what the configuration keeps, never `just`; the next conversation tries again what fails.
pub(crate) async fn forget_old_sessions(session: &Session<'_>, just: &str) -> Result<(), StoreError> {
    let Some(store) = SqliteStore::find(&sessions_file(session), runs::settings())? else { return Ok(()) };
    let settings = session.configuration().config.sessions;
    let keep = settings.keep.map_or(SessionSettings::KEEP, |keep| keep.value);
    let limits = Limits { keep: keep.into(), keep_for: settings.keep_for.map(|time| time.value.time()) };
    let log = runs::log_file(session);
    let runs_store = SqliteStore::find(&log, runs::settings())?.map(Arc::new);
    let gate = gate(session.surroundings);
    let needed = move |id: String, run: Option<String>| -> Later<bool> {
        let (runs_store, gate) = (runs_store.clone(), gate.clone());
        Box::pin(async move {
            let bound = || match &gate {
                // What cannot be read may be bound.
                Some(gate) => {
                    !matches!(gate.bound(&abide_gate::SessionId::new(Client::Other, id.as_str())), Ok(None))
                }
                None => false,
            };
            match (run, runs_store) {
                (Some(run), Some(store)) => match store.head(&run).await {
                    Ok(Some(head)) => !is_over(&runs::summary(&head)),
                    Ok(None) => false,
                    Err(_) => true,
                },
                (Some(_), None) => false,
                (None, _) => bound(),
            }
        })
    };
    let holder = runs::holder();
    let forgetting = Forgetting { holder: &holder, is_dead: &runs::is_dead, needed: &needed, just };
    let forgotten = prune_sessions(&store, &SystemClock, limits, &forgetting).await?;
    if !forgotten.is_empty() {
        let files = log.with_file_name("files.db");
        let files = SqliteSessionFiles::open(&files, Arc::new(|| SystemClock.now().0))?;
        for id in forgotten.iter().filter_map(|id| SessionId::parse(id)) {
            // What cannot be forgotten now takes room, and nothing else.
            let _ = files.forget(&id).await;
        }
    }
    Ok(())
}

fn is_over(summary: &abide_core::value::Value) -> bool {
    let status = runs::text_of(summary, "status");
    let ends = [RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled, RunStatus::TimedOut];
    ends.iter().any(|end| status == Some(end.word()))
}
