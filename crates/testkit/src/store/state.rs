//! What a [`MemoryStore`](super::MemoryStore) holds, and what may be done to it.

use super::contract::Tampering;
use super::fault::Faults;
use abide_engine::port::{
    Appended, Holder, Lease, NO_HASH, NewEvent, OutputKey, Standing, StoreError, Stored, StreamHead, link,
    verify,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

#[derive(Default)]
pub(super) struct State {
    pub(super) streams: HashMap<String, Stream>,
    pub(super) outputs: BTreeMap<OutputKey, Vec<u8>>,
    leases: HashMap<String, Held>,
    pub(super) faults: Faults,
}

/// A stream; it has events.
pub(super) struct Stream {
    events: Vec<Stored>,
    /// What the last event was when it was appended: tampering does not reach it.
    pub(super) end: Appended,
    created_at: i64,
    changed_at: i64,
    summary: String,
    pub(super) snapshot: Option<(u64, String)>,
}

struct Held {
    holder: Option<Holder>,
    generation: u64,
    until: i64,
}

pub(super) fn other(reason: &str) -> StoreError {
    StoreError::Other { place: "memory".to_owned(), reason: reason.to_owned() }
}

impl State {
    pub(super) fn append(
        &mut self,
        stream: &str,
        expected: u64,
        lease: Option<&Lease>,
        events: Vec<NewEvent>,
        summary: String,
        now: i64,
    ) -> Result<Appended, StoreError> {
        if stream.contains('\n') || events.iter().any(|event| event.kind.contains('\n')) {
            return Err(other("a stream or a kind must not have a line end"));
        }
        if let Some(error) = self.faults.next(stream, expected) {
            return Err(error);
        }
        if lease.is_some_and(|lease| lease.stream != stream || !self.is_newest(lease)) {
            return Err(StoreError::LeaseLost(stream.to_owned()));
        }
        let present = self.streams.get_mut(stream);
        let mut end = match &present {
            Some(stream) => stream.end.clone(),
            None => Appended { seq: 0, hash: NO_HASH.to_owned() },
        };
        if end.seq != expected {
            return Err(StoreError::Conflict { stream: stream.to_owned(), expected, found: end.seq });
        }
        if events.is_empty() {
            return Ok(end);
        }
        let at = present.as_ref().map_or(now, |stream| stream.changed_at.max(now));
        let mut stored = Vec::with_capacity(events.len());
        for NewEvent { kind, data } in events {
            let seq = end.seq + 1;
            let hash = link(&end.hash, stream, seq, at, &kind, &data);
            stored.push(Stored { seq, at, kind, data, previous: end.hash, hash: hash.clone() });
            end = Appended { seq, hash };
        }
        match present {
            Some(present) => {
                if let Some(event) = present.events.iter().find(|event| event.seq > expected) {
                    let what = "it is there, but the stream ends before it".to_owned();
                    return Err(StoreError::Damaged { stream: stream.to_owned(), seq: event.seq, what });
                }
                present.events.extend(stored);
                present.end = end.clone();
                present.changed_at = at;
                present.summary = summary;
            }
            None => {
                let new = Stream {
                    events: stored,
                    end: end.clone(),
                    created_at: at,
                    changed_at: at,
                    summary,
                    snapshot: None,
                };
                self.streams.insert(stream.to_owned(), new);
            }
        }
        Ok(end)
    }

    pub(super) fn stream(&mut self, stream: &str) -> Result<&mut Stream, StoreError> {
        self.streams.get_mut(stream).ok_or_else(|| StoreError::Unknown(stream.to_owned()))
    }

    pub(super) fn heads(&self) -> Vec<StreamHead> {
        let mut heads: Vec<_> = self.streams.iter().map(|(name, stream)| stream.head(name)).collect();
        heads.sort_by(|a, b| (b.changed_at, &b.stream).cmp(&(a.changed_at, &a.stream)));
        heads
    }

    pub(super) fn forget(&mut self, stream: &str) -> Result<(), StoreError> {
        self.stream(stream)?;
        self.streams.remove(stream);
        self.leases.remove(stream);
        self.outputs.retain(|key, _| key.stream != stream);
        Ok(())
    }

    fn is_newest(&self, lease: &Lease) -> bool {
        self.leases.get(&lease.stream).is_some_and(|held| {
            held.generation == lease.generation
                && held.holder.as_ref().is_some_and(|holder| holder.name == lease.holder.name)
        })
    }

    pub(super) fn lease(
        &mut self,
        stream: &str,
        holder: &Holder,
        now: i64,
        until: i64,
        is_dead: &(dyn Fn(&Holder) -> bool + Send + Sync),
    ) -> Result<Lease, StoreError> {
        let generation = match self.leases.get(stream) {
            None => 1,
            Some(held) => match &held.holder {
                Some(present) if present.name == holder.name => held.generation,
                Some(present) if held.until > now && !is_dead(present) => {
                    let (stream, holder) = (stream.to_owned(), present.name.clone());
                    return Err(StoreError::Held { stream, holder });
                }
                _ => held.generation + 1,
            },
        };
        self.leases.insert(stream.to_owned(), Held { holder: Some(holder.clone()), generation, until });
        Ok(Lease { stream: stream.to_owned(), holder: holder.clone(), generation, until })
    }

    pub(super) fn standing(&self, stream: &str) -> Option<Standing> {
        let found = self.streams.get(stream)?;
        let lease = self.leases.get(stream).and_then(|held| {
            let holder = held.holder.clone()?;
            Some(Lease { stream: stream.to_owned(), holder, generation: held.generation, until: held.until })
        });
        Some(Standing { stream: stream.to_owned(), seq: found.end.seq, lease })
    }

    pub(super) fn release(&mut self, lease: &Lease) {
        if self.is_newest(lease)
            && let Some(held) = self.leases.get_mut(&lease.stream)
        {
            held.holder = None;
        }
    }

    pub(super) fn tamper(&mut self, tampering: &Tampering<'_>) {
        let name = tampering.stream();
        let events = &mut self.streams.get_mut(name).expect("a stream to tamper with").events;
        match *tampering {
            Tampering::Rewrite { seq, data, .. } => {
                let event = events.iter_mut().find(|event| event.seq == seq).expect("the event is there");
                data.clone_into(&mut event.data);
                event.hash = link(&event.previous, name, seq, event.at, &event.kind, data);
            }
            Tampering::Edit { seq, data, .. } => {
                let event = events.iter_mut().find(|event| event.seq == seq).expect("the event is there");
                data.clone_into(&mut event.data);
            }
            Tampering::Remove { seq, .. } => events.retain(|event| event.seq != seq),
            Tampering::Add { seq, .. } => {
                let last = events.last().expect("a stream has events");
                events.push(Stored { seq, ..last.clone() });
            }
        }
    }
}

impl Stream {
    pub(super) fn head(&self, stream: &str) -> StreamHead {
        StreamHead {
            stream: stream.to_owned(),
            seq: self.end.seq,
            created_at: self.created_at,
            changed_at: self.changed_at,
            summary: self.summary.clone(),
        }
    }

    pub(super) fn read(&self, stream: &str, asked: &Range<u64>) -> Result<Vec<Stored>, StoreError> {
        let positions = asked.start.max(1)..asked.end.min(self.end.seq + 1);
        if positions.is_empty() {
            return Ok(Vec::new());
        }
        let damaged = |seq, what: &str| {
            Err(StoreError::Damaged { stream: stream.to_owned(), seq, what: what.to_owned() })
        };
        let before = positions.start - 1;
        let previous = match before {
            0 => NO_HASH,
            _ => match self.events.iter().find(|event| event.seq == before) {
                Some(event) => &event.hash,
                None => return damaged(before, "it is missing"),
            },
        };
        let events: Vec<_> =
            self.events.iter().filter(|event| positions.contains(&event.seq)).cloned().collect();
        verify(stream, previous, positions.start, &events)?;
        let next = positions.start + events.len() as u64;
        if next < positions.end {
            return damaged(next, "it is missing");
        }
        if next > self.end.seq && events.last().is_some_and(|last| last.hash != self.end.hash) {
            return damaged(self.end.seq, "it is not the event that the stream ended with");
        }
        Ok(events)
    }
}
