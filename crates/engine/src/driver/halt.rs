//! The driver's word to what it has under way: end, or be left.
//!
//! It is a channel of one value, as tokio's `watch` is, but those who wait are woken in the order in which they began to: with
//! `watch` they come in none, and a simulation would not repeat itself.

use crate::port::Signal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Why what is under way is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// The run ends, and its children with it.
    End,
    /// The driver leaves; the run and its children go on when they are driven again.
    Leave(Signal),
}

impl Halt {
    /// Returns what a process is told.
    pub(super) fn signal(self) -> Signal {
        match self {
            Self::End => Signal::Ask,
            Self::Leave(signal) => signal,
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    /// What was said last, and how often something else was.
    said: Mutex<(u64, Option<Halt>)>,
    changed: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, (u64, Option<Halt>)> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells what is under way to end.
#[derive(Debug, Default)]
pub(super) struct Halter(Arc<Shared>);

impl Halter {
    /// Returns what hears it.
    pub(super) fn stop(&self) -> Stop {
        Stop { shared: Arc::clone(&self.0), seen: 0 }
    }

    /// Says something; saying the same again wakes nobody.
    pub(super) fn say(&self, halt: Option<Halt>) {
        {
            let mut said = self.0.lock();
            if said.1 == halt {
                return;
            }
            *said = (said.0 + 1, halt);
        }
        self.0.changed.notify_waiters();
    }
}

/// Hears whether something is to end.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    shared: Arc<Shared>,
    /// How many changes this one has seen.
    seen: u64,
}

impl Stop {
    /// Returns what was said last.
    pub(super) fn get(&self) -> Option<Halt> {
        self.shared.lock().1
    }

    /// Returns what was said last; the next change is one after it.
    pub(super) fn see(&mut self) -> Option<Halt> {
        let (count, halt) = *self.shared.lock();
        self.seen = count;
        halt
    }

    /// Waits until something else was said than this one has seen; for ever when the driver is gone, since whoever waits is
    /// dropped with it.
    pub(super) async fn changed(&mut self) {
        loop {
            let mut changed = std::pin::pin!(self.shared.changed.notified());
            // What is said between the look and the waiting is heard.
            changed.as_mut().enable();
            let count = self.shared.lock().0;
            if count != self.seen {
                self.seen = count;
                return;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn who_waits_is_woken_in_order_and_for_news_alone() {
        let halter = Halter::default();
        let (sender, woken) = mpsc::channel();
        let mut tasks = Vec::new();
        for number in 0..50 {
            let (mut stop, sender) = (halter.stop(), sender.clone());
            tasks.push(tokio::spawn(async move {
                stop.changed().await;
                sender.send((number, stop.see())).unwrap();
                stop.changed().await;
                sender.send((number, stop.see())).unwrap();
            }));
        }
        tokio::task::yield_now().await;
        halter.say(None);
        tokio::task::yield_now().await;
        assert!(woken.try_recv().is_err(), "nothing else was said");
        for halt in [Some(Halt::End), Some(Halt::Leave(Signal::Kill))] {
            halter.say(halt);
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            let heard: Vec<_> = woken.try_iter().collect();
            assert_eq!(heard, (0..50).map(|number| (number, halt)).collect::<Vec<_>>());
        }
        for task in tasks {
            task.await.unwrap();
        }
        let mut late = halter.stop();
        late.changed().await;
        assert_eq!(late.get(), Some(Halt::Leave(Signal::Kill)), "who comes late hears it too");
    }
}
