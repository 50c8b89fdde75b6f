//! The log: the only thing that is stored about a run, and what is kept beside it.
//!
//! A store knows streams (one per run), events in them, outputs of steps, leases and snapshots. It does not
//! know what an event means: its data is text that core has written and core will read.

use std::future::Future;
use std::ops::Range;

/// An event that is about to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// What happened, such as `step.started`.
    pub kind: String,
    /// The rest, as JSON text.
    pub data: String,
}

/// An event as it lies in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its position in the stream, from 1 without gaps.
    pub seq: u64,
    /// When it was appended, in milliseconds since 1970.
    pub at: i64,
    /// What happened.
    pub kind: String,
    /// The rest, as JSON text.
    pub data: String,
    /// The hash of the event before it; of the first one, 64 zeros.
    pub previous: String,
    /// `sha256(previous ‖ stream ‖ seq ‖ at ‖ kind ‖ data)`, each field followed by a line end, in hexadecimal.
    pub hash: String,
}

/// What came of appending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The position of the last event.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
}

/// The end of a stream, and what is known about it without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamHead {
    /// The stream.
    pub stream: String,
    /// How many events it has.
    pub seq: u64,
    /// When the first one was appended.
    pub created_at: i64,
    /// When the last one was appended.
    pub changed_at: i64,
    /// What the writer said about the stream when it appended last, as JSON text; see [`Store::append`].
    pub summary: String,
}

/// Which output of which attempt of which step.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutputKey {
    /// The stream.
    pub stream: String,
    /// The step and its attempt, such as `deploy[eu]#2`.
    pub attempt: String,
    /// `stdout` or `stderr`.
    pub channel: &'static str,
}

/// Who works on a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// A name that no other process has: host, process id and start time.
    pub name: String,
    /// The process, to look whether it lives.
    pub process: u32,
}

/// The right to append to a stream, for a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The stream.
    pub stream: String,
    /// Who has it.
    pub holder: Holder,
    /// Grows with every new holder; an append with an older one is refused.
    pub generation: u64,
    /// When it ends unless it is renewed, in milliseconds since 1970.
    pub until: i64,
}

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Somebody else has appended: the caller's picture of the stream is old.
    #[error("the log of {stream} has moved on: expected event {expected}, found {found}")]
    Conflict {
        /// The stream.
        stream: String,
        /// What the caller thought the last event was.
        expected: u64,
        /// What it is.
        found: u64,
    },
    /// Another driver has the stream.
    #[error("{stream} is being driven by {holder}")]
    Held {
        /// The stream.
        stream: String,
        /// Who has it.
        holder: String,
    },
    /// The caller's lease has ended, and somebody else may have taken over.
    #[error("the lease on {0} has been lost")]
    LeaseLost(String),
    /// There is no such stream.
    #[error("there is no run {0}")]
    Unknown(String),
    /// What was read is not what was written.
    #[error("the log of {stream} is damaged at event {seq}: {what}")]
    Damaged {
        /// The stream.
        stream: String,
        /// Where.
        seq: u64,
        /// What does not fit.
        what: String,
    },
    /// The disk is full, read-only or gone; nothing was written.
    #[error("cannot write to {place}: {reason}")]
    Unwritable {
        /// The file or database.
        place: String,
        /// The system's reason.
        reason: String,
    },
    /// Anything else of the database.
    #[error("{place}: {reason}")]
    Other {
        /// The file or database.
        place: String,
        /// Its reason.
        reason: String,
    },
}

/// The log, outputs, leases and snapshots.
///
/// Contract:
/// - `append` is atomic and durable: when it returns, all of the events survive a power cut, or none is there.
///   Appends of several streams may share one commit.
/// - `seq` has no gaps; `expected` is the last `seq` that the caller knows (0 for a new stream), and a mismatch is
///   [`StoreError::Conflict`] with nothing written. Of two appends with the same `expected` exactly one succeeds.
/// - With a lease, an append whose generation is not the newest is [`StoreError::LeaseLost`], nothing written.
/// - Reading sees every append that returned before it began.
/// - Nothing is ever changed or removed, except whole streams by [`Store::forget`].
pub trait Store: Send + Sync + 'static {
    /// Appends events; `summary` replaces what [`StreamHead::summary`] says.
    fn append(
        &self,
        stream: &str,
        expected: u64,
        lease: Option<&Lease>,
        events: Vec<NewEvent>,
        summary: String,
    ) -> impl Future<Output = Result<Appended, StoreError>> + Send;

    /// Reads events of a stream by position, checking the hash chain between them.
    fn read(
        &self,
        stream: &str,
        positions: Range<u64>,
    ) -> impl Future<Output = Result<Vec<Stored>, StoreError>> + Send;

    /// Returns the head of a stream.
    fn head(&self, stream: &str) -> impl Future<Output = Result<Option<StreamHead>, StoreError>> + Send;

    /// Returns heads, newest change first, after the one that `before` names.
    fn heads(
        &self,
        before: Option<i64>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<StreamHead>, StoreError>> + Send;

    /// Removes a stream with everything that belongs to it.
    fn forget(&self, stream: &str) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps a snapshot of what the events up to `seq` amount to; it replaces an older one.
    fn save_snapshot(
        &self,
        stream: &str,
        seq: u64,
        data: String,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns the newest snapshot.
    fn snapshot(
        &self,
        stream: &str,
    ) -> impl Future<Output = Result<Option<(u64, String)>, StoreError>> + Send;

    /// Appends bytes to an output; outputs are whole and byte-exact, but may lose their last moments in a crash.
    fn write_output(
        &self,
        key: &OutputKey,
        bytes: Vec<u8>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads bytes of an output; an empty answer means the end, or that there is no such output.
    fn read_output(
        &self,
        key: &OutputKey,
        range: Range<u64>,
    ) -> impl Future<Output = Result<Vec<u8>, StoreError>> + Send;

    /// Takes or renews the right to drive a stream until `until`.
    ///
    /// A lease that has ended, or whose holder is known to be dead (`is_dead`), can be taken over.
    fn lease(
        &self,
        stream: &str,
        holder: &Holder,
        now: i64,
        until: i64,
        is_dead: &(dyn Fn(&Holder) -> bool + Send + Sync),
    ) -> impl Future<Output = Result<Lease, StoreError>> + Send;

    /// Gives a lease back.
    fn release(&self, lease: &Lease) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Waits until a stream has more than `seq` events, or until it may have; returns at once if it has.
    ///
    /// Used to follow a run from another process; it may return early.
    fn changed(&self, stream: &str, seq: u64) -> impl Future<Output = Result<(), StoreError>> + Send;
}
