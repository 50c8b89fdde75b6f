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
    /// What [`link`](super::link) makes of all of this.
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

/// How much a store holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// How many streams there are.
    pub streams: u64,
    /// When the stream changed that changed longest ago.
    pub oldest: Option<i64>,
}

/// Where a page of heads ended; the next one begins after it.
///
/// The time alone would not do: streams that changed in the same millisecond would be left out or told twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadPlace {
    /// The last head's [`StreamHead::changed_at`].
    pub changed_at: i64,
    /// The last head's stream.
    pub stream: String,
}

impl StreamHead {
    /// Returns where this head stands among all heads.
    pub fn place(&self) -> HeadPlace {
        HeadPlace { changed_at: self.changed_at, stream: self.stream.clone() }
    }
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

/// How long a stream is, and who works on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The stream.
    pub stream: String,
    /// How many events it has.
    pub seq: u64,
    /// The lease on it, unless it was given back; it may have ended.
    pub lease: Option<Lease>,
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
    /// The disk is full, read-only or gone, or others have kept the database locked; nothing was written.
    #[error("cannot write to {place}: {reason}")]
    Unwritable {
        /// The file or database.
        place: String,
        /// The system's reason.
        reason: String,
    },
    /// The file or database as a whole is damaged, not ours, or of a newer version; waiting does not help.
    #[error("cannot read {place}: {reason}")]
    Unreadable {
        /// The file or database.
        place: String,
        /// What is wrong with it, and what to do.
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
///   Appends of several streams may share one commit; the refusal of one does not touch the others.
/// - `seq` has no gaps; `expected` is the last `seq` that the caller knows (0 for a new stream), and a mismatch is
///   [`StoreError::Conflict`] with nothing written. Of two appends with the same `expected` exactly one succeeds.
/// - With a lease, an append whose holder and generation are not the newest, or whose lease was given back, is
///   [`StoreError::LeaseLost`], nothing written; that is looked at before `expected`. A lease that has ended, but
///   that nobody took over, still appends. Without a lease anybody appends.
/// - `at` never decreases within a stream, whatever the clock does; `seq` orders.
/// - Reading sees every append that returned before it began.
/// - Nothing is ever changed or removed, except whole streams by [`Store::forget`].
/// - Whatever fails leaves the store usable: when the disk has space again, or the lock is gone, so does the next call.
/// - Dropping a future of a change may or may not keep the change from happening; it is never half done.
pub trait Store: Send + Sync + 'static {
    /// Appends events; `summary` replaces what [`StreamHead::summary`] says.
    ///
    /// Without events nothing is written, not even the summary: the answer is the present end, which for a stream
    /// that does not exist is event 0 with [`NO_HASH`](super::NO_HASH). A stream or a kind with a line end in it is
    /// [`StoreError::Other`]: the hash could not tell the fields apart.
    fn append(
        &self,
        stream: &str,
        expected: u64,
        lease: Option<&Lease>,
        events: Vec<NewEvent>,
        summary: String,
    ) -> impl Future<Output = Result<Appended, StoreError>> + Send;

    /// Reads the events of a stream whose positions are in a range, as far as there are any.
    ///
    /// They are checked: their hashes, the chain between them, to the event before them, and, if the last one is
    /// among them, to the head. What does not fit is [`StoreError::Damaged`]. No such stream is
    /// [`StoreError::Unknown`].
    fn read(
        &self,
        stream: &str,
        positions: Range<u64>,
    ) -> impl Future<Output = Result<Vec<Stored>, StoreError>> + Send;

    /// Returns the head of a stream.
    fn head(&self, stream: &str) -> impl Future<Output = Result<Option<StreamHead>, StoreError>> + Send;

    /// Returns heads after a place, newest change first; of the same time, the greatest stream first.
    fn heads(
        &self,
        after: Option<&HeadPlace>,
        most: usize,
    ) -> impl Future<Output = Result<Vec<StreamHead>, StoreError>> + Send;

    /// Returns how much there is, without reading it: cheap enough to ask after every run.
    fn extent(&self) -> impl Future<Output = Result<Extent, StoreError>> + Send;

    /// Removes a stream with everything that belongs to it, whoever drives it; [`StoreError::Unknown`] without one.
    ///
    /// The log goes last and at once: a crash on the way leaves a stream that can be forgotten again, with its
    /// outputs partly gone. What it took is used again by what comes after it.
    fn forget(&self, stream: &str) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps a snapshot of what the events up to `seq` amount to; it replaces an older one, never a newer one.
    ///
    /// No such stream is [`StoreError::Unknown`]; a `seq` that the stream has not reached is
    /// [`StoreError::Conflict`]. A power cut may lose it: the events are there.
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

    /// Appends bytes to an output of a stream; no such stream is [`StoreError::Unknown`].
    ///
    /// Outputs are byte-exact and in the order of the calls. What was written survives the end of this process;
    /// a power cut may lose the last moments, but nothing from the middle, and nothing that was written before an
    /// append that returned.
    fn write_output(
        &self,
        key: &OutputKey,
        bytes: Vec<u8>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Reads the bytes of an output in a range; an empty answer means the end, or that there is no such output.
    fn read_output(
        &self,
        key: &OutputKey,
        range: Range<u64>,
    ) -> impl Future<Output = Result<Vec<u8>, StoreError>> + Send;

    /// Takes or renews the right to drive a stream until `until`; the stream need not have events yet.
    ///
    /// A lease that was given back, has ended (`until` is not after `now`), or whose holder is known to be dead
    /// (`is_dead`) is taken over with a new generation. Renewing keeps the generation. A lease of somebody else is
    /// [`StoreError::Held`].
    fn lease(
        &self,
        stream: &str,
        holder: &Holder,
        now: i64,
        until: i64,
        is_dead: &(dyn Fn(&Holder) -> bool + Send + Sync),
    ) -> impl Future<Output = Result<Lease, StoreError>> + Send;

    /// Gives a lease back; one that has been lost already is nobody's loss.
    fn release(&self, lease: &Lease) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns how some streams stand, in no order; those that have no events are left out. One look for all of them.
    fn standings(&self, streams: &[String])
    -> impl Future<Output = Result<Vec<Standing>, StoreError>> + Send;

    /// Waits until a stream has more than `seq` events, or until it may have; returns at once if it has.
    ///
    /// Used to follow a run, also one that another process drives; it may return early, and does when the stream
    /// is forgotten.
    fn changed(&self, stream: &str, seq: u64) -> impl Future<Output = Result<(), StoreError>> + Send;
}
