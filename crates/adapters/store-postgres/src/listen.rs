//! Waking who follows a stream: one connection hears of every change, whoever made it.
//!
//! Nothing is polled. A connection that is lost is made again, and everybody looks then, since something may have been
//! missed; where none can be made, everybody looks now and then.

use sqlx::PgPool;
use sqlx::postgres::PgListener;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::futures::OwnedNotified;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// What changes are told on.
pub(crate) const CHANNEL: &str = "abide_streams";
/// What the news of a session's messages are told by, before its id: no stream is called so.
pub(crate) const MESSAGES: &str = "messages/";
/// The same for questions about calls.
pub(crate) const QUESTIONS: &str = "questions/";
/// How long nobody looks when nothing is heard, and no connection listens.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// The same while one does, whose silence is looked into for all: a belt beside the braces.
const LONG_PATIENCE: Duration = Duration::from_mins(10);
/// How long a connection may take to say that it is still there.
const PROBE: Duration = Duration::from_secs(5);
/// How long a new connection is waited for before the next try.
pub(crate) const AGAIN: Duration = Duration::from_millis(500);
/// The most bytes of a name that are told: the database takes 8,000 for all.
const LONGEST: usize = 7_000;

/// Returns what stands for a stream when a change is told; several long names may share one, and then all look.
pub(crate) fn name(stream: &str) -> &str {
    let mut end = stream.len().min(LONGEST);
    while !stream.is_char_boundary(end) {
        end -= 1;
    }
    &stream[..end]
}

type Followed = Mutex<HashMap<String, Weak<Notify>>>;

/// Wakes who follows a stream.
pub(crate) struct Listening {
    followed: Arc<Followed>,
    /// Whether a connection listens.
    heard: watch::Receiver<bool>,
    task: AbortHandle,
}

impl Listening {
    /// Begins to listen, on a connection of its own.
    pub(crate) fn start(pool: PgPool) -> Self {
        let followed: Arc<Followed> = Arc::default();
        let (listens, heard) = watch::channel(false);
        let task = tokio::spawn(listen(pool, Arc::clone(&followed), listens)).abort_handle();
        Self { followed, heard, task }
    }

    /// Returns what wakes who follows a name.
    fn woken(&self, stream: &str) -> Arc<Notify> {
        let mut followed = lock(&self.followed);
        let known = followed.get(stream).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            followed.retain(|_, woken| woken.strong_count() > 0);
            let woken = Arc::new(Notify::new());
            followed.insert(name(stream).to_owned(), Arc::downgrade(&woken));
            woken
        })
    }

    /// Returns how long whoever follows a stream waits before they look by themselves.
    pub(crate) fn patience(&self) -> Duration {
        if *self.heard.borrow() { LONG_PATIENCE } else { PATIENCE }
    }

    /// Returns what is done as soon as a name is told, from now on or when a connection listens again.
    pub(crate) fn hear(&self, name: &str) -> OwnedNotified {
        self.woken(name).notified_owned()
    }

    /// Returns what wakes who follows a stream; changes from now on are heard, if a connection can be made soon.
    pub(crate) async fn follow(&self, stream: &str) -> Arc<Notify> {
        let woken = self.woken(stream);
        let mut heard = self.heard.clone();
        let _ = timeout(AGAIN, heard.wait_for(|heard| *heard)).await;
        woken
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(followed: &Followed) -> MutexGuard<'_, HashMap<String, Weak<Notify>>> {
    followed.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wake_all(followed: &Followed) {
    for woken in lock(followed).values().filter_map(Weak::upgrade) {
        woken.notify_waiters();
    }
}

async fn listen(pool: PgPool, followed: Arc<Followed>, listens: watch::Sender<bool>) {
    loop {
        let made = async {
            let mut listener = PgListener::connect_with(&pool).await?;
            listener.listen(CHANNEL).await?;
            Ok::<_, sqlx::Error>(listener)
        };
        if let Ok(mut listener) = made.await {
            listens.send_replace(true);
            // What happened before anybody listened was told to nobody.
            wake_all(&followed);
            loop {
                let Ok(heard) = timeout(PATIENCE, listener.try_recv()).await else {
                    // A connection that is silent may be gone without a word: it is asked once for all who wait.
                    let probe = timeout(PROBE, sqlx::query("SELECT 1").execute(&mut listener)).await;
                    if matches!(probe, Ok(Ok(_))) {
                        continue;
                    }
                    break;
                };
                let Ok(Some(told)) = heard else { break };
                let woken = lock(&followed).get(told.payload()).and_then(Weak::upgrade);
                if let Some(woken) = woken {
                    woken.notify_waiters();
                }
            }
            listens.send_replace(false);
        }
        tokio::time::sleep(AGAIN).await;
    }
}
