//! Futures that run beside each other, one of which is done next.

use crate::port::Later;
use std::task::Poll;

/// Some futures; dropping it drops all of them.
pub(super) struct Besides<T>(Vec<Later<T>>);

impl<T> Besides<T> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn add(&mut self, future: Later<T>) {
        self.0.push(future);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Waits for the next one that is done; there is none when all are.
    ///
    /// Each wake looks at every future. There are as many as one answer has calls.
    pub(super) async fn next(&mut self) -> Option<T> {
        std::future::poll_fn(|wake| {
            if self.0.is_empty() {
                return Poll::Ready(None);
            }
            for position in 0..self.0.len() {
                if let Poll::Ready(done) = self.0[position].as_mut().poll(wake) {
                    // Dropped before the answer is looked at: what is done holds nothing any more.
                    drop(self.0.swap_remove(position));
                    return Poll::Ready(Some(done));
                }
            }
            Poll::Pending
        })
        .await
    }
}
