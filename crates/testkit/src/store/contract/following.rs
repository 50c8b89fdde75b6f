//! Following: whoever waits for a stream is woken.

use super::{Subject, append};
use crate::ManualClock;
use abide_engine::port::Store;
use std::sync::Arc;
use std::time::Duration;

/// Waits until a stream really has more events; `changed` may return early.
async fn follow(store: &impl Store, stream: &str, seq: u64) {
    while store.head(stream).await.unwrap().is_none_or(|head| head.seq <= seq) {
        store.changed(stream, seq).await.unwrap();
    }
}

/// Lets a task follow, and gives it the time to begin waiting.
async fn following<S: Store>(store: &Arc<S>, stream: &str, seq: u64) -> tokio::task::JoinHandle<()> {
    let (store, stream) = (store.clone(), stream.to_owned());
    let task = tokio::spawn(async move { follow(&*store, &stream, seq).await });
    tokio::time::sleep(Duration::from_millis(120)).await;
    assert!(!task.is_finished(), "there is nothing yet");
    task
}

/// Fails if a task is not woken soon.
async fn is_woken(task: tokio::task::JoinHandle<()>, within: Duration) {
    tokio::time::timeout(within, task).await.expect("it is woken").unwrap();
}

const SOON: Duration = Duration::from_secs(10);

/// A stream that has more already is not waited for.
pub async fn what_has_changed_returns_at_once(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    append(&store, "s", 0, &["a", "b"]).await.unwrap();
    for seq in [0, 1] {
        store.changed("s", seq).await.unwrap();
    }
}

/// An append wakes everybody who waits for that stream.
pub async fn an_append_wakes(subject: impl Subject, _: ManualClock) {
    let store = Arc::new(subject.open());
    append(&*store, "s", 0, &["a"]).await.unwrap();
    let tasks = [following(&store, "s", 1).await, following(&store, "s", 1).await];
    append(&*store, "s", 1, &["b"]).await.unwrap();
    for task in tasks {
        is_woken(task, SOON).await;
    }
}

/// An append of another process wakes too.
pub async fn another_process_wakes(subject: impl Subject, _: ManualClock) {
    let (here, there) = (Arc::new(subject.open()), subject.open());
    append(&there, "s", 0, &["a"]).await.unwrap();
    for seq in 1..4 {
        let task = following(&here, "s", seq).await;
        append(&there, "other", seq - 1, &["x"]).await.unwrap();
        append(&there, "s", seq, &["b"]).await.unwrap();
        is_woken(task, SOON).await;
    }
}

/// A stream can be waited for before it begins.
pub async fn a_stream_that_is_to_come_wakes(subject: impl Subject, _: ManualClock) {
    let store = Arc::new(subject.open());
    let task = following(&store, "s", 0).await;
    append(&*store, "s", 0, &["a"]).await.unwrap();
    is_woken(task, SOON).await;
}

/// Whoever follows a stream that is forgotten does not wait for ever.
pub async fn forgetting_wakes(subject: impl Subject, _: ManualClock) {
    let store = Arc::new(subject.open());
    append(&*store, "s", 0, &["a"]).await.unwrap();
    let task = tokio::spawn({
        let store = store.clone();
        async move { store.changed("s", 1).await.unwrap() }
    });
    tokio::time::sleep(Duration::from_millis(120)).await;
    store.forget("s").await.unwrap();
    is_woken(task, SOON).await;
}
