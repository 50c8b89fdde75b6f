//! Heads: what is known about streams without reading them.

use super::{Subject, append};
use crate::ManualClock;
use abide_engine::port::{Store as _, StreamHead};

/// A head has the length, both times and the summary.
pub async fn a_head_says_what_is_known(subject: impl Subject, clock: ManualClock) {
    let store = subject.open();
    clock.set(100);
    append(&store, "s", 0, &["a", "b"]).await.unwrap();
    clock.set(250);
    append(&store, "s", 2, &["c"]).await.unwrap();
    let summary = r#"{"a":"summary"}"#.to_owned();
    let head = StreamHead { stream: "s".to_owned(), seq: 3, created_at: 100, changed_at: 250, summary };
    assert_eq!(store.head("s").await.unwrap(), Some(head.clone()));
    assert_eq!(store.heads(None, 5).await.unwrap(), [head]);
}

/// The stream that changed last is first.
pub async fn heads_come_newest_first(subject: impl Subject, clock: ManualClock) {
    let store = subject.open();
    for (now, stream, expected) in [(1, "a", 0), (2, "b", 0), (3, "c", 0), (4, "a", 1)] {
        clock.set(now);
        append(&store, stream, expected, &["e"]).await.unwrap();
    }
    let heads = store.heads(None, 2).await.unwrap();
    assert_eq!(heads.iter().map(|head| &*head.stream).collect::<Vec<_>>(), ["a", "c"]);
    let rest = store.heads(Some(&heads[1].place()), 2).await.unwrap();
    assert_eq!(rest.iter().map(|head| &*head.stream).collect::<Vec<_>>(), ["b"]);
    assert_eq!(store.heads(Some(&rest[0].place()), 2).await.unwrap(), []);
    assert_eq!(store.heads(None, 0).await.unwrap(), []);
}

/// Pages of streams that changed in the same millisecond hold each of them once.
pub async fn heads_of_one_moment_are_paged_without_loss(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    for stream in 0..25 {
        append(&store, &format!("s{stream:02}"), 0, &["e"]).await.unwrap();
    }
    let mut found: Vec<String> = Vec::new();
    let mut place = None;
    loop {
        let page = store.heads(place.as_ref(), 4).await.unwrap();
        let Some(last) = page.last() else { break };
        place = Some(last.place());
        found.extend(page.into_iter().map(|head| head.stream));
    }
    let expected: Vec<_> = (0..25).rev().map(|stream| format!("s{stream:02}")).collect();
    assert_eq!(found, expected);
    assert_eq!(store.heads(None, usize::MAX).await.unwrap().len(), 25);
}
