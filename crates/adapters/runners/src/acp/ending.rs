//! When an agent is ended: it is cancelled, it has broken the rules, or it is done and stays.
//!
//! One that is cancelled is told to end its turn first, and has well under a second for that.

use super::Desk;
use abide_engine::port::{Cancel, Cancellation, Signal};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

/// How long an agent that was told to end its turn may take: whoever cancels wants its tools to stop now.
const TURN: Duration = Duration::from_millis(200);
/// How long one that was asked to end itself may take.
const GRACE: Duration = Duration::from_millis(300);
/// How long an agent that is done may take to end itself.
const PARTING: Duration = Duration::from_secs(2);

/// How far an agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Working,
    /// Its turn is over.
    Done,
    /// It did what it may not.
    Broken(String),
}

/// Ends an agent early. Whoever waits may stop waiting and ask again, so everything that was seen is kept.
pub(super) struct Early {
    cancel: Cancellation,
    state: watch::Receiver<State>,
    desk: Arc<Mutex<Desk>>,
    /// What somebody asked for, and until when the agent may end its turn.
    asked: Option<(Signal, Instant)>,
    is_told: bool,
    /// Until when an agent that is done may end itself.
    parting: Option<Instant>,
    /// Since when it was asked to end itself.
    ended: Option<Instant>,
}

impl Early {
    pub(super) fn new(cancel: Cancellation, state: watch::Receiver<State>, desk: Arc<Mutex<Desk>>) -> Self {
        Self { cancel, state, desk, asked: None, is_told: false, parting: None, ended: None }
    }

    /// Tells the agent to end its turn, once.
    async fn tell(&mut self) {
        if std::mem::replace(&mut self.is_told, true) {
            return;
        }
        let telling = async {
            let mut desk = self.desk.lock().await;
            if let Some(cancel) = desk.talk.cancel() {
                desk.send(cancel).await;
            }
        };
        // A desk that is busy, or an agent that does not read, is not waited for.
        let _ = timeout(TURN, telling).await;
    }

    /// Waits until an agent is to end that nobody has cancelled.
    async fn over(state: &mut watch::Receiver<State>, parting: &mut Option<Instant>) -> Signal {
        let seen = state.wait_for(|state| *state != State::Working).await.map(|state| state.clone());
        match seen {
            Ok(State::Broken(_)) => Signal::Kill,
            Ok(_) => {
                sleep_until(*parting.get_or_insert_with(|| Instant::now() + PARTING)).await;
                Signal::Ask
            }
            // Nobody is left who could say so.
            Err(_) => std::future::pending().await,
        }
    }
}

impl Cancel for Early {
    async fn signal(&mut self) -> Signal {
        if let Some(ended) = self.ended {
            sleep_until(ended + GRACE).await;
            return Signal::Kill;
        }
        if self.asked.is_none() {
            let signal = tokio::select! {
                biased;
                signal = (self.cancel)() => {
                    self.asked = Some((signal, Instant::now() + TURN));
                    signal
                }
                signal = Self::over(&mut self.state, &mut self.parting) => {
                    if signal == Signal::Ask {
                        self.ended = Some(Instant::now());
                    }
                    return signal;
                }
            };
            if signal == Signal::Kill {
                return signal;
            }
        }
        let Some((Signal::Ask, until)) = self.asked else { return Signal::Kill };
        self.tell().await;
        // One that has ended its turn need not be waited for.
        let _ = timeout_at(until, self.state.wait_for(|state| *state != State::Working)).await;
        Signal::Kill
    }
}
