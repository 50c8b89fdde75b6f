//! Webhooks: who is told over HTTP what happens at a server.
//!
//! What is to be told is kept in the [`Outbox`] before anything is sent, so that a server that dies has not
//! forgotten it. Each webhook has a task of its own ([`Webhooks::start`]) that takes what is due, signs it and has it carried: one
//! receiver that is slow or gone holds no other one up. What was refused is tried again after longer and longer waits, for a day.
//! Servers that share a database share the work: what one has taken is nobody else's for a minute.

mod attend;
mod notice;
mod sign;

pub use notice::Notice;
pub use sign::{BadSecret, SigningKey};

use crate::port::{Clock, Courier, Later, NewDelivery, Outbox, OutboxError, PostedDeliveries, Undelivered};
use abide_core::definition::{WebhookName, WebhookSettings};
use abide_core::value::Secret;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// For how long something is tried, in milliseconds: a day.
pub const TRIED_FOR: i64 = 24 * 60 * 60 * 1_000;

/// Reads the secret of a webhook; the error says why it cannot be had, and never the secret.
pub type SecretOf = Arc<dyn Fn(&str) -> Later<Result<Secret, String>> + Send + Sync>;

/// What became of a delivery, or of an attempt at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It was told.
    Delivered,
    /// It was not, and is tried again at this time, in milliseconds since 1970.
    Failed {
        /// Why.
        why: String,
        /// When.
        again: i64,
    },
    /// It was not, and is not tried again.
    GivenUp {
        /// Why.
        why: String,
    },
    /// It was not kept, because too much waits for the webhook.
    Full,
}

impl Fate {
    /// Every word, in the order of the fates.
    pub const WORDS: [&str; 4] = ["delivered", "failed", "given_up", "full"];

    /// Returns the word for it.
    pub fn word(&self) -> &'static str {
        let place = match self {
            Self::Delivered => 0,
            Self::Failed { .. } => 1,
            Self::GivenUp { .. } => 2,
            Self::Full => 3,
        };
        Self::WORDS[place]
    }
}

/// What is said about a delivery, for monitors and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The name of the webhook.
    pub webhook: String,
    /// What the delivery is called; empty for what was not kept.
    pub id: String,
    /// The how manieth attempt it was.
    pub attempt: u32,
    /// How long the attempt took.
    pub took: Duration,
    /// What became of it.
    pub fate: Fate,
}

/// Takes what is said about deliveries; must return at once.
pub type Hearing = Arc<dyn Fn(&Told) + Send + Sync>;

/// What webhooks stand on.
pub struct Grounds<C> {
    /// What keeps what is to be told.
    pub outbox: Arc<dyn Outbox>,
    /// What carries it.
    pub courier: Arc<dyn Courier>,
    /// The time.
    pub clock: Arc<C>,
    /// Where secrets come from.
    pub secret_of: SecretOf,
    /// Who hears what became of it.
    pub hearing: Hearing,
}

/// A webhook, and what wakes its task.
struct Attended {
    name: String,
    settings: WebhookSettings,
    wake: Notify,
}

/// The webhooks of a server.
pub struct Webhooks<C> {
    grounds: Grounds<C>,
    attended: Vec<Arc<Attended>>,
    closing: watch::Sender<bool>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl<C: Clock> Webhooks<C> {
    /// Puts webhooks together; nothing is sent yet.
    pub fn new(grounds: Grounds<C>, webhooks: Vec<(WebhookName, WebhookSettings)>) -> Self {
        let made = |(name, settings): (WebhookName, WebhookSettings)| {
            Arc::new(Attended { name: name.to_string(), settings, wake: Notify::new() })
        };
        let attended = webhooks.into_iter().map(made).collect();
        Self { grounds, attended, closing: watch::channel(false).0, tasks: Mutex::default() }
    }

    /// Returns whether there is nobody to tell anything.
    pub fn is_empty(&self) -> bool {
        self.attended.is_empty()
    }

    /// Returns the names of the webhooks.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.attended.iter().map(|webhook| webhook.name.as_str())
    }

    /// Keeps what there is to tell, for each webhook that wants it; what is known already is not told again.
    pub async fn post(&self, notices: &[Notice]) -> Result<(), OutboxError> {
        let now = self.grounds.clock.now().0;
        let mut woken = BTreeSet::new();
        let mut deliveries = Vec::new();
        for notice in notices {
            let body = notice.body();
            for (place, webhook) in self.attended.iter().enumerate() {
                if webhook.settings.wants(notice.event, notice.ability.as_deref()) {
                    woken.insert(place);
                    deliveries.push(NewDelivery {
                        webhook: webhook.name.clone(),
                        id: notice.id.clone(),
                        body: body.clone(),
                        at: now,
                        until: notice.until.unwrap_or(i64::MAX).min(now.saturating_add(TRIED_FOR)),
                    });
                }
            }
        }
        if deliveries.is_empty() {
            return Ok(());
        }
        let PostedDeliveries { full, .. } = self.grounds.outbox.post(deliveries).await?;
        for place in woken {
            let webhook = &self.attended[place];
            webhook.wake.notify_one();
            if full > 0 {
                self.say(&webhook.name, "", (0, Duration::ZERO), Fate::Full);
            }
        }
        Ok(())
    }

    /// Returns what waits.
    pub async fn undelivered(&self) -> Result<Vec<Undelivered>, OutboxError> {
        if self.is_empty() { Ok(Vec::new()) } else { self.grounds.outbox.undelivered().await }
    }

    /// Begins to tell what is kept, what an earlier server has left included.
    pub fn start(self: &Arc<Self>) {
        let begun = self.attended.iter().map(|webhook| {
            tokio::spawn(attend::attend(Arc::clone(self), Arc::clone(webhook), self.closing.subscribe()))
        });
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).extend(begun);
    }

    /// Takes nothing more up, and waits for what is under way for as long as it may take; what is not told by then is told by the next
    /// server.
    pub async fn leave(&self, grace: Duration) {
        self.closing.send_replace(true);
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let deadline = tokio::time::Instant::now() + grace;
        for mut task in tasks {
            if tokio::time::timeout_at(deadline, &mut task).await.is_err() {
                task.abort();
            }
        }
    }

    fn say(&self, webhook: &str, id: &str, (attempt, took): (u32, Duration), fate: Fate) {
        let told = Told { webhook: webhook.to_owned(), id: id.to_owned(), attempt, took, fate };
        (self.grounds.hearing)(&told);
    }
}
