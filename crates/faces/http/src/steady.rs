//! A connection whose other side takes what it is sent: one that does not for long is closed.
//!
//! A reader that stops holds what waits for it, and the room that it takes. Only waiting counts: a stream on which nothing is said may be
//! silent for as long as it likes.

use crate::bounds::LEAST_TAKEN;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection that is closed when its other side takes nothing.
pub(crate) struct Steady<S> {
    stream: S,
    patience: Duration,
    /// Ends when the other side has had enough time to take some of what waits.
    stalled: Option<Pin<Box<Sleep>>>,
    /// How much it has taken since then.
    taken: usize,
}

impl<S> Steady<S> {
    pub(crate) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, stalled: None, taken: 0 }
    }

    /// Takes note of how a write went.
    fn wrote(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.taken += bytes;
                if self.taken >= LEAST_TAKEN {
                    self.stalled = None;
                    self.taken = 0;
                }
                Poll::Ready(Ok(bytes))
            }
            Poll::Pending => {
                let patience = self.patience;
                let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
                if stalled.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                Poll::Pending
            }
            failed @ Poll::Ready(Err(_)) => failed,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Steady<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Steady<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.wrote(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Whoever flushes has written everything before: nothing waits.
        self.stalled = None;
        self.taken = 0;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_left_and_who_takes_a_little_at_a_time_is_not() {
        let patience = Duration::from_secs(30);
        let (near, mut far) = duplex(1024);
        let mut steady = Steady::new(near, patience);
        let error = steady.write_all(&[0; 4096]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        far.read_exact(&mut [0; 1024]).await.unwrap();

        let (near, mut far) = duplex(LEAST_TAKEN);
        let mut steady = Steady::new(near, patience);
        let reading = tokio::spawn(async move {
            for _ in 0..8 {
                sleep(Duration::from_secs(20)).await;
                far.read_exact(&mut vec![0; LEAST_TAKEN]).await.unwrap();
            }
        });
        steady.write_all(&vec![0; 8 * LEAST_TAKEN]).await.unwrap();
        steady.flush().await.unwrap();
        reading.await.unwrap();

        // Too little is as good as nothing.
        let (near, mut far) = duplex(16);
        let mut steady = Steady::new(near, patience);
        let reading = tokio::spawn(async move {
            loop {
                sleep(Duration::from_secs(10)).await;
                far.read_exact(&mut [0; 16]).await.unwrap();
            }
        });
        let error = steady.write_all(&[0; 4096]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        reading.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_no_stall() {
        let (near, mut far) = duplex(64);
        let mut steady = Steady::new(near, Duration::from_secs(1));
        for _ in 0..5 {
            let reading = async {
                sleep(Duration::from_millis(500)).await;
                far.read_exact(&mut [0; 100]).await.unwrap();
            };
            let writing = async {
                steady.write_all(&[0; 100]).await.unwrap();
                steady.flush().await.unwrap();
            };
            tokio::join!(reading, writing);
            sleep(Duration::from_mins(1)).await;
        }
    }
}
