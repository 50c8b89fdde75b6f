//! Outputs: bytes as they were written, by range.

use super::{Subject, append, assert_refused};
use crate::ManualClock;
use abide_engine::port::{OutputKey, Store as _, StoreError};
use std::sync::Arc;
use tokio::task::JoinSet;

pub(super) fn key(stream: &str, attempt: &str) -> OutputKey {
    OutputKey { stream: stream.to_owned(), attempt: attempt.to_owned(), channel: "stdout" }
}

/// Bytes that do not repeat at any length that a store might cut at.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// What was written in pieces of any size is read in ranges of any size.
pub async fn bytes_come_back_exactly(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    append(&store, "s", 0, &["a"]).await.unwrap();
    let whole = noise(700_000);
    let mut rest = &*whole;
    for length in [0, 1, 5, 4000, 4096, 90, 65_536, 10, 65_537, 200_001, 3, 0, 4095, 1].iter().cycle() {
        let (piece, left) = rest.split_at(rest.len().min(*length));
        store.write_output(&key("s", "a#1"), piece.to_vec()).await.unwrap();
        rest = left;
        if rest.is_empty() {
            break;
        }
    }
    assert!(store.read_output(&key("s", "a#1"), 0..u64::MAX).await.unwrap() == whole);
    let edges = [0, 1, 2, 6, 4005, 4006, 4007, 8101, 65_536, 139_999, 350_000, 699_999, 700_000, 700_001];
    for start in edges {
        for end in edges {
            let found = store.read_output(&key("s", "a#1"), start as u64..end as u64).await.unwrap();
            let expected = whole.get(start..end.min(whole.len())).unwrap_or_default();
            assert!(found == expected, "{start}..{end}: {} bytes", found.len());
        }
    }
}

/// A step that writes a few bytes at a time has one output.
pub async fn many_small_writes_are_one_output(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    append(&store, "s", 0, &["a"]).await.unwrap();
    let mut whole = Vec::new();
    for line in 0..2000 {
        let line = format!("line {line}\n").into_bytes();
        whole.extend_from_slice(&line);
        store.write_output(&key("s", "a#1"), line).await.unwrap();
    }
    assert!(store.read_output(&key("s", "a#1"), 0..u64::MAX).await.unwrap() == whole);
    assert!(store.read_output(&key("s", "a#1"), 5000..5100).await.unwrap() == whole[5000..5100]);
}

/// Streams, attempts and channels do not mix.
pub async fn outputs_are_kept_apart(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let stderr = OutputKey { channel: "stderr", ..key("s", "a#1") };
    let keys = [key("s", "a#1"), stderr, key("s", "a#2"), key("s", "a#"), key("s", ""), key("t", "a#1")];
    append(&store, "s", 0, &["a"]).await.unwrap();
    append(&store, "t", 0, &["a"]).await.unwrap();
    for round in 0..2 {
        for (index, key) in keys.iter().enumerate() {
            store.write_output(key, format!("{round}{index} ").into_bytes()).await.unwrap();
        }
    }
    for (index, key) in keys.iter().enumerate() {
        let found = store.read_output(key, 0..99).await.unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), format!("0{index} 1{index} "));
    }
    assert_eq!(store.read_output(&key("s", "b#1"), 0..99).await.unwrap(), b"");
    assert_eq!(store.read_output(&key("u", "a#1"), 0..99).await.unwrap(), b"");
}

/// There are no outputs of a stream that is not there: nobody would ever forget them.
pub async fn an_output_needs_its_stream(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let refused = store.write_output(&key("s", "a#1"), b"lost".to_vec()).await;
    assert_refused!(refused, StoreError::Unknown(stream) if stream == "s");
    append(&store, "s", 0, &["a"]).await.unwrap();
    assert_eq!(store.read_output(&key("s", "a#1"), 0..99).await.unwrap(), b"");
}

/// Calls at the same time, here and in another process, write their bytes one after the other.
pub async fn calls_that_overlap_keep_whole_pieces(subject: impl Subject, _: ManualClock) {
    let stores = [Arc::new(subject.open()), Arc::new(subject.open())];
    append(&*stores[0], "s", 0, &["a"]).await.unwrap();
    let mut tasks = JoinSet::new();
    for byte in 0..32_u8 {
        let store = stores[usize::from(byte) % 2].clone();
        tasks.spawn(async move { store.write_output(&key("s", "a#1"), vec![byte; 1000]).await.unwrap() });
    }
    tasks.join_all().await;
    let whole = stores[0].read_output(&key("s", "a#1"), 0..u64::MAX).await.unwrap();
    let mut seen: Vec<u8> = whole.chunks(1000).map(|piece| piece[0]).collect();
    assert!(whole.chunks(1000).all(|piece| piece.iter().all(|byte| *byte == piece[0])));
    seen.sort_unstable();
    assert_eq!(seen, (0..32).collect::<Vec<_>>());
}
