//! The way from a call that is under way back to the request that waits for it.
//!
//! A desk works in a task of its own, which goes on when a request is cancelled or is answered with a question. Whoever attends
//! to the call hears its questions one by one, and of its progress always the latest.

use crate::desk::{Boxed, Question, Said, Talk};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

/// How many questions may wait to be put.
const WAITING: usize = 16;
/// The longest message about progress, in characters.
const LONGEST: usize = 500;

/// A question, and where its answer goes.
pub(crate) type Ask = (Question, oneshot::Sender<Said>);

/// How far a call is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Progress {
    /// What the desk said.
    step: u64,
    /// The same as a number that grows with every message, as the protocol wants it.
    pub(crate) done: f64,
    pub(crate) total: u64,
    pub(crate) message: String,
}

/// The desk's end.
#[derive(Debug)]
pub(crate) struct Line {
    questions: mpsc::Sender<Ask>,
    progress: watch::Sender<Progress>,
    cancelled: CancellationToken,
    can_ask: bool,
}

/// The other end.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) questions: mpsc::Receiver<Ask>,
    pub(crate) progress: watch::Receiver<Progress>,
}

impl Line {
    /// Returns the two ends of a line.
    pub(crate) fn new(cancelled: CancellationToken, can_ask: bool) -> (Self, Heard) {
        let (questions, asked) = mpsc::channel(WAITING);
        let (progress, told) = watch::channel(Progress { done: -1.0, ..Progress::default() });
        (Self { questions, progress, cancelled, can_ask }, Heard { questions: asked, progress: told })
    }
}

impl Talk for Line {
    fn progress(&self, done: u64, total: u64, message: &str) {
        self.progress.send_if_modified(|last| {
            let message: String = message.chars().take(LONGEST).collect();
            if last.step == done && last.message == message {
                return false;
            }
            #[expect(clippy::cast_precision_loss, reason = "a number of steps is small")]
            let counted = done as f64;
            // The same step may have more to say.
            let done_so_far = if counted > last.done { counted } else { last.done + 0.001 };
            *last = Progress { step: done, done: done_so_far, total, message };
            true
        });
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
                if self.questions.send((question, answer)).await.is_err() {
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
