//! The chain of hashes that makes a changed log visible. Written once here, so that every store and `audit verify`
//! mean the same by it.

use super::{NewEvent, StoreError, Stored};
use sha2::{Digest as _, Sha256};

/// The hash before the first event.
pub const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Returns the hash of an event: `sha256(previous ‖ stream ‖ seq ‖ at ‖ kind ‖ data)` in hexadecimal, each field
/// as text and followed by a line end.
///
/// Neither `stream` nor `kind` has a line end in it, so that no two events are the same text.
pub fn link(previous: &str, stream: &str, seq: u64, at: i64, kind: &str, data: &str) -> String {
    let mut hash = Sha256::new();
    for field in [previous, stream, &seq.to_string(), &at.to_string(), kind, data] {
        hash.update(field);
        hash.update(b"\n");
    }
    let mut text = String::with_capacity(NO_HASH.len());
    for byte in hash.finalize() {
        // Not `write!`: it takes longer than the hash itself.
        text.push(char::from(HEX[usize::from(byte >> 4)]));
        text.push(char::from(HEX[usize::from(byte & 15)]));
    }
    text
}

/// The last event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Its position.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
    /// When it was appended.
    pub at: i64,
}

/// Returns new events as they lie in the log behind the end of a stream.
pub fn chained(stream: &str, end: Option<&End>, now: i64, events: Vec<NewEvent>) -> Vec<Stored> {
    // A clock that was set back does not make an event older than the one before it.
    let at = end.map_or(now, |end| end.at.max(now));
    let mut previous = end.map_or_else(|| NO_HASH.to_owned(), |end| end.hash.clone());
    let first = end.map_or(0, |end| end.seq) + 1;
    (first..)
        .zip(events)
        .map(|(seq, NewEvent { kind, data })| {
            let hash = link(&previous, stream, seq, at, &kind, &data);
            let previous = std::mem::replace(&mut previous, hash.clone());
            Stored { seq, at, kind, data, previous, hash }
        })
        .collect()
}

/// Checks that events follow each other and the event before them, and that each is what its hash says.
///
/// `previous` is the hash of the event before the first one, or [`NO_HASH`]; `first` is the position that the first
/// one must have.
pub fn verify(stream: &str, previous: &str, first: u64, events: &[Stored]) -> Result<(), StoreError> {
    let mut previous = previous;
    for (seq, event) in (first..).zip(events) {
        let damaged = |what: String| Err(StoreError::Damaged { stream: stream.to_owned(), seq, what });
        if event.seq != seq {
            return damaged(format!("it is missing, and event {} follows", event.seq));
        }
        if event.previous != previous {
            return damaged("it does not follow the event before it".to_owned());
        }
        if event.hash != link(&event.previous, stream, seq, event.at, &event.kind, &event.data) {
            return damaged("its content is not what its hash says".to_owned());
        }
        previous = &event.hash;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(stream: &str, kinds: &[&str]) -> Vec<Stored> {
        let mut previous = NO_HASH.to_owned();
        (1..)
            .zip(kinds)
            .map(|(seq, kind)| {
                let hash = link(&previous, stream, seq, 5, kind, "{}");
                let previous = std::mem::replace(&mut previous, hash.clone());
                Stored { seq, at: 5, kind: (*kind).into(), data: "{}".into(), previous, hash }
            })
            .collect()
    }

    #[test]
    fn the_hash_is_what_sha256sum_says() {
        // printf '%064d\nrun-1\n1\n1700000000000\nrun.created\n{"a":1}\n' 0 | sha256sum
        assert_eq!(
            link(NO_HASH, "run-1", 1, 1_700_000_000_000, "run.created", r#"{"a":1}"#),
            "287558fc2934eee723bd09a92bb537e66c0a44f9d5bf697fae836dd7eeb64e72"
        );
    }

    #[test]
    fn a_log_that_was_not_touched_is_fine_from_anywhere() {
        let events = log("s", &["a", "b", "c"]);
        verify("s", NO_HASH, 1, &events).unwrap();
        verify("s", &events[0].hash, 2, &events[1..]).unwrap();
        verify("s", NO_HASH, 1, &[]).unwrap();
    }

    #[test]
    fn every_change_is_damage_and_says_where() {
        let change = |what: fn(&mut Vec<Stored>)| {
            let mut events = log("s", &["a", "b", "c"]);
            what(&mut events);
            verify("s", NO_HASH, 1, &events).unwrap_err().to_string()
        };
        let content = "the log of s is damaged at event 2: its content is not what its hash says";
        assert_eq!(change(|events| events[1].data.push(' ')), content);
        assert_eq!(change(|events| events[1].kind.push(' ')), content);
        assert_eq!(change(|events| events[1].at += 1), content);
        assert_eq!(change(|events| events[1].hash = NO_HASH.to_owned()), content);
        assert_eq!(
            change(|events| events[1].previous = NO_HASH.to_owned()),
            "the log of s is damaged at event 2: it does not follow the event before it"
        );
        assert_eq!(
            change(|events| drop(events.remove(1))),
            "the log of s is damaged at event 2: it is missing, and event 3 follows"
        );
        assert!(verify("t", NO_HASH, 1, &log("s", &["a"])).is_err(), "it is another stream's");
    }
}
