//! Reading: ranges, and what is seen when.

use super::{Subject, append, assert_refused};
use crate::ManualClock;
use abide_engine::port::{Store as _, StoreError};

/// A range gives the events in it that exist.
pub async fn ranges_are_cut_to_what_is_there(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    append(&store, "s", 0, &["a", "b", "c", "d"]).await.unwrap();
    for (range, expected) in [
        (0..u64::MAX, "abcd"),
        (1..5, "abcd"),
        (2..4, "bc"),
        (4..5, "d"),
        (4..900, "d"),
        (0..1, ""),
        (3..3, ""),
        (5..9, ""),
        (u64::MAX - 1..u64::MAX, ""),
    ] {
        let events = store.read("s", range.clone()).await.unwrap();
        let kinds: String = events.iter().map(|event| &*event.kind).collect();
        assert_eq!(kinds, expected, "{range:?}");
        assert!(events.iter().all(|event| range.contains(&event.seq)));
    }
}

/// Reading a stream that is not there says so; asking about it does not.
pub async fn an_unknown_stream_is_said_to_be(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    assert_refused!(store.read("s", 1..2).await, StoreError::Unknown(stream) if stream == "s");
    assert_eq!(store.head("s").await.unwrap(), None);
    assert_eq!(store.snapshot("s").await.unwrap(), None);
    assert_eq!(store.heads(None, 10).await.unwrap(), []);
}

/// An append that returned is seen by every reading that begins after it, in this process and in another.
pub async fn an_append_is_seen_at_once(subject: impl Subject, _: ManualClock) {
    let (store, other) = (subject.open(), subject.open());
    for expected in 0..100 {
        append(&store, "s", expected, &["e"]).await.unwrap();
        assert_eq!(store.head("s").await.unwrap().unwrap().seq, expected + 1);
        assert_eq!(other.read("s", expected + 1..expected + 2).await.unwrap().len(), 1);
    }
}
