//! How long sessions are kept: which of them are forgotten, and forgetting them.
//!
//! A session goes when nobody talks in it and nothing needs it: the step of a run that is not over is taken up again in its
//! session. [`prune`] does a bounded part each time it is called, and so little when there is nothing to do that it can be
//! called after every conversation.

use crate::history::Limits;
use crate::port::{Clock, HeadPlace, Holder, Later, Store, StoreError, StreamHead};
use abide_core::value::Value;
use std::time::Duration;

/// How many sessions are forgotten at once.
const AT_ONCE: usize = 64;
/// How many heads are read at once.
const PAGE: usize = 1_000;
/// For how long a session is held while it is forgotten.
const HELD: Duration = Duration::from_secs(30);

/// What tells whether something still needs a session, by its id and the run that it works for, if it does.
pub type Needed = dyn Fn(String, Option<String>) -> Later<bool> + Send + Sync;

/// Who forgets, and what they know of others.
pub struct Forgetting<'a> {
    /// Who this is.
    pub holder: &'a Holder,
    /// Tells whether a holder is known to be dead.
    pub is_dead: &'a (dyn Fn(&Holder) -> bool + Send + Sync),
    /// Tells what is needed.
    pub needed: &'a Needed,
    /// The session that has just been talked in.
    pub just: &'a str,
}

/// Forgets sessions beyond the limits; returns which.
pub async fn prune<S: Store, C: Clock>(
    store: &S,
    clock: &C,
    limits: Limits,
    forgetting: &Forgetting<'_>,
) -> Result<Vec<String>, StoreError> {
    let extent = store.extent().await?;
    let now = clock.now();
    let since =
        limits.keep_for.map(|time| now.0.saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)));
    let too_many = extent.streams > limits.keep.saturating_add(limits.keep / 200);
    let too_old = since.is_some_and(|since| extent.oldest.is_some_and(|oldest| oldest < since));
    if !too_many && !too_old {
        return Ok(Vec::new());
    }
    let mut heads = Vec::new();
    let mut place: Option<HeadPlace> = None;
    loop {
        let mut page = store.heads(place.as_ref(), PAGE).await?;
        let is_last = page.len() < PAGE;
        place = page.last().map(StreamHead::place);
        heads.append(&mut page);
        if is_last {
            break;
        }
    }
    let keep = if too_many { limits.keep } else { u64::MAX };
    let mut excess = (heads.len() as u64).saturating_sub(keep);
    let mut forgotten = Vec::new();
    // The one that changed longest ago first; what is passed over does not make room.
    for head in heads.iter().rev().filter(|head| head.stream != forgetting.just) {
        let is_old = since.is_some_and(|since| head.changed_at < since);
        if forgotten.len() >= AT_ONCE || (excess == 0 && !is_old) {
            break;
        }
        if (forgetting.needed)(head.stream.clone(), run_of(head)).await {
            continue;
        }
        let until = now.after(HELD).0;
        match store.lease(&head.stream, forgetting.holder, now.0, until, forgetting.is_dead).await {
            Ok(_) => {}
            // Somebody talks in it.
            Err(StoreError::Held { .. }) => continue,
            Err(error) => return Err(error),
        }
        match store.forget(&head.stream).await {
            Ok(()) => {
                excess = excess.saturating_sub(1);
                forgotten.push(head.stream.clone());
            }
            // Somebody else was faster.
            Err(StoreError::Unknown(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(forgotten)
}

/// Returns the run that a session works for.
fn run_of(head: &StreamHead) -> Option<String> {
    let summary = abide_formats::json::parse(&head.summary).ok()?;
    match summary.get("run") {
        Some(Value::Text(run)) => Some(run.clone()),
        _ => None,
    }
}
