//! The way from a call that is under way back to the request that waits for it.
//!
//! A desk works in a task of its own, which goes on when a request is cancelled or is answered with a question; what it
//! says travels as [`Word`]s to whoever attends to the call.

use crate::desk::{Boxed, Question, Said, Talk};
use std::sync::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// How many words may wait; a client that reads slowly misses some of the progress.
const WAITING: usize = 64;

/// What a desk says while a call is under way.
#[derive(Debug)]
pub(crate) enum Word {
    Progress { done: f64, total: u64, message: String },
    Question { question: Question, answer: oneshot::Sender<Said> },
}

/// The desk's end.
#[derive(Debug)]
pub(crate) struct Line {
    words: mpsc::Sender<Word>,
    cancelled: CancellationToken,
    can_ask: bool,
    /// How far the call was said to be.
    done: Mutex<f64>,
}

impl Line {
    /// Returns the two ends of a line.
    pub(crate) fn new(cancelled: CancellationToken, can_ask: bool) -> (Self, mpsc::Receiver<Word>) {
        let (words, heard) = mpsc::channel(WAITING);
        (Self { words, cancelled, can_ask, done: Mutex::new(-1.0) }, heard)
    }
}

impl Talk for Line {
    fn progress(&self, done: u64, total: u64, message: &str) {
        #[expect(clippy::cast_precision_loss, reason = "a number of steps is small")]
        let mut done = done as f64;
        {
            // Nothing is done while it is held that could panic.
            let mut last = self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // The protocol wants a number that grows, though the same step may have more to say.
            if done <= *last {
                done = *last + 0.001;
            }
            *last = done;
        }
        let _ = self.words.try_send(Word::Progress { done, total, message: message.to_owned() });
    }

    fn ask(&self, question: Question) -> Boxed<'_, Said> {
        Box::pin(async move {
            if !self.can_ask {
                return Said::Unsupported;
            }
            let within = question.within;
            let asked = async {
                let (answer, said) = oneshot::channel();
                let nobody = || Said::NoAnswer("the client is not there any more".to_owned());
                if self.words.send(Word::Question { question, answer }).await.is_err() {
                    return nobody();
                }
                said.await.unwrap_or_else(|_| nobody())
            };
            let late = async {
                match within {
                    Some(within) => tokio::time::sleep(within).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.cancelled.cancelled() => Said::NoAnswer("the client cancelled the call".to_owned()),
                said = asked => said,
                () = late => Said::NoAnswer("nobody answered in time".to_owned()),
            }
        })
    }

    fn cancelled(&self) -> Boxed<'_, ()> {
        Box::pin(self.cancelled.cancelled())
    }
}
