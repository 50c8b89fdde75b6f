//! How far a run has come, kept beside its log so that opening it does not take longer the longer it is.
//!
//! A snapshot names the event that it stands at by its hash, and carries a digest of its own text. One that another
//! version wrote, that is damaged, or that stands at an event which the log does not have is as good as none.

use crate::family::calls;
use crate::log::{LoadError, Loaded, beginning};
use crate::port::{Store, StoreError};
use crate::service::hex;
use abide_core::event::RunId;
use abide_core::run::Run;
use abide_core::view::status::Page;
use sha2::{Digest as _, Sha256};

/// What wrote a snapshot: how a log adds up may differ between two versions, so each believes only its own.
const WRITER: &str = concat!("abide-snapshot/3 ", env!("CARGO_PKG_VERSION"));

/// How many events are between two snapshots at least.
const FEWEST: usize = 256;

/// What has been appended since the newest snapshot.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tail {
    events: usize,
    bytes: usize,
    /// How long the snapshot is.
    snapshot: usize,
}

impl Tail {
    pub(crate) fn grow(&mut self, events: usize, bytes: usize) {
        self.events += events;
        self.bytes += bytes;
    }

    /// Returns whether it is time for a snapshot: a long one is written less often, so that all of them together
    /// are about as long as the log.
    pub(crate) fn is_long(&self) -> bool {
        self.events >= FEWEST && self.bytes >= self.snapshot
    }
}

/// Writes a snapshot of a run at an event: a line of its own, the page of one that is over, and how far it has come.
pub(crate) fn write(run: &Run, hash: &str) -> String {
    // What a run says that calls others, they say with it.
    let has_page = run.is_finished() && calls(run).is_empty();
    let page = if has_page { abide_formats::snapshot::write_page(&Page::of(run)) } else { String::new() };
    let body = format!("{page}\n{}", abide_formats::snapshot::write(run));
    format!("{WRITER} {hash} {}\n{body}", digest(&body))
}

fn digest(body: &str) -> String {
    hex(&Sha256::digest(body))
}

/// Returns the hash of the event that a snapshot stands at, its page and its text, if it is ours and whole.
fn open(text: &str) -> Option<(&str, &str, &str)> {
    let (head, body) = text.strip_prefix(WRITER)?.strip_prefix(' ')?.split_once('\n')?;
    let (hash, told) = head.split_once(' ')?;
    if digest(body) != told {
        return None;
    }
    let (page, body) = body.split_once('\n')?;
    Some((hash, page, body))
}

/// Returns what there is to say about a run that is over, if its newest snapshot says it; nothing is known of one that it
/// does not say it of.
pub async fn page<S: Store>(store: &S, id: &RunId) -> Result<Option<Page>, StoreError> {
    let Ok(Some((seq, text))) = store.snapshot(id.as_str()).await else { return Ok(None) };
    let Some((hash, page, _)) = open(&text).filter(|(_, page, _)| !page.is_empty()) else { return Ok(None) };
    // The page stands at the last event, or the run has gone on; if somebody has been at that event, the log says so.
    let events = store.read(id.as_str(), seq..seq.saturating_add(2)).await?;
    let stands = matches!(&events[..], [last] if last.hash == hash);
    Ok(stands.then(|| abide_formats::snapshot::read_page(page)).flatten())
}

/// Reads a run from its newest snapshot; nothing if there is none that can be believed.
pub(crate) async fn newest<S: Store>(store: &S, id: &RunId) -> Result<Option<Loaded>, LoadError> {
    // A store that cannot give a snapshot may still give the log, or says better what is wrong with it.
    let Ok(Some((seq, text))) = store.snapshot(id.as_str()).await else { return Ok(None) };
    let Some((hash, _, body)) = open(&text) else { return Ok(None) };
    let Ok(progress) = abide_formats::snapshot::read(body) else { return Ok(None) };
    let at = store.read(id.as_str(), seq..seq.saturating_add(1)).await?.pop();
    if at.is_none_or(|event| event.seq != seq || event.hash != hash) {
        return Ok(None);
    }
    let Some(first) = store.read(id.as_str(), 1..2).await?.pop() else { return Ok(None) };
    let (created, ability) = beginning(id, &first)?;
    let tail = Tail { snapshot: text.len(), ..Tail::default() };
    let run = Run::restore(id.clone(), created, ability, progress);
    Ok(run.map(|run| Loaded { run, seq, hash: hash.to_owned(), tail }))
}

/// Keeps a snapshot of a run as it is now.
pub async fn keep<S: Store>(store: &S, loaded: &mut Loaded) -> Result<(), StoreError> {
    let text = write(&loaded.run, &loaded.hash);
    loaded.tail = Tail { snapshot: text.len(), ..Tail::default() };
    store.save_snapshot(loaded.run.id.as_str(), loaded.seq, text).await
}
