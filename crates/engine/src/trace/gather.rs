//! A whole trace, read from the logs: a run with the runs that it called and the sessions of its steps, or one turn of a session.

use super::names;
use super::run::{AgentAttempt, RunFold};
use super::session::{SessionFold, used};
use super::span::{Place, Span, SpanId};
use crate::log::{LoadError, beginning, parse};
use crate::port::{SessionId, Store, StoreError, Stored};
use crate::turn::SessionError;
use abide_core::event::{RunId, Timestamp};
use abide_core::model::Cost;
use abide_core::turn::{EventKind, SessionCreated, TurnEvent};
use std::collections::BTreeMap;
use std::ops::Range;

/// How many events are read at once.
const PAGE: u64 = 256;
/// How many spans a trace has at most: what is beyond is left out, so that no run can fill the memory of a server.
const MOST_SPANS: usize = 10_000;

/// The spans of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// The spans, those within another before it.
    pub spans: Vec<Span>,
    /// How many more there were.
    pub left_out: u64,
}

/// Why a trace could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The log of a run could not be read.
    #[error(transparent)]
    Run(#[from] LoadError),
    /// The log of a session could not be read.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl From<StoreError> for TraceError {
    fn from(error: StoreError) -> Self {
        Self::Run(error.into())
    }
}

impl Trace {
    fn add(&mut self, spans: impl IntoIterator<Item = Span>) {
        for span in spans {
            if self.spans.len() < MOST_SPANS {
                self.spans.push(span);
            } else {
                self.left_out += 1;
            }
        }
    }
}

/// Returns the trace of a run that is over: nothing of one that is not, or that another run called, which has it in its own.
///
/// `sessions` is where the sessions of steps are kept; what is not there is not told of.
pub async fn trace_of_run<S: Store, T: Store>(
    runs: &S,
    sessions: Option<&T>,
    id: &RunId,
) -> Result<Trace, TraceError> {
    let mut trace = Trace::default();
    let mut waiting: Vec<(RunId, Option<Place>)> = vec![(id.clone(), None)];
    while let Some((id, place)) = waiting.pop() {
        let first = match runs.read(id.as_str(), 1..2).await {
            // A step that called it was ended before it began.
            Err(StoreError::Unknown(_)) if place.is_some() => continue,
            first => first?,
        };
        let Some(first) = first.first() else { continue };
        let (created, ability) = beginning(&id, first)?;
        let is_first = place.is_none();
        if is_first && created.parent.is_some() {
            return Ok(trace);
        }
        let place = place.unwrap_or_else(|| Place::of(id.as_str(), created.trace));
        let mut fold = RunFold::new(id.clone(), place, &created, ability, Timestamp(first.at));
        let mut next = 2;
        loop {
            let page = runs.read(id.as_str(), next..next + PAGE).await?;
            for stored in &page {
                let event = parse(&id, stored.seq, &stored.kind, &stored.data)?;
                fold.take(stored.seq, Timestamp(stored.at), &event);
            }
            next += page.len() as u64;
            if (page.len() as u64) < PAGE {
                break;
            }
        }
        let mut found = fold.into_spans();
        if is_first && !found.over {
            return Ok(Trace::default());
        }
        let mut of_session: BTreeMap<String, Vec<AgentAttempt>> = BTreeMap::new();
        for attempt in std::mem::take(&mut found.agents) {
            of_session.entry(attempt.session.to_string()).or_default().push(attempt);
        }
        for attempts in of_session.into_values() {
            let within = match sessions {
                Some(sessions) => of_step(sessions, place, &attempts).await?,
                None => None,
            };
            match within {
                Some(spans) => trace.add(spans),
                // Somebody else's loop did it: what is known stands at the attempt.
                None => tell_of_agents(&mut found.spans, &attempts),
            }
        }
        trace.add(found.spans);
        waiting.extend(found.calls.into_iter().map(|(called, span)| (called, Some(place.under(span)))));
    }
    Ok(trace)
}

