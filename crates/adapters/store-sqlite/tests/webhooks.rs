//! Webhooks on a real outbox, in a time that passes when nothing else can happen: what is tried again, when, and for how long.

use abide_core::definition::{SecretSource, WebhookEvent, WebhookName, WebhookSettings};
use abide_core::event::{RunId, Timestamp};
use abide_core::source::{Span, Spanned};
use abide_core::value::Secret;
use abide_engine::port::{
    Attempted, Clock, Courier, CourierError, Delivery, Later, Letter, NewDelivery, Outbox, OutboxError,
    PostedDeliveries, Receipt, Undelivered,
};
use abide_engine::webhooks::{Fate, Grounds, Notice, SigningKey, TRIED_FOR, Told, Webhooks};
use abide_store_sqlite::SqliteRegistry;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::Instant;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The time of the test, which begins at a moment.
struct TestClock(Instant);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_700_000_000_000).after(self.0.elapsed())
    }

    async fn sleep_until(&self, moment: Timestamp) {
        tokio::time::sleep(moment.since(self.now())).await;
    }

    fn new_run(&self) -> RunId {
        RunId::parse("r").unwrap()
    }
}

/// The outbox, held so that the time of a test stands still while its own thread works on something.
struct HeldOutbox(SqliteRegistry);

fn held<T: Send + 'static>(working: Later<Result<T, OutboxError>>) -> Later<Result<T, OutboxError>> {
    let runtime = tokio::runtime::Handle::current();
    let done = tokio::task::spawn_blocking(move || runtime.block_on(working));
    Box::pin(async move { done.await.unwrap() })
}

impl Outbox for HeldOutbox {
    fn post(&self, deliveries: Vec<NewDelivery>) -> Later<Result<PostedDeliveries, OutboxError>> {
        held(self.0.post(deliveries))
    }

    fn take(
        &self,
        webhook: &str,
        now: i64,
        until: i64,
        most: usize,
    ) -> Later<Result<Vec<Delivery>, OutboxError>> {
        held(self.0.take(webhook, now, until, most))
    }

    fn settle(
        &self,
        delivery: &Delivery,
        now: i64,
        attempted: Attempted,
    ) -> Later<Result<bool, OutboxError>> {
        held(self.0.settle(delivery, now, attempted))
    }

    fn due(&self, webhook: &str) -> Later<Result<Option<i64>, OutboxError>> {
        held(self.0.due(webhook))
    }

    fn undelivered(&self) -> Later<Result<Vec<Undelivered>, OutboxError>> {
        held(self.0.undelivered())
    }
}

type Answer = Result<Receipt, CourierError>;

/// Answers by a list, and then always with 204; keeps when it was asked, and what with.
struct TestCourier {
    begun: Instant,
    answers: Mutex<VecDeque<Answer>>,
    carried: Mutex<Vec<(Duration, Letter)>>,
}

impl Courier for TestCourier {
    fn carry(&self, letter: Letter) -> Later<Answer> {
        self.carried.lock().unwrap().push((self.begun.elapsed(), letter));
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(Ok(status(204)));
        Box::pin(std::future::ready(answer))
    }
}

fn status(status: u16) -> Receipt {
    Receipt { status, retry_after: None }
}

struct Stage {
    registry: SqliteRegistry,
    courier: Arc<TestCourier>,
    webhooks: Arc<Webhooks<TestClock>>,
    told: Arc<Mutex<Vec<Told>>>,
    secret: Arc<Mutex<Result<Secret, String>>>,
    _folder: TempDir,
}

impl Stage {
    fn new(answers: Vec<Answer>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registry = SqliteRegistry::open(&folder.path().join("server.db")).unwrap();
        let begun = Instant::now();
        let courier =
            Arc::new(TestCourier { begun, answers: Mutex::new(answers.into()), carried: Mutex::default() });
        let told: Arc<Mutex<Vec<Told>>> = Arc::default();
        let secret = Arc::new(Mutex::new(Ok(Secret::new(SECRET))));
        let (hearing, reading) = (Arc::clone(&told), Arc::clone(&secret));
        let grounds = Grounds {
            outbox: Arc::new(HeldOutbox(registry.clone())),
            courier: Arc::clone(&courier) as _,
            clock: Arc::new(TestClock(begun)),
            secret_of: Arc::new(move |_| Box::pin(std::future::ready(reading.lock().unwrap().clone()))),
            hearing: Arc::new(move |one| hearing.lock().unwrap().push(one.clone())),
        };
        let settings = WebhookSettings {
            url: Spanned::new("http://127.0.0.1:1/".to_owned(), Span::default()),
            secret: Spanned::new(SecretSource::Env("SECRET".to_owned()), Span::default()),
            events: None,
            abilities: None,
            private_network: None,
        };
        let name = WebhookName::parse("pager").unwrap();
        let webhooks = Arc::new(Webhooks::new(grounds, vec![(name, settings)]));
        Self { registry, courier, webhooks, told, secret, _folder: folder }
    }

    async fn post(&self, id: &str) {
        self.webhooks.post(&[notice(id, None)]).await.unwrap();
    }

