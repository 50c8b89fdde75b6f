//! What sends spans: beside everything else, in batches, again when it makes sense, and not for ever.

use crate::encode;
use crate::queue::Queue;
use crate::send::{Sent, client, send};
use crate::settings::Settings;
use abide_engine::trace::{Fate, Span, Tally};
use reqwest::Client;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

/// How soon a batch is sent again, at first and at last, unless the collector says when.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// For how long a batch is sent again and again; others wait behind it meanwhile.
const PATIENCE: Duration = Duration::from_mins(2);

/// Sends spans to a collector.
pub struct Exporter {
    queue: Arc<Queue>,
    tally: Arc<Tally>,
    settings: Arc<Settings>,
    /// When everything must be sent; nothing as long as there is time.
    end: watch::Sender<Option<Instant>>,
    task: Mutex<Option<JoinHandle<()>>>,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Exporter {
    /// Begins to send what it will be given, by a task of this runtime. Nobody is asked yet.
    pub fn start(settings: Settings, tally: Arc<Tally>) -> Result<Self, String> {
        let queue = Arc::new(Queue::new(settings.queue, Arc::clone(&tally)));
        let settings = Arc::new(settings);
        let (end, ending) = watch::channel(None);
        let trouble = Arc::<Mutex<Option<String>>>::default();
        let sender = Sender {
            client: client(&settings)?,
            queue: Arc::clone(&queue),
            tally: Arc::clone(&tally),
            settings: Arc::clone(&settings),
            ending,
            trouble: Arc::clone(&trouble),
        };
        let task = Mutex::new(Some(tokio::spawn(sender.work())));
        Ok(Self { queue, tally, settings, end, task, trouble })
    }

    /// Takes spans, as far as there is room for them, and those of traces that are told of. Never waits.
    pub fn give(&self, spans: Vec<Span>) {
        let sampler = self.settings.sampler;
        self.queue.give(spans.into_iter().filter(|span| sampler.keeps(span.place)));
    }

    /// Returns what became of the spans.
    pub fn tally(&self) -> &Arc<Tally> {
        &self.tally
    }

    /// Returns where they go, for people.
    pub fn shown(&self) -> String {
        self.settings.shown()
    }

    /// Returns why the last batch was not taken.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends what there is, and ends; what cannot be sent within the time is counted, and gone.
    pub async fn end(&self, within: Duration) {
        let deadline = Instant::now() + within;
        self.end.send_replace(Some(deadline));
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            let _ = task.await;
        }
    }
}

struct Sender {
    client: Client,
    queue: Arc<Queue>,
    tally: Arc<Tally>,
    settings: Arc<Settings>,
    ending: watch::Receiver<Option<Instant>>,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Sender {
    async fn work(mut self) {
        while self.wait().await {
            let batch = self.queue.take(self.settings.batch);
            if batch.is_empty() {
                continue;
            }
            let spans = batch.len() as u64;
            if !self.deliver(&batch).await {
                self.tally.add(Fate::Dropped, spans);
            }
        }
        self.queue.drop_all();
    }

    /// Waits until there is a batch, or what there is has waited long enough; returns whether there is more to do.
    async fn wait(&mut self) -> bool {
        let mut due: Option<Instant> = None;
        loop {
            let waiting = self.queue.len();
            if let Some(deadline) = *self.ending.borrow() {
                return waiting > 0 && Instant::now() < deadline;
            }
            if waiting >= self.settings.batch {
                return true;
            }
            if waiting > 0 && due.is_none() {
                due = Some(Instant::now() + self.settings.delay);
            }
            tokio::select! {
                () = self.queue.news.notified() => {}
                changed = self.ending.changed() => {
                    if changed.is_err() {
                        // Whoever gave spans is gone without a word.
                        return false;
                    }
                }
                () = until(due) => return true,
            }
        }
    }

    /// Sends a batch until it is taken, refused, or too old; returns whether its fate is counted.
    async fn deliver(&mut self, batch: &[Span]) -> bool {
        let body = encode::request(&self.settings.resource, batch);
        let give_up = Instant::now() + PATIENCE;
        let mut wait = FIRST_WAIT;
        loop {
            let sent = {
                let mut ending = self.ending.clone();
                let sending = send(&self.client, &self.settings, body.clone());
                tokio::select! {
                    biased;
                    sent = sending => sent,
                    () = over(&mut ending) => Sent::Unreachable("it does not answer in time".to_owned()),
                }
            };
            let (pause, why) = match sent {
                Sent::Taken { rejected } => {
                    let rejected = rejected.min(batch.len() as u64);
                    self.tally.add(Fate::Rejected, rejected);
                    self.tally.add(Fate::Exported, batch.len() as u64 - rejected);
                    self.note(None);
                    return true;
                }
                Sent::Refused(why) => {
                    self.tally.add(Fate::Rejected, batch.len() as u64);
                    self.note(Some(why));
                    return true;
                }
                Sent::Later { wait: said, why } => (said.unwrap_or(wait), why),
                Sent::Unreachable(why) => {
                    // Nobody waits at an end for somebody who is not there.
                    let is_ending = self.ending.borrow().is_some();
                    self.note(Some(why.clone()));
                    if is_ending {
                        return false;
                    }
                    (wait, why)
                }
            };
            self.note(Some(why));
            wait = (wait * 2).min(LONGEST_WAIT);
            if !self.pause(Instant::now() + pause, give_up).await {
                return false;
            }
        }
    }

    /// Waits until a moment; returns whether it comes before it is too late.
    async fn pause(&mut self, until: Instant, give_up: Instant) -> bool {
        if until > give_up {
            return false;
        }
        loop {
            let end = *self.ending.borrow();
            match end {
                Some(deadline) if until >= deadline => return false,
                Some(_) => {
                    tokio::time::sleep_until(until).await;
                    return true;
                }
                None => {}
            }
            match timeout_at(until, self.ending.changed()).await {
                Err(_) => return true,
                Ok(Err(_)) => return false,
                Ok(Ok(())) => {}
            }
        }
    }

    fn note(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Waits until the time is over in which everything had to be sent.
async fn over(ending: &mut watch::Receiver<Option<Instant>>) {
    loop {
        let deadline = *ending.borrow_and_update();
        if let Some(deadline) = deadline {
            return tokio::time::sleep_until(deadline).await;
        }
        if ending.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}
