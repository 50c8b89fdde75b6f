//! What webhooks are told of runs and sessions: it is found in the logs, and said with the names of the API.
//!
//! A log is read as far as it has not been yet whenever something happens that may be told, and when somebody begins to drive the run:
//! a server that was killed in between has told less than there is. So nothing depends on who saw an event happen. The same event
//! always makes the same id, and what is known is not posted twice.

use crate::house::House;
use crate::view;
use abide_core::definition::WebhookEvent;
use abide_core::event::{EndStatus, Event, RunId};
use abide_core::run::Run;
use abide_engine::driver::Observer;
use abide_engine::port::{Clock, OutboxError, Store as _, StoreError, Stored};
use abide_engine::talk::ToolQuestion;
use abide_engine::webhooks::{Notice, TRIED_FOR, Webhooks};
use abide_engine::{LoadError, load, service};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// How many events are read at once.
const PAGE: u64 = 1_000;
/// How soon it is tried again when a store does not answer.
const AGAIN: Duration = Duration::from_secs(1);
/// How many questions about calls wait to be posted at most; each is answered within a minute, or never.
const MOST_CALLS: usize = 1_000;
/// Of how many runs it is remembered how far their logs have been read.
const MOST_READ: usize = 20_000;

/// What webhooks are told.
pub struct Notices<C> {
    webhooks: Arc<Webhooks<C>>,
    waiting: Mutex<Waiting>,
    wake: Notify,
}

#[derive(Default)]
struct Waiting {
    /// Runs that something may have happened to.
    runs: BTreeSet<RunId>,
    /// Calls that a human is asked about.
    calls: Vec<Notice>,
    /// How far the logs of runs have been read.
    read: HashMap<RunId, u64>,
}

/// Why something could not be posted.
#[derive(Debug)]
pub(crate) enum Untold {
    /// A store does not answer; it may later.
    Later,
    /// The log cannot be read; it never will be.
    Never,
}

impl From<OutboxError> for Untold {
    fn from(_: OutboxError) -> Self {
        Self::Later
    }
}

impl From<StoreError> for Untold {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unknown(_) | StoreError::Damaged { .. } | StoreError::Unreadable { .. } => {
                Self::Never
            }
            _ => Self::Later,
        }
    }
}

impl From<LoadError> for Untold {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Store(error) => error.into(),
            LoadError::Event { .. } | LoadError::Broken { .. } => Self::Never,
        }
    }
}

impl<C: Clock> Notices<C> {
    /// Puts together what webhooks are told.
    pub fn new(webhooks: Arc<Webhooks<C>>) -> Self {
        Self { webhooks, waiting: Mutex::default(), wake: Notify::new() }
    }

    /// Returns who is told.
    pub fn webhooks(&self) -> &Arc<Webhooks<C>> {
        &self.webhooks
    }

    /// Takes a question about a call of a session, which no log holds.
    pub fn asked(&self, question: &ToolQuestion) {
        if self.webhooks.is_empty() {
            return;
        }
        let mut data = view::tool_approval(question);
        // What an agent would send somewhere may be anything; whoever answers looks it up.
        data["arguments"] = Value::Null;
        let mut waiting = self.waiting();
        if waiting.calls.len() < MOST_CALLS {
            waiting.calls.push(Notice {
                id: format!("msg_{}", question.id),
                event: WebhookEvent::ApprovalRequested,
                ability: None,
                at: question.asked_at.0,
                until: Some(question.deadline.0),
                data,
            });
        }
        drop(waiting);
        self.wake.notify_one();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mark(&self, run: &RunId) {
        if !self.webhooks.is_empty() {
            self.waiting().runs.insert(run.clone());
            self.wake.notify_one();
        }
    }
}

impl<C: Clock> Observer for Notices<C> {
    fn driving(&self, run: &Run) {
        self.mark(&run.id);
    }