    /// Lets time pass until so much was said about deliveries.
    async fn told(&self, count: usize) -> Vec<Fate> {
        while self.told.lock().unwrap().len() < count {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.told.lock().unwrap().iter().map(|told| told.fate.clone()).collect()
    }

    fn carried(&self) -> Vec<(Duration, Letter)> {
        self.courier.carried.lock().unwrap().clone()
    }
}

fn notice(id: &str, until: Option<i64>) -> Notice {
    let event = WebhookEvent::RunFinished;
    Notice { id: id.to_owned(), event, ability: None, at: 1, until, data: json!({ "run": id }) }
}

fn header<'a>(letter: &'a Letter, name: &str) -> &'a str {
    &letter.headers.iter().find(|(known, _)| *known == name).unwrap().1
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_is_told_again_under_the_same_id_and_a_new_signature() {
    let stage =
        Stage::new(vec![Ok(status(500)), Err(CourierError("nobody is there".to_owned())), Ok(status(302))]);
    stage.webhooks.start();
    stage.post("msg_1").await;
    let fates = stage.told(4).await;
    let words: Vec<&str> = fates.iter().map(Fate::word).collect();
    assert_eq!(words, ["failed", "failed", "failed", "delivered"]);
    assert!(matches!(&fates[1], Fate::Failed { why, .. } if why == "nobody is there"), "{fates:?}");
    let carried = stage.carried();
    let key = SigningKey::parse(&Secret::new(SECRET)).ok().unwrap();
    for (attempt, (at, letter)) in carried.iter().enumerate() {
        let timestamp: i64 = header(letter, "webhook-timestamp").parse().unwrap();
        assert_eq!(timestamp, 1_700_000_000 + i64::try_from(at.as_secs()).unwrap());
        assert_eq!(header(letter, "webhook-signature"), key.sign("msg_1", timestamp, &letter.body));
        assert_eq!((header(letter, "webhook-id"), &letter.body), ("msg_1", &carried[0].1.body));
        // A half to the whole of 2, 4, 8 seconds.
        if attempt > 0 {
            let wait = at.saturating_sub(carried[attempt - 1].0);
            let whole = Duration::from_secs(1 << attempt);
            assert!(wait >= whole / 2 && wait <= whole + Duration::from_millis(100), "{attempt}: {wait:?}");
        }
    }
    stage.webhooks.leave(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn whoever_wants_to_be_left_alone_is_and_others_wait_behind() {
    let wait = Duration::from_secs(90);
    let stage = Stage::new(vec![Ok(Receipt { status: 429, retry_after: Some(wait) })]);
    stage.webhooks.start();
    stage.post("msg_1").await;
    stage.told(1).await;
    stage.post("msg_2").await;
    stage.told(3).await;
    let carried = stage.carried();
    assert_eq!(carried.len(), 3);
    for (at, _) in &carried[1..] {
        assert!(*at >= wait && *at <= wait + Duration::from_secs(8), "{at:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_given_up_after_a_day_and_at_once_when_the_receiver_is_gone() {
    let stage = Stage::new(vec![Ok(status(410))]);
    stage.webhooks.start();
    stage.post("msg_gone").await;
    let fates = stage.told(1).await;
    assert_eq!(fates, [Fate::GivenUp { why: "it was answered with 410".to_owned() }]);
    stage.courier.answers.lock().unwrap().extend((0..200).map(|_| Ok(status(503))));
    stage.post("msg_down").await;
    loop {
        tokio::time::sleep(Duration::from_mins(1)).await;
        if stage.told.lock().unwrap().iter().skip(1).any(|told| told.fate.word() == "given_up") {
            break;
        }
    }
    let last = stage.carried().last().unwrap().0;
    let day = Duration::from_millis(u64::try_from(TRIED_FOR).unwrap());
    assert!(last > Duration::from_mins(23 * 60 - 5) && last < day, "{last:?}");
    let count = stage.carried().len();
    assert!((25..60).contains(&count), "{count} attempts");
    assert_eq!(stage.registry.undelivered().await, Ok(Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn without_a_secret_nothing_is_sent_and_nothing_is_lost() {
    let stage = Stage::new(Vec::new());
    *stage.secret.lock().unwrap() = Err("SECRET is not set".to_owned());
    stage.webhooks.start();
    stage.post("msg_1").await;
    assert!(matches!(&stage.told(1).await[0], Fate::Failed { why, .. } if why == "SECRET is not set"));
    *stage.secret.lock().unwrap() = Ok(Secret::new("whsec_c2hvcnQ="));
    let bad = stage.told(2).await.pop().unwrap();
    assert!(
        matches!(&bad, Fate::Failed { why, .. } if why.contains("whsec_") && !why.contains("c2hvcnQ")),
        "{bad:?}"
    );
    assert_eq!(stage.carried().len(), 0);
    *stage.secret.lock().unwrap() = Ok(Secret::new(SECRET));
    assert_eq!(stage.told(3).await[2], Fate::Delivered);
}

#[tokio::test(start_paused = true)]
async fn what_a_server_took_and_did_not_settle_is_told_by_another_one() {
    let stage = Stage::new(Vec::new());
    stage.post("msg_1").await;
    // One that dies with it in its hands.
    let now = 1_700_000_000_000;
    assert_eq!(stage.registry.take("pager", now, now + 60_000, 9).await.unwrap().len(), 1);
    stage.webhooks.start();
    assert_eq!(stage.told(1).await, [Fate::Delivered]);
    let at = stage.carried()[0].0;
    assert!(at >= Duration::from_mins(1) && at < Duration::from_secs(66), "{at:?}");
    // What nobody needs any more is not sent at all.
    stage.webhooks.post(&[notice("msg_2", Some(5))]).await.unwrap();
    assert!(matches!(&stage.told(2).await[1], Fate::GivenUp { .. }));
    assert_eq!(stage.carried().len(), 1);
}
