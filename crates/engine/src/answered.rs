//! What was answered in a run, when and by whom, as its log tells it.

use crate::log::{LoadError, parse};
use crate::port::Store;
use abide_core::event::{Event, RunId, StepKey, Timestamp};
use smol_str::SmolStr;
use std::fmt;

/// An answer that a human gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// In which run.
    pub run: RunId,
    /// To which step; nothing is the plan.
    pub key: Option<StepKey>,
    /// What.
    pub answer: SmolStr,
    /// Who.
    pub by: SmolStr,
    /// When.
    pub at: Timestamp,
}

impl fmt::Display for Given {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(out, "`{key}`")?,
            None => write!(out, "the plan of run {}", self.run)?,
        }
        write!(out, " was already answered with `{}` by {}", self.answer, self.by)
    }
}

/// How many events are read at once.
const PAGE: u64 = 4_096;

/// Returns the last answer in a run, to a step or, without one, to its plan.
pub(crate) async fn answer_to<S: Store>(
    store: &S,
    id: &RunId,
    key: Option<&StepKey>,
) -> Result<Option<Given>, LoadError> {
    last(store, id, |given| given.key.as_ref() == key).await
}

/// Returns the last answer in a run.
pub async fn last_answer<S: Store>(store: &S, id: &RunId) -> Result<Option<Given>, LoadError> {
    last(store, id, |_| true).await
}

async fn last<S: Store>(
    store: &S,
    id: &RunId,
    wanted: impl Fn(&Given) -> bool,
) -> Result<Option<Given>, LoadError> {
    let (mut found, mut from) = (None, 1);
    loop {
        let page = store.read(id.as_str(), from..from + PAGE).await?;
        for stored in page.iter().filter(|stored| stored.kind.ends_with(".answered")) {
            let (key, answer, by) = match parse(id, stored.seq, &stored.kind, &stored.data)? {
                Event::QuestionAnswered { key, answer, by, .. } => (Some(key), answer, by),
                Event::PlanAnswered { by, approved, .. } => {
                    (None, SmolStr::new_static(if approved { "approved" } else { "rejected" }), by)
                }
                _ => continue,
            };
            let given = Given { run: id.clone(), key, answer, by, at: Timestamp(stored.at) };
            found = Some(given).filter(|given| wanted(given)).or(found);
        }
        if (page.len() as u64) < PAGE {
            return Ok(found);
        }
        from += PAGE;
    }
}
