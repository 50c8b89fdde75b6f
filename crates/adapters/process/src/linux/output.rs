//! What a process writes, read from its two pipes and handed on as it comes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use abide_engine::port::{Line, Sink, Stream};
use rustix::io::{Errno, ioctl_fionbio, ioctl_fionread, read};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// The most that is handed on at once.
const CHUNK: usize = 64 * 1024;

/// The most that a pipe holds, unless an administrator allows more: what is still read from one that nobody ends.
const PIPE: usize = 1024 * 1024;

/// The end of a pipe that is read.
#[derive(Debug)]
pub(super) struct Pipe(Receiver);

impl Pipe {
    pub(super) fn new(end: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&end, true)?;
        Ok(Self(Receiver::from_owned_fd_unchecked(end)?))
    }

    /// Waits for output; nothing is the end of it. Loses nothing when it is dropped.
    async fn next(&self) -> Option<Vec<u8>> {
        loop {
            self.0.readable().await.ok()?;
            match self.0.try_io(|| chunk(self.0.as_fd())) {
                Ok(bytes) => return (!bytes.is_empty()).then_some(bytes),
                Err(nothing_yet) if nothing_yet.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return None,
            }
        }
    }
}

/// Reads what is there; nothing is the end. Most processes say little, so little is read first: one call for those that
/// say nothing, and no more memory than was written.
fn chunk(end: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    let mut little = [0; 2048];
    let count = retry(|| read(end, &mut little))?;
    let mut bytes = little[..count].to_vec();
    if count == little.len()
        && let Ok(waiting) = ioctl_fionread(end)
        && waiting > 0
    {
        bytes.resize(CHUNK.min(count + usize::try_from(waiting).unwrap_or(CHUNK)), 0);
        // What is waiting is not lost if this fails: it is read again.
        let more = retry(|| read(end, &mut bytes[count..])).unwrap_or(0);
        bytes.truncate(count + more);
    }
    Ok(bytes)
}

fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// How the reading goes on, for whoever waits for it to be quiet, and what it is told.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Counts up when a chunk is read and when it was taken; odd while the sink has one.
    steps: AtomicU64,
    news: Notify,
    over: AtomicBool,
}

impl Progress {
    /// Waits until nothing has come for a while, or until it has lasted too long.
    pub(super) async fn quiet(&self, quiet: Duration, longest: Duration) {
        let last = Instant::now() + longest;
        loop {
            let before = self.steps.load(Ordering::Relaxed);
            sleep(quiet.min(last.saturating_duration_since(Instant::now()))).await;
            let nothing_came = before.is_multiple_of(2) && before == self.steps.load(Ordering::Relaxed);
            if nothing_came || Instant::now() >= last {
                return;
            }
        }
    }

    /// Says that the process has ended: its pipes may be at their end.
    pub(super) fn look(&self) {
        self.news.notify_one();
    }

    /// Says that nobody of the family is left: what is in the pipes is all that is to come.
    pub(super) fn stop(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.news.notify_one();
    }
}

/// Hands on what comes until both pipes are at their end, or what is left in them after [`Progress::stop`].
pub(super) async fn pump(stdout: Pipe, stderr: Pipe, mut sink: impl Sink, progress: &Progress) {
    let mut hand_on = async |stream, bytes| {
        progress.steps.fetch_add(1, Ordering::Relaxed);
        sink.take(Line { stream, bytes }).await;
        progress.steps.fetch_add(1, Ordering::Relaxed);
        // A process that never stops writing must not keep its own time limit from being looked at.
        tokio::task::consume_budget().await;
    };
    let (mut stdout, mut stderr) = (Some(stdout), Some(stderr));
    while stdout.is_some() || stderr.is_some() {
        tokio::select! {
            bytes = next(stdout.as_ref()), if stdout.is_some() => match bytes {
                Some(bytes) => hand_on(Stream::Stdout, bytes).await,
                None => stdout = None,
            },
            bytes = next(stderr.as_ref()), if stderr.is_some() => match bytes {
                Some(bytes) => hand_on(Stream::Stderr, bytes).await,
                None => stderr = None,
            },
            () = progress.news.notified() => {
                let over = progress.over.load(Ordering::Relaxed);
                for (pipe, stream) in [(&mut stdout, Stream::Stdout), (&mut stderr, Stream::Stderr)] {
                    let mut total = 0;
                    while total < PIPE && let Some(Pipe(end)) = pipe {
                        match chunk(end.as_fd()) {
                            Ok(bytes) if !bytes.is_empty() => {
                                total += bytes.len();
                                hand_on(stream, bytes).await;
                            }
                            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                            Ok(_) | Err(_) => *pipe = None,
                        }
                    }
                }
                if over {
                    return;
                }
            }
        }
    }
}

async fn next(pipe: Option<&Pipe>) -> Option<Vec<u8>> {
    pipe?.next().await
}
