//! One webhook, attended to: what is due is taken, signed, carried, and what became of it is written down.

use super::{Attended, Fate, SigningKey, Webhooks};
use crate::port::{Attempted, Clock, Delivery, Letter, Receipt};
use abide_core::model::{Patience, Retry};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How many letters to one webhook are under way at once.
const AT_ONCE: usize = 4;
/// For how long what is taken is nobody else's, in milliseconds; a courier is faster than that.
const TAKEN_FOR: i64 = 60_000;
/// How often it is looked for what other servers have left.
const LOOK: Duration = Duration::from_secs(5);
/// How soon it is tried again when the store does not answer.
const AGAIN: Duration = Duration::from_secs(1);
/// How often it is tried to write down what became of an attempt; after that it is told once more.
const SETTLING: u32 = 3;
/// The longest wait between two attempts.
const LONGEST: Duration = Duration::from_hours(1);
/// How often, and how soon, a letter is carried again.
const PATIENCE: Patience =
    Patience { attempts: 60, first: Duration::from_secs(2), longest: LONGEST, provider: LONGEST };
/// What a receiver says that wants nothing more, ever.
const GONE: u16 = 410;

/// Why an attempt came to nothing.
struct Failure {
    why: String,
    retry: Retry,
}

impl Failure {
    fn later(why: String) -> Self {
        Self { why, retry: Retry::Later }
    }
}

/// Tells a webhook what is due, again and again, until the server ends.
pub(super) async fn attend<C: Clock>(
    webhooks: Arc<Webhooks<C>>,
    webhook: Arc<Attended>,
    mut closing: watch::Receiver<bool>,
) {
    let (outbox, clock) = (&webhooks.grounds.outbox, &webhooks.grounds.clock);
    while !*closing.borrow() {
        let now = clock.now().0;
        let taken = outbox.take(&webhook.name, now, now.saturating_add(TAKEN_FOR), AT_ONCE).await;
        // Whoever wants to be left alone is not told sooner because there is more.
        let (pause, may_be_woken) = match taken {
            Ok(taken) if !taken.is_empty() => match tell(&webhooks, &webhook, taken).await {
                Some(asked) => (asked, false),
                None => continue,
            },
            Ok(_) => match outbox.due(&webhook.name).await {
                Ok(Some(due)) => (until(due, now).clamp(Duration::from_millis(10), LOOK), true),
                Ok(None) => (LOOK, true),
                Err(_) => (AGAIN, false),
            },
            Err(_) => (AGAIN, false),
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = webhook.wake.notified(), if may_be_woken => {}
            // It ends as well when nobody is there any more who could say so.
            _ = closing.changed() => {}
        }
    }
}

/// Carries several letters at once; returns how long the receiver wants to be left alone.
async fn tell<C: Clock>(
    webhooks: &Arc<Webhooks<C>>,
    webhook: &Arc<Attended>,
    taken: Vec<Delivery>,
) -> Option<Duration> {
    let mut under_way = JoinSet::new();
    for delivery in taken {
        let (webhooks, webhook) = (Arc::clone(webhooks), Arc::clone(webhook));
        under_way.spawn(async move { deliver(&webhooks, &webhook, &delivery).await });
    }
    let mut longest = None;
    while let Some(asked) = under_way.join_next().await {
        longest = longest.max(asked.ok().flatten());
    }
    longest
}

/// Makes one attempt, and writes down what became of it; returns how long the receiver wants to be left alone.
async fn deliver<C: Clock>(
    webhooks: &Webhooks<C>,
    webhook: &Attended,
    delivery: &Delivery,
) -> Option<Duration> {
    let clock = &webhooks.grounds.clock;
    let begun = clock.now();
    let attempt = if begun.0 >= delivery.until {
        Err(Failure { why: "its time was over before it could be sent".to_owned(), retry: Retry::Never })
    } else {
        carry(webhooks, webhook, delivery, begun.0).await
    };
    let ended = clock.now();
    let asked = match &attempt {
        Err(Failure { retry: Retry::After(wait), .. }) => Some(*wait),
        _ => None,
    };
    let fate = match attempt {
        Ok(()) => Fate::Delivered,
        Err(Failure { why, retry }) => {
            let wait = PATIENCE.wait(retry, delivery.attempt, &format!("{}/{}", webhook.name, delivery.id));
            match wait.map(|wait| ended.after(wait).0) {
                Some(again) if again < delivery.until => Fate::Failed { why, again },
                _ => Fate::GivenUp { why },
            }
        }
    };
    let attempted = match &fate {
        Fate::Failed { why, again } => Attempted::Again(*again, why.clone()),
        Fate::GivenUp { why } => Attempted::GivenUp(why.clone()),
        Fate::Delivered | Fate::Full => Attempted::Delivered,
    };
    for tried in 1..=SETTLING {
        match webhooks.grounds.outbox.settle(delivery, ended.0, attempted.clone()).await {
            Err(_) if tried < SETTLING => tokio::time::sleep(AGAIN).await,
            _ => break,
        }
    }
    webhooks.say(&webhook.name, &delivery.id, (delivery.attempt, ended.since(begun)), fate);
    asked
}

/// Signs a letter and has it carried.
async fn carry<C: Clock>(
    webhooks: &Webhooks<C>,
    webhook: &Attended,
    delivery: &Delivery,
    now: i64,
) -> Result<(), Failure> {
    let secret = (webhooks.grounds.secret_of)(&webhook.name).await.map_err(Failure::later)?;
    let key = SigningKey::parse(&secret)
        .map_err(|bad| Failure::later(format!("its secret cannot be used: {bad}")))?;
    let timestamp = now.div_euclid(1_000);
    let letter = Letter {
        url: webhook.settings.url.value.clone(),
        private_network: webhook.settings.private_network.as_ref().is_some_and(|flag| flag.value),
        headers: vec![
            ("content-type", "application/json".to_owned()),
            ("webhook-id", delivery.id.clone()),
            ("webhook-timestamp", timestamp.to_string()),
            ("webhook-signature", key.sign(&delivery.id, timestamp, &delivery.body)),
        ],
        body: delivery.body.clone(),
    };
    let receipt = webhooks.grounds.courier.carry(letter).await;
    match receipt.map_err(|error| Failure::later(error.to_string()))? {
        Receipt { status: 200..=299, .. } => Ok(()),
        Receipt { status, retry_after } => {
            let retry = match retry_after {
                _ if status == GONE => Retry::Never,
                Some(wait) => Retry::After(wait.min(LONGEST)),
                None => Retry::Later,
            };
            Err(Failure { why: format!("it was answered with {status}"), retry })
        }
    }
}

fn until(moment: i64, now: i64) -> Duration {
    Duration::from_millis(u64::try_from(moment.saturating_sub(now)).unwrap_or(0))
}
