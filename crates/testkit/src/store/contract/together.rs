//! Several at once: tasks of one process, and processes on one log.

use super::{Subject, all, append, assert_refused, kinds};
use crate::ManualClock;
use abide_engine::port::{Store as _, StoreError};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use tokio::task::JoinSet;

/// Of many appends with the same `expected` exactly one succeeds; the others are told where the log is.
pub async fn of_equal_appends_one_wins(subject: impl Subject, _: ManualClock) {
    let store = Arc::new(subject.open());
    for expected in 0..5 {
        let mut tasks = JoinSet::new();
        for task in 0..64 {
            let store = store.clone();
            tasks.spawn(async move { append(&*store, "s", expected, &[&format!("by {task}")]).await });
        }
        let results = tasks.join_all().await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for result in results.into_iter().filter(Result::is_err) {
            assert_refused!(result, StoreError::Conflict { found, .. } if found == expected + 1);
        }
    }
    assert_eq!(all(&*store, "s").await.len(), 5);
}

/// Appends to many streams at once all succeed, each stream in its order.
pub async fn streams_do_not_disturb_each_other(subject: impl Subject, _: ManualClock) {
    let store = Arc::new(subject.open());
    let mut tasks = JoinSet::new();
    for stream in 0..48 {
        let store = store.clone();
        tasks.spawn(async move {
            for seq in 0..10 {
                let kind = format!("{stream}/{seq}");
                let appended = append(&*store, &format!("s{stream}"), seq, &[&kind]).await.unwrap();
                assert_eq!(appended.seq, seq + 1);
            }
        });
    }
    tasks.join_all().await;
    for stream in 0..48 {
        let expected: Vec<_> = (0..10).map(|seq| format!("{stream}/{seq}")).collect();
        assert_eq!(kinds(&*store, &format!("s{stream}")).await, expected);
    }
}

/// Appends that are refused do not fail those that share a commit with them.
pub async fn a_refusal_does_not_touch_the_others(subject: impl Subject, _: ManualClock) {
    let store = Arc::new(subject.open());
    let mut tasks = JoinSet::new();
    for stream in 0..64 {
        let store = store.clone();
        tasks.spawn(async move {
            let wrong = stream % 2;
            (wrong, append(&*store, &format!("s{stream}"), wrong, &["e", "f"]).await)
        });
    }
    for (wrong, result) in tasks.join_all().await {
        match wrong {
            0 => assert_eq!(result.unwrap().seq, 2),
            _ => assert_refused!(result, StoreError::Conflict { .. }),
        }
    }
    assert_eq!(store.heads(None, 1000).await.unwrap().len(), 32);
}

/// What one process appended, another one reads, and an append that does not know of it is a conflict.
pub async fn another_process_is_seen(subject: impl Subject, _: ManualClock) {
    let (here, there) = (subject.open(), subject.open());
    append(&here, "s", 0, &["a"]).await.unwrap();
    assert_eq!(kinds(&there, "s").await, ["a"]);
    assert_refused!(append(&there, "s", 0, &["x"]).await, StoreError::Conflict { .. });
    append(&there, "s", 1, &["b"]).await.unwrap();
    assert_eq!(kinds(&here, "s").await, ["a", "b"]);
}

/// Two processes that append to one stream both come forward, and their events are in one chain.
pub async fn one_log_has_two_writers(subject: impl Subject, _: ManualClock) {
    let mut tasks = JoinSet::new();
    for name in ["here", "there"] {
        let store = subject.open();
        tasks.spawn(async move {
            let (mut mine, mut end) = (0, 0);
            while mine < 50 {
                match append(&store, "s", end, &[name]).await {
                    Ok(appended) => (mine, end) = (mine + 1, appended.seq),
                    Err(StoreError::Conflict { found, .. }) => end = found,
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }
    tasks.join_all().await;
    let kinds = kinds(&subject.open(), "s").await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "here").count(), 50);
    assert_eq!(kinds.len(), 100);
}

/// An append whose caller has gone away is there as a whole, or not at all.
pub async fn a_dropped_append_is_whole_or_not_there(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    for stream in 0..20 {
        let stream = format!("s{stream}");
        {
            let dropped = pin!(append(&store, &stream, 0, &["a", "b", "c"]));
            let _ = dropped.poll(&mut Context::from_waker(Waker::noop()));
        }
        // Whatever was queued before this is done when it returns.
        append(&store, "other", store.head("other").await.unwrap().map_or(0, |head| head.seq), &["x"])
            .await
            .unwrap();
        if store.head(&stream).await.unwrap().is_some() {
            assert_eq!(kinds(&store, &stream).await, ["a", "b", "c"]);
        }
    }
}
