//! Noticing that there is something else to read: an ability that was written, a run that was started in another terminal.
//!
//! A thread looks, because a watch of files waits without a runtime. It ends with the desk.

use super::look::RUNS;
use crate::Surroundings;
use crate::args::Shared;
use crate::runs;
use crate::session::Session;
use abide_catalog::{Status, Watch, WatchError};
use abide_engine::port::Store as _;
use abide_store_sqlite::SqliteStore;
use std::time::Duration;
use tokio::sync::watch;

/// How often the log is looked at, and whether anybody still listens.
const LOOK: Duration = Duration::from_secs(2);

/// Tells that the list of what can be read has become another one.
#[derive(Debug)]
pub(super) struct News(watch::Receiver<u64>);

impl News {
    /// Begins to look. Where nothing can be watched, nobody is told anything.
    pub(super) fn watch(surroundings: Surroundings, shared: Shared) -> Self {
        let (sender, receiver) = watch::channel(0);
        let look = move || {
            // Without it a client sees what is new when it asks again.
            let _ = keep_looking(&surroundings, &shared, &sender);
        };
        // A thread that cannot be started looks at nothing.
        let _ = std::thread::Builder::new().name("news".to_owned()).spawn(look);
        Self(receiver)
    }

    /// Returns what hears of changes; what was there before it is told once, since it may be newer than what its client saw.
    pub(super) fn receiver(&self) -> watch::Receiver<u64> {
        self.0.clone()
    }
}

fn keep_looking(
    surroundings: &Surroundings,
    shared: &Shared,
    news: &watch::Sender<u64>,
) -> Result<(), WatchError> {
    let (mut out, mut talk) = (std::io::sink(), std::io::sink());
    let Ok(session) = Session::open(surroundings, shared, &mut out, &mut talk) else { return Ok(()) };
    let mut catalog = session.catalog();
    let mut watch = Watch::start()?;
    let (mut abilities, mut runs) = (None, None);
    let mut log = None;
    let mut edited = true;
    while !news.is_closed() {
        let mut other = false;
        if edited {
            // First watched, then looked at: whatever changes in between is seen.
            watch.follow(&catalog)?;
            let listing = catalog.scan();
            let usable = listing.abilities.iter().filter(|entry| entry.status() == Status::Usable);
            other |= replaced(&mut abilities, usable.map(|entry| entry.name.to_string()).collect());
        }
        // A log that cannot be read now is looked at again.
        other |= newest(&session, &mut log).is_some_and(|newest| replaced(&mut runs, newest));
        if other {
            news.send_modify(|count| *count += 1);
        }
        edited = watch.wait(LOOK)?;
        if edited {
            catalog.reconfigure(session.configuration());
        }
    }
    Ok(())
}

/// Keeps what is there now, and returns whether it is something else.
///
/// What is seen first is news: it may have come after the client asked, and before the watch began.
fn replaced(known: &mut Option<Vec<String>>, now: Vec<String>) -> bool {
    let other = known.as_ref() != Some(&now);
    *known = Some(now);
    other
}

/// Returns the runs that are offered for reading; the log is opened once there is one.
fn newest(session: &Session<'_>, log: &mut Option<SqliteStore>) -> Option<Vec<String>> {
    if log.is_none() {
        *log = runs::find_store(session).ok()?;
    }
    let Some(log) = log else { return Some(Vec::new()) };
    let heads = runs::look_up(log.heads(None, RUNS)).ok()?.ok()?;
    let mut names: Vec<String> = heads.into_iter().map(|head| head.stream).collect();
    names.sort_unstable();
    Some(names)
}
