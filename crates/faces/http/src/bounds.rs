//! How much of everything there may be: nothing that a caller does makes the server hold, wait or answer without end.

use std::time::Duration;

/// How many connections there may be at once; an open stream is one.
pub(crate) const MOST_CONNECTIONS: usize = 4_096;
/// The longest head of a request, in bytes.
pub(crate) const LONGEST_HEAD: usize = 64 * 1024;
/// The longest body of a request, in bytes.
pub(crate) const LONGEST_BODY: usize = 1024 * 1024;
/// The longest file of a session that is sent, in bytes, and how many are read at the same time.
pub(crate) const LONGEST_FILE: usize = 32 * 1024 * 1024;
pub(crate) const LONG_AT_ONCE: usize = 8;
/// From which size on a file takes room until it is sent, how many such files are sent at once, and how many of one caller.
pub(crate) const LONG_FILE: u64 = 256 * 1024;
pub(crate) const DOWNLOADS_AT_ONCE: usize = 8;
pub(crate) const DOWNLOADS_OF_ONE: usize = 4;
/// How much of such a file is given to the connection at once.
pub(crate) const SLICE: usize = 64 * 1024;
/// How long room for one is waited for.
pub(crate) const ROOM: Duration = Duration::from_secs(10);
/// How many streams one caller may have open.
pub(crate) const STREAMS_OF_ONE: usize = 2_048;
/// How long a caller may take for the next part of what waits for them, and how much that is at least, in bytes.
pub(crate) const STALL: Duration = Duration::from_secs(30);
pub(crate) const LEAST_TAKEN: usize = 32 * 1024;
/// How long the head of a request may take to arrive, and then its body.
pub(crate) const HEAD: Duration = Duration::from_secs(10);
pub(crate) const BODY: Duration = Duration::from_secs(30);
/// How often a stream says that it is still there.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long requests under way have to end when the server does.
pub(crate) const GRACE: Duration = Duration::from_secs(10);
/// How long runs have then to come to where they can be left, unless the options say otherwise.
pub(crate) const LEAVE: Duration = Duration::from_secs(30);
/// How long letters to webhooks that are under way have after that.
pub(crate) const LETTERS: Duration = Duration::from_secs(5);
/// How many rows a page has when nothing is said, and at most.
pub(crate) const PAGE: usize = 50;
pub(crate) const LONGEST_PAGE: usize = 200;
/// How many requests a second a caller may make for long, unless the options say otherwise.
pub(crate) const RATE: u32 = 200;
/// How many wrong keys a second one address may try for long, and how many at once.
pub(crate) const WRONG_KEYS: u32 = 2;
pub(crate) const WRONG_KEYS_AT_ONCE: u32 = 20;
/// How many callers are remembered.
pub(crate) const MOST_CALLERS: usize = 10_000;
