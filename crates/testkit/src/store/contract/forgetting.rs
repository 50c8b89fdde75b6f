//! Forgetting: whole streams, with everything that belongs to them.

use super::leasing::{alive, holder};
use super::outputs::key;
use super::{Subject, append, assert_refused, event, kinds};
use crate::ManualClock;
use abide_engine::port::{Extent, Store as _, StoreError};

/// Nothing of a forgotten stream is found, other streams are untouched, and its name can be used again.
pub async fn a_forgotten_stream_leaves_nothing(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    assert_refused!(store.forget("s").await, StoreError::Unknown(stream) if stream == "s");
    for stream in ["s", "s2"] {
        append(&store, stream, 0, &["a", "b"]).await.unwrap();
        store.save_snapshot(stream, 1, "snapshot".to_owned()).await.unwrap();
        store.write_output(&key(stream, "step#1"), b"output".to_vec()).await.unwrap();
    }
    store.forget("s").await.unwrap();
    assert_eq!(store.head("s").await.unwrap(), None);
    assert_eq!(store.snapshot("s").await.unwrap(), None);
    assert_eq!(store.read_output(&key("s", "step#1"), 0..99).await.unwrap(), b"");
    assert_refused!(store.read("s", 0..9).await, StoreError::Unknown(_));
    assert_refused!(store.forget("s").await, StoreError::Unknown(_));
    assert_eq!(kinds(&store, "s2").await, ["a", "b"]);
    assert_eq!(store.read_output(&key("s2", "step#1"), 0..99).await.unwrap(), b"output");
    assert_eq!(append(&store, "s", 0, &["again"]).await.unwrap().seq, 1);
    assert_eq!(kinds(&store, "s").await, ["again"]);
}

/// A driver that still works on a forgotten stream finds that it has lost it, even if it begins again.
pub async fn a_forgotten_stream_is_lost_to_its_driver(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let lease = store.lease("s", &holder("ada"), 0, 100, &alive).await.unwrap();
    store.append("s", 0, Some(&lease), vec![event("a")], String::new()).await.unwrap();
    store.forget("s").await.unwrap();
    let late = store.append("s", 1, Some(&lease), vec![event("b")], String::new()).await;
    assert_refused!(late, StoreError::LeaseLost(_));
    store.lease("s", &holder("bob"), 0, 100, &alive).await.unwrap();
    let late = store.append("s", 0, Some(&lease), vec![event("b")], String::new()).await;
    assert_refused!(late, StoreError::LeaseLost(_));
}

/// How many streams there are, and when the one changed that changed longest ago, is known without reading them.
pub async fn the_extent_follows_what_is_there(subject: impl Subject, clock: ManualClock) {
    let store = subject.open();
    assert_eq!(store.extent().await.unwrap(), Extent::default());
    let begin = clock.now();
    for stream in ["a", "b", "c"] {
        append(&store, stream, 0, &["first"]).await.unwrap();
        clock.set(clock.now() + 10);
    }
    assert_eq!(store.extent().await.unwrap(), Extent { streams: 3, oldest: Some(begin) });
    append(&store, "a", 1, &["second"]).await.unwrap();
    assert_eq!(store.extent().await.unwrap(), Extent { streams: 3, oldest: Some(begin + 10) });
    // Who waits for a stream that has no events yet does not count.
    store.lease("d", &holder("ada"), 0, 100, &alive).await.unwrap();
    store.forget("b").await.unwrap();
    assert_eq!(store.extent().await.unwrap(), Extent { streams: 2, oldest: Some(begin + 20) });
}

/// Outputs of any size are forgotten with their stream.
pub async fn large_outputs_are_forgotten_too(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    append(&store, "s", 0, &["a"]).await.unwrap();
    for attempt in 0..3 {
        for _ in 0..50 {
            store.write_output(&key("s", &format!("step#{attempt}")), vec![7; 70_000]).await.unwrap();
        }
    }
    store.forget("s").await.unwrap();
    append(&store, "s", 0, &["a"]).await.unwrap();
    for attempt in 0..3 {
        let left = store.read_output(&key("s", &format!("step#{attempt}")), 0..u64::MAX).await.unwrap();
        assert_eq!(left.len(), 0);
    }
}
