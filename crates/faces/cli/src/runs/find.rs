//! Runs in the log, found by what a person types.

use super::{SystemClock, load_failure, store_failure};
use crate::{Exit, Failure};
use abide_core::event::{RunId, Timestamp};
use abide_core::value::Value;
use abide_engine::port::{Store as _, StreamHead};
use abide_engine::{Loaded, load, service};
use abide_store_sqlite::SqliteStore;

/// How many runs are looked at together: the newest is among the first, unless everything is over.
const PAGE: usize = 256;

/// Which run is meant when none is named: the newest of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All of them.
    Any,
    /// Those that are not over.
    Unfinished,
    /// Those that wait for an answer, or may call one that does.
    Asking,
}

impl Wanted {
    fn accepts(self, status: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Unfinished => !matches!(status, "completed" | "failed" | "cancelled" | "timed_out"),
            Self::Asking => matches!(status, "waiting" | "awaiting_plan" | "running"),
        }
    }

    /// Says that there is none.
    fn nothing(self) -> Failure {
        let (exit, message) = match self {
            Self::Any => (Exit::NotFound, "no run was ever started here"),
            Self::Unfinished => (Exit::NotFound, "every run is over"),
            Self::Asking => (Exit::NotFound, "no run waits for an answer"),
        };
        Failure::new(exit, message).help("`abide runs` lists all")
    }
}

/// Finds a run by its id, the beginning of it, or, without one, as the newest that is wanted.
pub(crate) async fn find_run(
    store: &SqliteStore,
    text: Option<&str>,
    wanted: Wanted,
) -> Result<RunId, Failure> {
    let failed = |error| store_failure(&error);
    // A whole id needs no list of all runs.
    if let Some(id) = text.and_then(RunId::parse)
        && store.head(id.as_str()).await.map_err(failed)?.is_some()
    {
        return Ok(id);
    }
    let is_mine = |head: &StreamHead| match text {
        Some(text) => head.stream.starts_with(text),
        None => {
            let summary = summary(head);
            let is_called = text_of(&summary, "parent").is_some();
            !is_called && wanted.accepts(text_of(&summary, "status").unwrap_or_default())
        }
    };
    let mut matching = Vec::new();
    let mut place = None;
    loop {
        let page = store.heads(place.as_ref(), PAGE).await.map_err(failed)?;
        place = page.last().map(StreamHead::place);
        let is_last = page.len() < PAGE;
        matching.extend(page.into_iter().filter(is_mine));
        if is_last || (text.is_none() && !matching.is_empty()) {
            break;
        }
    }
    // Without a text the newest is meant.
    matching.truncate(if text.is_none() { 1 } else { usize::MAX });
    match (&matching[..], text) {
        ([only], _) => RunId::parse(&only.stream).ok_or_else(|| {
            Failure::new(Exit::System, format!("the log holds a run with a bad id: {}", only.stream))
        }),
        ([], Some(text)) => {
            Err(Failure::new(Exit::NotFound, format!("there is no run {text}"))
                .help("`abide runs` lists them"))
        }
        ([], None) => Err(wanted.nothing()),
        (many, _) => {
            let ids: Vec<&str> = many.iter().take(5).map(|head| head.stream.as_str()).collect();
            Err(Failure::new(Exit::Usage, format!("{} runs begin like that: {}", many.len(), ids.join(", "))))
        }
    }
}

/// Loads a run.
pub(crate) async fn load_run(store: &SqliteStore, id: &RunId) -> Result<Loaded, Failure> {
    load(store, id).await.map_err(|error| load_failure(&error))
}

/// Lets time go on from the last event of a run and of those that it calls, wherever the clock stands now.
pub(crate) async fn go_on_after(store: &SqliteStore, id: &RunId) -> Result<(), Failure> {
    for member in service::family(store, id).await.map_err(|error| load_failure(&error))? {
        if let Some(head) = store.head(member.run.id.as_str()).await.map_err(|error| store_failure(&error))? {
            SystemClock::not_before(Timestamp(head.changed_at));
        }
    }
    Ok(())
}

/// Reads what a head says about its run.
pub(crate) fn summary(head: &StreamHead) -> Value {
    abide_formats::json::parse(&head.summary).unwrap_or(Value::Null)
}

/// Returns a text of a summary.
pub(crate) fn text_of<'a>(summary: &'a Value, name: &str) -> Option<&'a str> {
    match summary.get(name) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}