    fn event(&self, run: &Run, event: &Event) {
        if matches!(event, Event::QuestionAsked { .. } | Event::Finished { .. }) {
            self.mark(&run.id);
        }
    }
}

/// Posts what there is to tell, until it is stopped.
pub(crate) async fn tell<H: House>(house: Arc<H>) {
    let notices = Arc::clone(house.notices());
    loop {
        let next = {
            let mut waiting = notices.waiting();
            (std::mem::take(&mut waiting.calls), waiting.runs.first().cloned())
        };
        let done = match next {
            (calls, None) if calls.is_empty() => {
                notices.wake.notified().await;
                continue;
            }
            (calls, _) if !calls.is_empty() => {
                let posted = notices.webhooks.post(&calls).await;
                if posted.is_err() {
                    let mut waiting = notices.waiting();
                    let room = MOST_CALLS.saturating_sub(waiting.calls.len());
                    waiting.calls.extend(calls.into_iter().take(room));
                }
                posted.is_ok()
            }
            (_, Some(run)) => {
                // What happens while it is read marks it again.
                notices.waiting().runs.remove(&run);
                let later = matches!(read_on(&*house, &run).await, Err(Untold::Later));
                if later {
                    notices.mark(&run);
                }
                !later
            }
            (_, None) => true,
        };
        if !done {
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// Posts what there is to tell of a run that is over, and of those that it called; until that is done, the run may not be taken for done.
pub(crate) async fn over<H: House>(house: &H, id: &RunId) -> Result<(), Untold> {
    if house.notices().webhooks.is_empty() {
        return Ok(());
    }
    let posted = post_family(house, id).await;
    match posted {
        Err(Untold::Later) => Err(Untold::Later),
        Ok(()) | Err(Untold::Never) => Ok(()),
    }
}

async fn post_family<H: House>(house: &H, id: &RunId) -> Result<(), Untold> {
    let family = service::family(house.driver().store(), id).await?;
    for member in &family {
        read_on(house, &member.run.id).await?;
    }
    let mut waiting = house.notices().waiting();
    for member in &family {
        waiting.runs.remove(&member.run.id);
        waiting.read.remove(&member.run.id);
    }
    Ok(())
}

/// Reads the log of a run from where it was read to, and posts what there is to tell.
async fn read_on<H: House>(house: &H, id: &RunId) -> Result<(), Untold> {
    let (store, notices) = (house.driver().store(), house.notices());
    let run = load(store, id).await?.run;
    let mut read = notices.waiting().read.get(id).copied().unwrap_or(0);
    let now = house.now();
    loop {
        let page = store.read(id.as_str(), read + 1..read + 1 + PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        let told: Vec<Notice> = page.iter().filter_map(|stored| notice(&run, stored, now)).collect();
        notices.webhooks.post(&told).await?;
        read = last.seq;
        let mut waiting = notices.waiting();
        if waiting.read.len() >= MOST_READ {
            // Those of runs that went on elsewhere; what is read again is known.
            waiting.read.clear();
        }
        waiting.read.insert(id.clone(), read);
    }
}

/// Returns what is told of an event, if something is.
fn notice(run: &Run, stored: &Stored, now: i64) -> Option<Notice> {
    if !matches!(stored.kind.as_str(), "run.created" | "question.asked" | "run.finished") {
        return None;
    }
    let (event, data) = match abide_formats::event::read(&stored.kind, &stored.data).ok()? {
        Event::Created(created) if created.plan_approval => {
            (WebhookEvent::ApprovalRequested, view::approval(run, None))
        }
        Event::QuestionAsked { key, question } => {
            (WebhookEvent::ApprovalRequested, view::approval(run, Some((&key, &question))))
        }
        // Whoever started a run waits for it, and not for those that it calls.
        Event::Finished { status, error } if run.created.parent.is_none() => {
            (WebhookEvent::RunFinished, finished(run, status, error.as_deref(), stored.at))
        }
        _ => return None,
    };
    // Of a run that has waited for long, a webhook that is new is told what is still asked.
    let is_stale = event == WebhookEvent::ApprovalRequested && stored.at < now.saturating_sub(TRIED_FOR);
    let is_open = |step: &Value| match step.as_str() {
        None => run.status() == abide_core::run::RunStatus::AwaitingPlan,
        Some(step) => run.questions().iter().any(|(key, _)| key.to_string() == step),
    };
    if is_stale && !is_open(&data["step"]) {
        return None;
    }
    Some(Notice {
        id: format!("msg_{}_{}", run.id, stored.seq),
        event,
        ability: Some(run.created.name.to_string()),
        at: stored.at,
        until: None,
        data,
    })
}

fn finished(run: &Run, status: EndStatus, error: Option<&str>, at: i64) -> Value {
    json!({
        "run": run.id.as_str(),
        "ability": run.created.name.as_str(),
        "status": status.word(),
        "by": run.created.by.as_str(),
        "error": error,
        "rerun_of": run.created.rerun_of.as_ref().map(|(run, _)| run.as_str()),
        "created_at": run.created.at.0,
        "finished_at": at,
    })
}
