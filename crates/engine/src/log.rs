//! The log of a run, read back into the run.
//!
//! The log is the truth. A snapshot of it saves reading its beginning again; see [`crate::snapshot`].

use crate::port::{NewEvent, Store, StoreError, Stored};
use crate::snapshot::{self, Tail};
use abide_core::definition::Ability;
use abide_core::event::{Created, Event, RunId};
use abide_core::run::Run;
use abide_formats::event::BadEvent;
use std::sync::{Arc, Mutex, PoisonError};

/// A run as its log tells it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The run.
    pub run: Run,
    /// The position of the last event that is in it.
    pub seq: u64,
    /// The hash of that event.
    pub(crate) hash: String,
    /// What has been appended since the newest snapshot.
    pub(crate) tail: Tail,
}

impl Loaded {
    /// Takes in an event as it lies in the log.
    fn take_in(&mut self, stored: &Stored) -> Result<Event, LoadError> {
        let event = parse(&self.run.id, stored.seq, &stored.kind, &stored.data)?;
        self.run.apply(&event);
        self.follow(stored.seq, &stored.hash, 1, stored.data.len());
        Ok(event)
    }

    /// Notes that the log is longer by some events, which the run has taken in.
    pub(crate) fn follow(&mut self, seq: u64, hash: &str, events: usize, bytes: usize) {
        self.seq = seq;
        hash.clone_into(&mut self.hash);
        self.tail.grow(events, bytes);
    }
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

/// Reads a run back from its newest snapshot and what came after it, or else from its whole log.
pub async fn load<S: Store>(store: &S, id: &RunId) -> Result<Loaded, LoadError> {
    if let Some(mut loaded) = snapshot::newest(store, id).await? {
        read_on(store, &mut loaded, drop).await?;
        return Ok(loaded);
    }
    load_whole(store, id).await
}

/// Reads a run back from its whole log, whatever snapshots say.
pub async fn load_whole<S: Store>(store: &S, id: &RunId) -> Result<Loaded, LoadError> {
    let Some(first) = store.read(id.as_str(), 1..2).await?.pop() else {
        return Err(LoadError::Broken { run: id.to_string(), what: "its log is empty".to_owned() });
    };
    let (created, ability) = beginning(id, &first)?;
    let run = Run::create(id.clone(), created, ability);
    let mut loaded = Loaded { run, seq: first.seq, hash: first.hash, tail: Tail::default() };
    read_on(store, &mut loaded, drop).await?;
    Ok(loaded)
}

/// Takes in what others have appended since; with an error, as much of it as could be read.
pub(crate) async fn catch_up<S: Store>(
    store: &S,
    loaded: &mut Loaded,
) -> (Vec<Event>, Result<(), LoadError>) {
    let mut news = Vec::new();
    let read = read_on(store, loaded, |event| news.push(event)).await;
    (news, read)
}

/// Takes in what is in the log after where the run is, and shows it.
async fn read_on<S: Store>(
    store: &S,
    loaded: &mut Loaded,
    mut show: impl FnMut(Event) + Send,
) -> Result<(), LoadError> {
    loop {
        let from = loaded.seq + 1;
        let events = store.read(loaded.run.id.as_str(), from..from + PAGE).await?;
        for stored in &events {
            show(loaded.take_in(stored)?);
        }
        if (events.len() as u64) < PAGE {
            return Ok(());
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

/// Reads a run back from its whole log, and checks that its snapshot does not tell otherwise.
pub async fn verify<S: Store>(store: &S, id: &RunId) -> Result<Loaded, LoadError> {
    let whole = load_whole(store, id).await?;
    let short = load(store, id).await?;
    let says = |loaded: &Loaded| abide_formats::snapshot::write(&loaded.run);
    // A run that goes on while it is read may have moved on in between.
    if whole.seq == short.seq && says(&whole) != says(&short) {
        let what = "its snapshot does not say what its log says".to_owned();
        return Err(LoadError::Broken { run: id.to_string(), what });
    }
    Ok(whole)
}

/// Reads what a run is made of from its first event.
pub(crate) fn beginning(id: &RunId, first: &Stored) -> Result<(Created, Arc<Ability>), LoadError> {
    let event = parse(id, first.seq, &first.kind, &first.data)?;
    let Event::Created(created) = event else {
        let what = format!("its log begins with `{}`", event.kind());
        return Err(LoadError::Broken { run: id.to_string(), what });
    };
    let ability = pinned(&created.source, &created.name)
        .map_err(|what| LoadError::Broken { run: id.to_string(), what })?;
    Ok((*created, ability))
}

/// Reads the ability that a run has pinned.
///
/// A run is created from a text and then read back from the same text, so the last one is kept: reading a long ability
/// takes longer than running many of its steps.
pub(crate) fn pinned(source: &str, name: &str) -> Result<Arc<Ability>, String> {
    static LAST: Mutex<Option<(String, String, Arc<Ability>)>> = Mutex::new(None);
    let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, called, ability)) = &*last()
        && called == name
        && known == source
    {
        return Ok(Arc::clone(ability));
    }
    let reading = abide_formats::ability::read(source, name);
    let ability = match reading.problems.iter().find(|problem| problem.is_error()) {
        None => reading.ability.ok_or_else(|| "its ability is empty".to_owned())?,
        Some(problem) => return Err(format!("its ability has an error: {}", problem.message)),
    };
    let ability = Arc::new(ability);
    *last() = Some((source.to_owned(), name.to_owned(), Arc::clone(&ability)));
    Ok(ability)
}
