//! Damage: a log that somebody has changed does not pass for one that nobody has.

use super::{Subject, Tampering, append, assert_refused};
use crate::ManualClock;
use abide_engine::port::{Store as _, StoreError};
use std::ops::Range;

/// Makes a log of four events and tampers with it.
async fn tampered<S: Subject>(subject: &S, tampering: Tampering<'_>) -> S::Store {
    let store = subject.open();
    append(&store, "s", 0, &["a", "b"]).await.unwrap();
    append(&store, "s", 2, &["c", "d"]).await.unwrap();
    append(&store, "another", 0, &["a", "b", "c"]).await.unwrap();
    subject.tamper(&tampering);
    assert_eq!(store.read("another", 0..9).await.unwrap().len(), 3, "the rest is as good as before");
    store
}

async fn is_damaged_at(store: &impl abide_engine::port::Store, range: Range<u64>, at: u64) {
    assert_refused!(store.read("s", range).await, StoreError::Damaged { seq, .. } if seq == at);
}

/// From wherever it is read, a log that was only appended to is whole.
pub async fn a_log_that_nobody_touched_is_whole(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    for expected in 0..20 {
        append(&store, "s", expected, &["e"]).await.unwrap();
    }
    for start in 0..22 {
        for end in start..22 {
            store.read("s", start..end).await.unwrap();
        }
    }
}

/// An event whose data is not what its hash says is found.
pub async fn an_edited_event_is_seen(subject: impl Subject, _: ManualClock) {
    let store = tampered(&subject, Tampering::Edit { stream: "s", seq: 2, data: "{}" }).await;
    is_damaged_at(&store, 0..9, 2).await;
    is_damaged_at(&store, 2..3, 2).await;
    assert_eq!(store.read("s", 3..9).await.unwrap().len(), 2);
}

/// An event that was changed with its hash does not fit the next one, also when only that one is read.
pub async fn a_rewritten_event_is_seen(subject: impl Subject, _: ManualClock) {
    let store = tampered(&subject, Tampering::Rewrite { stream: "s", seq: 2, data: "{}" }).await;
    is_damaged_at(&store, 0..9, 3).await;
    is_damaged_at(&store, 3..4, 3).await;
}

/// The last event has no next one, but the head.
pub async fn a_rewritten_last_event_is_seen(subject: impl Subject, _: ManualClock) {
    let store = tampered(&subject, Tampering::Rewrite { stream: "s", seq: 4, data: "{}" }).await;
    is_damaged_at(&store, 0..9, 4).await;
    is_damaged_at(&store, 4..5, 4).await;
}

/// An event that is not there any more is missed, also by the one after it.
pub async fn a_missing_event_is_seen(subject: impl Subject, _: ManualClock) {
    let store = tampered(&subject, Tampering::Remove { stream: "s", seq: 2 }).await;
    is_damaged_at(&store, 0..9, 2).await;
    is_damaged_at(&store, 2..3, 2).await;
    is_damaged_at(&store, 3..4, 2).await;
}

/// So is the last one.
pub async fn a_missing_last_event_is_seen(subject: impl Subject, _: ManualClock) {
    let store = tampered(&subject, Tampering::Remove { stream: "s", seq: 4 }).await;
    is_damaged_at(&store, 0..9, 4).await;
    is_damaged_at(&store, 4..9, 4).await;
}

/// An event that the store did not append is not taken for one, and not written over.
pub async fn an_added_event_is_seen(subject: impl Subject, _: ManualClock) {
    let store = tampered(&subject, Tampering::Add { stream: "s", seq: 6 }).await;
    assert_eq!(store.read("s", 0..9).await.unwrap().len(), 4);
    assert_refused!(append(&store, "s", 4, &["e", "f"]).await, StoreError::Damaged { seq: 6, .. });
    assert_eq!(store.head("s").await.unwrap().unwrap().seq, 4);
    assert_eq!(store.read("s", 0..9).await.unwrap().len(), 4, "nothing of it was written");
    append(&store, "another", 3, &["d"]).await.unwrap();
}
