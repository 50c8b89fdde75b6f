//! Which sessions are in use: one with an open stream or a call under way is, however long nothing is said.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;

/// When sessions were used.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Used>>);

#[derive(Debug)]
struct Used {
    /// How many streams and calls it has now.
    stays: usize,
    /// When there was last one.
    until: Instant,
}

impl Used {
    fn now() -> Self {
        Self { stays: 0, until: Instant::now() }
    }
}

/// A stream or a call of a session.
#[derive(Debug)]
pub(crate) struct Stay {
    sessions: Arc<Sessions>,
    session: String,
}

impl Sessions {
    /// Notes that a session is used until the stay is dropped.
    pub(crate) fn enter(self: &Arc<Self>, session: &str) -> Stay {
        self.used().entry(session.to_owned()).or_insert_with(Used::now).stays += 1;
        Stay { sessions: self.clone(), session: session.to_owned() }
    }

    /// Returns those of the sessions there are that nobody has used for a while, and forgets the ones that are gone.
    pub(crate) fn idle_of(&self, there: Vec<String>, idle: Duration) -> Vec<String> {
        let mut used = self.used();
        let mut before = std::mem::take(&mut *used);
        let mut found = Vec::new();
        for session in there {
            // One that was never seen has just begun.
            let seen = before.remove(&session).unwrap_or_else(Used::now);
            if seen.stays == 0 && seen.until.elapsed() >= idle {
                found.push(session.clone());
            }
            used.insert(session, seen);
        }
        used.extend(before.into_iter().filter(|(_, seen)| seen.stays > 0));
        found
    }

    fn used(&self) -> MutexGuard<'_, HashMap<String, Used>> {
        // Nothing is done while it is held that could panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        if let Some(used) = self.sessions.used().get_mut(&self.session) {
            used.stays = used.stays.saturating_sub(1);
            used.until = Instant::now();
        }
    }
}

/// The body of an answer, which is a use of its session as long as it is open.
pub(crate) struct Held {
    pub(crate) body: BoxBody<Bytes, Infallible>,
    pub(crate) _stay: Option<Stay>,
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_session_is_idle_when_nothing_of_it_is_open_for_long_enough() {
        let sessions = Arc::new(Sessions::default());
        let idle = Duration::from_secs(10);
        let there = || vec!["a".to_owned(), "b".to_owned()];
        let stay = sessions.enter("a");
        assert!(sessions.idle_of(there(), idle).is_empty(), "the second has just begun");
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(sessions.idle_of(there(), idle), ["b"], "the first has a stream");
        let second = sessions.enter("a");
        drop(stay);
        tokio::time::advance(Duration::from_mins(1)).await;
        assert_eq!(sessions.idle_of(vec!["a".to_owned()], idle), Vec::<String>::new());
        drop(second);
        assert!(sessions.idle_of(vec!["a".to_owned()], idle).is_empty());
        tokio::time::advance(idle).await;
        assert_eq!(sessions.idle_of(vec!["a".to_owned()], idle), ["a"]);
        assert!(sessions.idle_of(Vec::new(), idle).is_empty());
        assert!(sessions.used().is_empty(), "one that is gone is forgotten");
    }
}