/// Notes at attempts which agent did them, and what it used.
fn tell_of_agents(spans: &mut [Span], attempts: &[AgentAttempt]) {
    for attempt in attempts {
        let Some(span) = spans.iter_mut().find(|span| span.id == attempt.span) else { continue };
        let told =
            span.clone().text(names::OPERATION, "invoke_agent").text(names::AGENT, attempt.agent.as_str());
        *span = match attempt.usage {
            Some(usage) => used(told, usage, Cost::default()),
            None => told,
        };
    }
}

/// Returns what happened in the session of a step, each turn under the attempt in which it began.
async fn of_step<T: Store>(
    sessions: &T,
    place: Place,
    attempts: &[AgentAttempt],
) -> Result<Option<Vec<Span>>, TraceError> {
    let Some(first) = attempts.first() else { return Ok(None) };
    let place_of = |_: Option<&str>, at: Timestamp| {
        let begun = attempts.iter().filter(|attempt| attempt.from <= at);
        let under: Option<SpanId> = begun.max_by_key(|attempt| attempt.from).map(|attempt| attempt.span);
        Some(place.under(under.unwrap_or(first.span)))
    };
    let mut fold = SessionFold::new(first.session.clone(), SessionCreated::default(), &place_of);
    let mut next = 1;
    loop {
        let page = match sessions.read(first.session.as_str(), next..next + PAGE).await {
            Err(StoreError::Unknown(_)) => return Ok(None),
            page => page?,
        };
        for stored in &page {
            fold.take(stored.seq, Timestamp(stored.at), &read(&first.session, stored)?);
        }
        next += page.len() as u64;
        if (page.len() as u64) < PAGE {
            return Ok(Some(fold.into_spans()));
        }
    }
}

/// Returns the trace of one turn of a session, which is known by its label; it has the digits of that label.
pub async fn trace_of_turn<T: Store>(
    sessions: &T,
    session: &SessionId,
    label: &str,
) -> Result<Trace, TraceError> {
    let mut trace = Trace::default();
    let Some(head) = sessions.head(session.as_str()).await? else { return Ok(trace) };
    let Some(told) = told_at(sessions, session, label, head.seq).await? else { return Ok(trace) };
    let created = match sessions.read(session.as_str(), 1..2).await?.first() {
        Some(first) => read(session, first)?,
        None => return Ok(trace),
    };
    let TurnEvent::Created(created) = created else { return Ok(trace) };
    let place_of = |found: Option<&str>, _| (found == Some(label)).then(|| Place::of(label, None));
    let mut fold = SessionFold::new(session.clone(), *created, &place_of);
    let mut next = told;
    'log: loop {
        let page = sessions.read(session.as_str(), next..next + PAGE).await?;
        for stored in &page {
            let event = read(session, stored)?;
            fold.take(stored.seq, Timestamp(stored.at), &event);
            if let TurnEvent::Ended(_) = event {
                break 'log;
            }
        }
        next += page.len() as u64;
        if (page.len() as u64) < PAGE {
            break;
        }
    }
    trace.add(fold.into_spans());
    Ok(trace)
}

/// Finds where a turn began, from the end of a log: it is one of the last, and what is before it may be long.
async fn told_at<T: Store>(
    sessions: &T,
    session: &SessionId,
    label: &str,
    end: u64,
) -> Result<Option<u64>, TraceError> {
    let mut pages: Range<u64> = end.saturating_sub(PAGE).max(1)..end + 1;
    loop {
        let page = sessions.read(session.as_str(), pages.clone()).await?;
        for stored in page.iter().rev().filter(|stored| stored.kind == EventKind::Told.word()) {
            if let TurnEvent::Told { label: Some(found), .. } = read(session, stored)?
                && found == label
            {
                return Ok(Some(stored.seq));
            }
        }
        if pages.start <= 1 {
            return Ok(None);
        }
        pages = pages.start.saturating_sub(PAGE).max(1)..pages.start;
    }
}

fn read(session: &SessionId, stored: &Stored) -> Result<TurnEvent, SessionError> {
    abide_formats::turn::read(&stored.kind, &stored.data).map_err(|source| SessionError::Event {
        session: session.to_string(),
        seq: stored.seq,
        source,
    })
}
