//! Where a server keeps what it keeps: files beside the project, or a database.

use super::ServerStore;
use crate::runs::{self, SystemClock, log_file};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_engine::port::{
    Agents, Audit, Clock as _, Keys, Messages, Outbox, Questions, SessionFiles, Sessions, Starts, StoreError,
};
use abide_store_postgres::PgStore;
use abide_store_sqlite::{SqliteRegistry, SqliteSessionFiles, SqliteStore};
use std::sync::Arc;

/// The keys of a server, and where changes of them are noted.
pub(crate) type AuditedKeys = (Arc<dyn Keys>, Arc<dyn Audit>);

/// Where a server keeps what it keeps.
pub(crate) struct Stores {
    /// The log of runs.
    pub(crate) log: Arc<ServerStore>,
    /// Who may use it.
    pub(crate) keys: Arc<dyn Keys>,
    /// Which runs were started by servers.
    pub(crate) starts: Arc<dyn Starts>,
    /// Agents that were made over the API.
    pub(crate) agents: Arc<dyn Agents>,
    /// What was changed, by whom.
    pub(crate) audit: Arc<dyn Audit>,
    /// Sessions of these agents.
    pub(crate) sessions: Arc<dyn Sessions>,
    /// What was said to them.
    pub(crate) messages: Arc<dyn Messages>,
    /// Their logs.
    pub(crate) talks: Arc<ServerStore>,
    /// Their files.
    pub(crate) files: Arc<dyn SessionFiles>,
    /// What webhooks are to be told.
    pub(crate) outbox: Arc<dyn Outbox>,
    /// What agents of sessions ask humans.
    pub(crate) questions: Arc<dyn Questions>,
    /// What is used, for people.
    pub(crate) shown: String,
}

impl Stores {
    /// Opens the stores: those beside the project, or the database that is told.
    pub(crate) fn open(session: &Session<'_>, database: Option<&str>) -> Result<Self, Failure> {
        let told = database.map(str::to_owned).or_else(|| session.surroundings.variable("ABIDE_DATABASE"));
        let failed = |error: StoreError| runs::store_failure(&error);
        let Some(url) = told else {
            let file = log_file(session);
            let registry = SqliteRegistry::open(&registry_file(session)).map_err(failed)?;
            let log = SqliteStore::open(&file, runs::settings()).map_err(failed)?;
            // Not those of `abide chat`: it forgets old sessions, and knows nothing of these.
            let talks = file.with_file_name("server-sessions.db");
            let talks = SqliteStore::open(&talks, runs::settings()).map_err(failed)?;
            let files = file.with_file_name("files.db");
            let files = SqliteSessionFiles::open(&files, Arc::new(|| SystemClock.now().0)).map_err(failed)?;
            return Ok(Self {
                log: Arc::new(ServerStore::Sqlite(Box::new(log))),
                keys: Arc::new(registry.clone()),
                starts: Arc::new(registry.clone()),
                agents: Arc::new(registry.clone()),
                audit: Arc::new(registry.clone()),
                sessions: Arc::new(registry.clone()),
                messages: Arc::new(registry.clone()),
                outbox: Arc::new(registry.clone()),
                questions: Arc::new(registry),
                talks: Arc::new(ServerStore::Sqlite(Box::new(talks))),
                files: Arc::new(files),
                shown: file.display().to_string(),
            });
        };
        let settings = || abide_store_postgres::Settings::new(|| SystemClock.now().0);
        let open = || {
            PgStore::new(&url, settings()).map_err(|error| {
                Failure::new(Exit::Usage, error.to_string()).help("`--database postgres://USER@HOST/NAME`")
            })
        };
        // Keys are asked with every request: they do not wait behind what runs write.
        let (log, keys) = (open()?, Arc::new(open()?));
        let shown = log.place().to_owned();
        let talks = log.sessions();
        Ok(Self {
            log: Arc::new(ServerStore::Postgres(Box::new(log))),
            keys: Arc::clone(&keys) as _,
            starts: Arc::clone(&keys) as _,
            agents: Arc::clone(&keys) as _,
            audit: Arc::clone(&keys) as _,
            sessions: Arc::clone(&keys) as _,
            messages: Arc::clone(&keys) as _,
            outbox: Arc::clone(&keys) as _,
            questions: Arc::clone(&keys) as _,
            talks: Arc::new(ServerStore::Postgres(Box::new(talks))),
            files: keys,
            shown,
        })
    }

    /// Opens only the keys, and where changes of them are noted.
    pub(crate) fn keys(session: &Session<'_>, database: Option<&str>) -> Result<AuditedKeys, Failure> {
        if database.is_some() || session.surroundings.variable("ABIDE_DATABASE").is_some() {
            return Self::open(session, database).map(|stores| (stores.keys, stores.audit));
        }
        let registry = SqliteRegistry::open(&registry_file(session));
        let registry = registry.map_err(|error| runs::store_failure(&error))?;
        Ok((Arc::new(registry.clone()), Arc::new(registry)))
    }
}

/// Returns where a server keeps what is no log.
fn registry_file(session: &Session<'_>) -> std::path::PathBuf {
    log_file(session).with_file_name("server.db")
}
