//! A span: something that took time, where it stands in its trace, and what is known of it.
//!
//! Ids are made from where something begins in which log. So whoever folds a log, and however often, tells of the same spans.

use abide_core::event::{Timestamp, TraceParent};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// Which trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId(u128);

impl TraceId {
    /// Returns the trace that belongs to an id: the same digits if it is a UUID, so that one finds the other.
    pub fn of(id: &str) -> Self {
        let plain = id.replace('-', "");
        let same = (plain.len() == 32).then(|| u128::from_str_radix(&plain, 16).ok()).flatten();
        let made = || {
            let digest = Sha256::digest(format!("trace {id}"));
            digest.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
        };
        Self(same.filter(|trace| *trace != 0).unwrap_or_else(made))
    }

    /// Returns the last 56 bits, which every maker of ids fills at random: what a ratio is decided by.
    pub fn randomness(self) -> u64 {
        // Invariant: 56 bits fit.
        u64::try_from(self.0 & ((1 << 56) - 1)).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", self.0)
    }
}

/// Which span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId(u64);

impl SpanId {
    /// Returns the span that an event begins, by its log and its position there.
    pub fn at(log: &str, position: u64) -> Self {
        let digest = Sha256::digest(format!("span {log}/{position}"));
        let id = digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        // No span is 0.
        Self(id.max(1))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

/// Where something stands: in which trace, and under which span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The trace.
    pub trace: TraceId,
    /// The span above it.
    pub parent: Option<SpanId>,
    /// Whether whoever began the trace keeps it; nothing if that is us.
    pub sampled: Option<bool>,
}

impl Place {
    /// Returns where something stands that has an id: in the trace of whoever asked for it, or in one of its own.
    pub fn of(id: &str, asked: Option<TraceParent>) -> Self {
        match asked {
            Some(asked) => Self {
                trace: TraceId(asked.trace),
                parent: Some(SpanId(asked.span)),
                sampled: Some(asked.sampled),
            },
            None => Self { trace: TraceId::of(id), parent: None, sampled: None },
        }
    }

    /// Returns the place under a span of the same trace.
    #[must_use]
    pub fn under(self, span: SpanId) -> Self {
        Self { parent: Some(span), ..self }
    }
}

/// What a span is to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// It happens here.
    Internal,
    /// Somebody else is asked.
    Client,
}

/// What is known of a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// A text.
    Text(String),
    /// A number.
    Count(u64),
    /// Yes or no.
    Flag(bool),
    /// Several texts.
    Texts(Vec<String>),
}

/// Named attributes, in the order in which they were found out.
pub type Attributes = Vec<(&'static str, Attribute)>;

/// Something that happened at a moment of a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanEvent {
    /// When.
    pub at: Timestamp,
    /// What.
    pub name: &'static str,
    /// What is known of it.
    pub attributes: Attributes,
}

/// Something that took time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Where it stands.
    pub place: Place,
    /// Its id.
    pub id: SpanId,
    /// What it is called.
    pub name: String,
    /// What it is to others.
    pub kind: SpanKind,
    /// When it began.
    pub from: Timestamp,
    /// When it ended.
    pub until: Timestamp,
    /// What is known of it.
    pub attributes: Attributes,
    /// What happened meanwhile.
    pub events: Vec<SpanEvent>,
    /// The word for what went wrong; never a text that something of a run could have written.
    pub error: Option<String>,
}

impl Span {
    /// Begins a span, which is as long as a moment until it is ended.
    pub(super) fn begin(place: Place, id: SpanId, name: String, at: Timestamp) -> Self {
        Self {
            place,
            id,
            name,
            kind: SpanKind::Internal,
            from: at,
            until: at,
            attributes: Vec::new(),
            events: Vec::new(),
            error: None,
        }
    }

    /// Ends it, well or not.
    #[must_use]
    pub(super) fn end(mut self, at: Timestamp, error: Option<&str>) -> Self {
        self.until = at.max(self.from);
        self.error = error.map(str::to_owned);
        self
    }

    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: Attribute) -> Self {
        self.attributes.push((name, value));
        self
    }

    #[must_use]
    pub(super) fn text(self, name: &'static str, value: impl Into<String>) -> Self {
        self.with(name, Attribute::Text(value.into()))
    }

    #[must_use]
    pub(super) fn count(self, name: &'static str, value: impl Into<u64>) -> Self {
        self.with(name, Attribute::Count(value.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_the_digits_of_a_uuid_and_everything_else_has_a_digest() {
        let uuid = "0193a5f0-1111-7222-8333-444455556666";
        assert_eq!(TraceId::of(uuid).to_string(), "0193a5f0111172228333444455556666");
        assert_eq!(TraceId::of("run-1").to_string().len(), 32);
        assert_ne!(TraceId::of("run-1"), TraceId::of("run-2"));
        assert_eq!(TraceId::of("run-1"), TraceId::of("run-1"));
        assert_ne!(TraceId::of("00000000-0000-0000-0000-000000000000").to_string(), "0".repeat(32));
        assert_eq!(TraceId::of(uuid).randomness(), 0x0033_4444_5555_6666);
        assert_ne!(SpanId::at("run-1", 1), SpanId::at("run-1", 2));
        assert_ne!(SpanId::at("run-1", 1), SpanId::at("run-2", 1));
    }
}
