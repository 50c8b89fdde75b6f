//! Appending: positions, conflicts, what is kept.

use super::{Subject, all, append, assert_refused, event, kinds};
use crate::ManualClock;
use abide_engine::port::{Appended, NO_HASH, NewEvent, Store as _, StoreError, Stored, link};

/// The first event is event 1, and all of it is as the port says.
pub async fn a_new_stream_begins_at_event_one(subject: impl Subject, clock: ManualClock) {
    let store = subject.open();
    let (at, stream) = (clock.now(), "run-1");
    let appended = append(&store, stream, 0, &["a", "b"]).await.unwrap();
    let first = link(NO_HASH, stream, 1, at, "a", r#"{"of":"a"}"#);
    let second = link(&first, stream, 2, at, "b", r#"{"of":"b"}"#);
    assert_eq!(appended, Appended { seq: 2, hash: second.clone() });
    let stored = |seq, kind: &str, previous: &str, hash: &str| Stored {
        seq,
        at,
        kind: kind.to_owned(),
        data: event(kind).data,
        previous: previous.to_owned(),
        hash: hash.to_owned(),
    };
    assert_eq!(all(&store, stream).await, [stored(1, "a", NO_HASH, &first), stored(2, "b", &first, &second)]);
}

/// Appends follow each other without a gap, in their order.
pub async fn positions_have_no_gaps(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    for seq in 0..10 {
        let appended = append(&store, "s", seq * 2, &["even", "odd"]).await.unwrap();
        assert_eq!(appended.seq, seq * 2 + 2);
    }
    let events = all(&store, "s").await;
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>());
    assert!(events.chunks(2).all(|pair| pair[0].kind == "even" && pair[1].kind == "odd"));
}

/// Another `expected` than the last event is a conflict, and nothing is written.
pub async fn an_old_picture_is_a_conflict(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    assert_refused!(append(&store, "s", 1, &["x"]).await, StoreError::Conflict { expected: 1, found: 0, .. });
    assert_eq!(store.head("s").await.unwrap(), None);
    append(&store, "s", 0, &["a", "b"]).await.unwrap();
    let head = store.head("s").await.unwrap();
    for wrong in [0, 1, 3, u64::MAX] {
        let refused = store.append("s", wrong, None, vec![event("x")], "other".to_owned()).await;
        assert_refused!(refused, StoreError::Conflict { expected, found: 2, .. } if expected == wrong);
    }
    assert_eq!(kinds(&store, "s").await, ["a", "b"]);
    assert_eq!(store.head("s").await.unwrap(), head);
}

/// Without events the answer is the present end, and nothing is written.
pub async fn nothing_is_appended_without_events(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let nothing = Appended { seq: 0, hash: NO_HASH.to_owned() };
    assert_eq!(append(&store, "s", 0, &[]).await.unwrap(), nothing);
    assert_eq!(store.head("s").await.unwrap(), None);
    let end = append(&store, "s", 0, &["a"]).await.unwrap();
    let head = store.head("s").await.unwrap();
    assert_eq!(store.append("s", 1, None, Vec::new(), "other".to_owned()).await.unwrap(), end);
    assert_refused!(append(&store, "s", 0, &[]).await, StoreError::Conflict { .. });
    assert_eq!(store.head("s").await.unwrap(), head);
}

/// A line end in a name would make two events look alike to the hash.
pub async fn line_ends_in_names_are_refused(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    assert_refused!(append(&store, "s\n1", 0, &["a"]).await, StoreError::Other { .. });
    assert_refused!(append(&store, "s", 0, &["a", "b\nc"]).await, StoreError::Other { .. });
    assert_eq!(store.head("s").await.unwrap(), None);
}

/// Data, kinds and names come back as they were given, whatever is in them.
pub async fn any_text_is_kept(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let texts = ["", " ", "line\nend\r\n", "nul\0nul", "é 漢 🦀 \u{202e}", "'; DROP TABLE events; --"];
    let large = "x".repeat(3_000_000);
    for (expected, text) in (0..).zip(texts.into_iter().chain([&*large])) {
        let event = NewEvent { kind: "k'\"é\0".to_owned(), data: text.to_owned() };
        store.append("s'\"é", expected, None, vec![event], text.to_owned()).await.unwrap();
        let events = store.read("s'\"é", expected + 1..expected + 2).await.unwrap();
        assert_eq!((&*events[0].kind, &*events[0].data), ("k'\"é\0", text));
        assert_eq!(store.head("s'\"é").await.unwrap().unwrap().summary, text);
    }
}

/// An append replaces the summary.
pub async fn the_summary_is_the_last_one(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    for (expected, summary) in [(0, "one"), (1, "two"), (2, "")] {
        store.append("s", expected, None, vec![event("e")], summary.to_owned()).await.unwrap();
        assert_eq!(store.head("s").await.unwrap().unwrap().summary, summary);
    }
}

/// A clock that is set back does not make an event older than the one before it.
pub async fn time_does_not_go_back_within_a_stream(subject: impl Subject, clock: ManualClock) {
    let store = subject.open();
    for (expected, now) in (0..).zip([1000, 500, 1500, -3]) {
        clock.set(now);
        append(&store, "s", expected, &["e"]).await.unwrap();
    }
    let times: Vec<_> = all(&store, "s").await.into_iter().map(|event| event.at).collect();
    assert_eq!(times, [1000, 1000, 1500, 1500]);
    append(&store, "another", 0, &["e"]).await.unwrap();
    assert_eq!(all(&store, "another").await[0].at, -3);
}
