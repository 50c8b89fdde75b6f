//! Snapshots: the newest one stays.

use super::{Subject, append, assert_refused};
use crate::ManualClock;
use abide_engine::port::{Store as _, StoreError};

/// A snapshot replaces an older one, never a newer one.
pub async fn the_newest_snapshot_stays(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    append(&store, "s", 0, &["a", "b", "c"]).await.unwrap();
    assert_eq!(store.snapshot("s").await.unwrap(), None);
    for (seq, data, newest) in [
        (1, "one", (1, "one")),
        (3, "three", (3, "three")),
        (2, "two", (3, "three")),
        (3, "again", (3, "again")),
    ] {
        store.save_snapshot("s", seq, data.to_owned()).await.unwrap();
        assert_eq!(store.snapshot("s").await.unwrap(), Some((newest.0, newest.1.to_owned())));
    }
    append(&store, "s", 3, &["d"]).await.unwrap();
    assert_eq!(store.snapshot("s").await.unwrap(), Some((3, "again".to_owned())));
    let large = "é\0".repeat(1_000_000);
    store.save_snapshot("s", 4, large.clone()).await.unwrap();
    assert_eq!(subject.open().snapshot("s").await.unwrap(), Some((4, large)));
}

/// A snapshot of events that are not there is refused.
pub async fn a_snapshot_needs_its_events(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let unknown = store.save_snapshot("s", 1, String::new()).await;
    assert_refused!(unknown, StoreError::Unknown(stream) if stream == "s");
    append(&store, "s", 0, &["a"]).await.unwrap();
    let early = store.save_snapshot("s", 2, String::new()).await;
    assert_refused!(early, StoreError::Conflict { expected: 2, found: 1, .. });
    assert_eq!(store.snapshot("s").await.unwrap(), None);
}
