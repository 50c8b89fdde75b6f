//! The log of a run, read back into the run.

use crate::port::{NewEvent, Store, StoreError};
use abide_core::definition::Ability;
use abide_core::event::{Event, RunId};
use abide_core::run::Run;
use abide_formats::event::BadEvent;
use std::sync::Arc;

/// A run as its log tells it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The run.
    pub run: Run,
    /// The position of the last event that is in it.
    pub seq: u64,
}

/// Why a run could not be read back.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An event could not be read.
    #[error("run {run}, event {seq}: {source}")]
    Event {
        /// The run.
        run: String,
        /// Which event.
        seq: u64,
        /// Why.
        source: BadEvent,
    },
    /// The log does not begin with a run's creation, or its ability does not read any more.
    #[error("run {run} cannot be read back: {what}")]
    Broken {
        /// The run.
        run: String,
        /// Why.
        what: String,
    },
}

/// How many events are read at once.
const PAGE: u64 = 4_096;

/// Reads a run back from its log.
pub async fn load<S: Store>(store: &S, id: &RunId) -> Result<Loaded, LoadError> {
    let mut loaded: Option<Loaded> = None;
    let mut next = 1;
    loop {
        let events = store.read(id.as_str(), next..next + PAGE).await?;
        let count = events.len() as u64;
        for stored in events {
            let event = parse(id, stored.seq, &stored.kind, &stored.data)?;
            match &mut loaded {
                None => loaded = Some(Loaded { run: create(id, event)?, seq: stored.seq }),
                Some(loaded) => {
                    loaded.run.apply(&event);
                    loaded.seq = stored.seq;
                }
            }
        }
        next += count;
        if count < PAGE {
            break;
        }
    }
    loaded.ok_or_else(|| LoadError::Broken { run: id.to_string(), what: "its log is empty".to_owned() })
}

/// Takes in what others have appended since.
pub(crate) async fn catch_up<S: Store>(store: &S, loaded: &mut Loaded) -> Result<Vec<Event>, LoadError> {
    let mut news = Vec::new();
    loop {
        let from = loaded.seq + 1;
        let events = store.read(loaded.run.id.as_str(), from..from + PAGE).await?;
        let count = events.len() as u64;
        for stored in events {
            let event = parse(&loaded.run.id, stored.seq, &stored.kind, &stored.data)?;
            loaded.run.apply(&event);
            loaded.seq = stored.seq;
            news.push(event);
        }
        if count < PAGE {
            return Ok(news);
        }
    }
}

/// Reads events of a run that lie in a range of positions.
pub(crate) async fn events_between<S: Store>(
    store: &S,
    id: &RunId,
    positions: std::ops::Range<u64>,
) -> Result<Vec<Event>, LoadError> {
    let mut events = Vec::new();
    let mut next = positions.start;
    while next < positions.end {
        let page = store.read(id.as_str(), next..positions.end.min(next + PAGE)).await?;
        if page.is_empty() {
            break;
        }
        next += page.len() as u64;
        for stored in page {
            events.push(parse(id, stored.seq, &stored.kind, &stored.data)?);
        }
    }
    Ok(events)
}

pub(crate) fn parse(run: &RunId, seq: u64, kind: &str, data: &str) -> Result<Event, LoadError> {
    abide_formats::event::read(kind, data).map_err(|source| LoadError::Event {
        run: run.to_string(),
        seq,
        source,
    })
}

/// Writes events as a store takes them.
pub(crate) fn stored(events: &[Event]) -> Vec<NewEvent> {
    let new =
        |event: &Event| NewEvent { kind: event.kind().to_owned(), data: abide_formats::event::write(event) };
    events.iter().map(new).collect()
}

fn create(id: &RunId, event: Event) -> Result<Run, LoadError> {
    let Event::Created(created) = event else {
        let what = format!("its log begins with `{}`", event.kind());
        return Err(LoadError::Broken { run: id.to_string(), what });
    };
    let ability = pinned(&created.source, &created.name)
        .map_err(|what| LoadError::Broken { run: id.to_string(), what })?;
    Ok(Run::create(id.clone(), *created, Arc::new(ability)))
}

/// Reads the ability that a run has pinned.
pub(crate) fn pinned(source: &str, name: &str) -> Result<Ability, String> {
    let reading = abide_formats::ability::read(source, name);
    match reading.problems.iter().find(|problem| problem.is_error()) {
        None => reading.ability.ok_or_else(|| "its ability is empty".to_owned()),
        Some(problem) => Err(format!("its ability has an error: {}", problem.message)),
    }
}
