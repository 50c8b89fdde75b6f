//! What a server has done since it started, for a monitor, in the text format of Prometheus.
//!
//! The values of every label are known beforehand (routes of the table, statuses, kinds of ends), so that nobody who asks for
//! nonsense can make the list grow.

use crate::house::House;
use crate::routes::Route;
use abide_core::event::{Event, RunId};
use abide_core::model::{Cost, Usage};
use abide_core::run::{Run, RunStatus};
use abide_core::turn::{Conversation, TurnEnd, TurnEvent};
use abide_engine::driver::Observer;
use abide_engine::port::SessionId;
use abide_engine::trace::{Fate as SpanFate, Tally};
use abide_engine::turn::Ear;
use abide_engine::webhooks::{Fate, Told};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The upper ends of the groups that durations are counted in, in seconds.
const ENDS: [f64; 8] = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0];
/// How many runs are remembered at most; those that nobody drives here any more are dropped first.
const MOST_RUNS: usize = 20_000;

/// What is measured of a server.
#[derive(Default)]
pub struct Meter(Mutex<Measured>);

#[derive(Default)]
struct Measured {
    requests: BTreeMap<(&'static str, &'static str), Requests>,
    runs: HashMap<RunId, Standing>,
    begun: u64,
    ended: BTreeMap<&'static str, u64>,
    turns: BTreeMap<&'static str, u64>,
    answers: u64,
    calls: BTreeMap<&'static str, u64>,
    usage: Usage,
    cost: Cost,
    streams: u64,
    /// What became of deliveries, by webhook and the word for it: webhooks are those of the configuration.
    deliveries: BTreeMap<(String, &'static str), u64>,
}

struct Standing {
    status: RunStatus,
    asked: usize,
}

#[derive(Default)]
struct Requests {
    statuses: BTreeMap<u16, u64>,
    took: Durations,
}

#[derive(Default)]
struct Durations {
    /// How many took at most so long, for each of [`ENDS`].
    counts: [u64; ENDS.len()],
    count: u64,
    sum: Duration,
}

impl Durations {
    fn add(&mut self, took: Duration) {
        for (count, end) in self.counts.iter_mut().zip(ENDS) {
            if took.as_secs_f64() <= end {
                *count += 1;
            }
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(took);
    }
}

impl Meter {
    fn lock(&self) -> MutexGuard<'_, Measured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request; one without a route is counted as such.
    pub(crate) fn request(&self, route: Option<&Route>, status: u16, took: Duration) {
        let at = route.map_or(("", "none"), |route| (route.method.as_str(), route.path));
        let mut measured = self.lock();
        let requests = measured.requests.entry(at).or_default();
        *requests.statuses.entry(status).or_default() += 1;
        requests.took.add(took);
    }

    /// Counts what became of a delivery to a webhook.
    pub fn told(&self, told: &Told) {
        *self.lock().deliveries.entry((told.webhook.clone(), told.fate.word())).or_default() += 1;
    }

    /// Counts a stream for as long as what is returned lives.
    pub(crate) fn stream(self: &Arc<Self>) -> OpenStream {
        self.lock().streams += 1;
        OpenStream(Arc::clone(self))
    }

    fn look(&self, run: &Run) {
        let mut measured = self.lock();
        let status = run.status();
        if status.is_final() {
            measured.runs.remove(&run.id);
        } else if measured.runs.len() < MOST_RUNS || measured.runs.contains_key(&run.id) {
            let asked = run.questions().len() + usize::from(status == RunStatus::AwaitingPlan);
            measured.runs.insert(run.id.clone(), Standing { status, asked });
        }
    }
}

/// A stream that is open.
pub(crate) struct OpenStream(Arc<Meter>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut measured = self.0.lock();
        measured.streams = measured.streams.saturating_sub(1);
    }
}

impl Observer for Meter {
    fn begun(&self, _: &Run) {
        self.lock().begun += 1;
    }

    fn driving(&self, run: &Run) {
        self.look(run);
    }

    fn event(&self, run: &Run, event: &Event) {
        self.look(run);
        let mut measured = self.lock();
        match event {
            Event::Finished { status, .. } => *measured.ended.entry(status.word()).or_default() += 1,
            Event::StepSummarized { usage, .. } => measured.usage += *usage,
            _ => {}
        }
    }
}

impl Ear for Meter {
    fn happened(&self, _: &SessionId, _: &Conversation, event: &TurnEvent) {
        let mut measured = self.lock();
        match event {
            TurnEvent::Answered(answered) => {
                measured.answers += 1;
                measured.usage += answered.usage;
                measured.cost = measured.cost.plus(answered.cost);
            }
            TurnEvent::Compacted(compacted) => {
                measured.usage += compacted.usage;
                measured.cost = measured.cost.plus(compacted.cost);
            }
            // What calls have used is heard from the sessions that used it.
            TurnEvent::Charged(charged) if charged.call.is_none() => {
                measured.usage += charged.spent.usage;
                measured.cost = measured.cost.plus(charged.spent.cost);
            }
            TurnEvent::Result { outcome, .. } => {
                let word = if outcome.error.is_some() { "failed" } else { "ok" };
                *measured.calls.entry(word).or_default() += 1;
            }
            TurnEvent::Ended(end) => {
                let word = match end {
                    TurnEnd::Finished => "finished",
                    TurnEnd::OutOfBudget(_) => "out_of_budget",
                    TurnEnd::Cancelled => "cancelled",
                    TurnEnd::Failed { .. } => "failed",
                };
                *measured.turns.entry(word).or_default() += 1;
            }
            TurnEvent::Created(_)
            | TurnEvent::Told { .. }
            | TurnEvent::Asked
            | TurnEvent::Decided { .. }
            | TurnEvent::Started { .. }
            | TurnEvent::Held { .. }
            | TurnEvent::Charged(_) => {}
        }
    }
}

/// Writes what was measured; the stores are asked, to see how long they take.
pub(crate) async fn text<H: House>(house: &H) -> String {
    let begun = Instant::now();
    let ready = house.ready().await.is_ok();
    let took = begun.elapsed();
    let webhooks = house.notices().webhooks();
    let undelivered = webhooks.undelivered().await.unwrap_or_default();
    let waiting = |name: &str| {
        let found = undelivered.iter().find(|row| row.webhook == name);
        (name.to_owned(), found.map_or(0, |row| row.count))
    };
    let waiting: Vec<(String, u64)> = webhooks.names().map(waiting).collect();
    let mut measured = house.meter().lock();
    measured.runs.retain(|id, _| house.fleet().drives(id));
    measured.text(ready, took, &waiting, house.spans())
}

impl Measured {
    fn text(&self, ready: bool, took: Duration, waiting: &[(String, u64)], spans: Option<&Tally>) -> String {
        let mut page = Page(String::new());
        page.head("abide_info", "gauge", "The version that answers.");
        page.row("abide_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        page.head("abide_http_requests_total", "counter", "Requests by route and status.");
        for ((method, path), requests) in &self.requests {
            for (status, count) in &requests.statuses {
                let status = status.to_string();
                let labels = [("method", *method), ("route", *path), ("status", status.as_str())];
                page.row("abide_http_requests_total", &labels, count);
            }
        }
        let name = "abide_http_request_duration_seconds";
        page.head(name, "histogram", "How long requests took until their answer began, by route.");
        for ((method, path), requests) in &self.requests {
            page.durations(name, &[("method", *method), ("route", *path)], &requests.took);
        }
        page.head("abide_http_open_streams", "gauge", "Streams of events and logs that are open now.");
        page.row("abide_http_open_streams", &[], self.streams);

        page.head("abide_runs", "gauge", "Runs that this server drives now, by status.");
        for status in
            [RunStatus::AwaitingPlan, RunStatus::Running, RunStatus::Waiting, RunStatus::Interrupted]
        {
            let count = self.runs.values().filter(|run| run.status == status).count();
            page.row("abide_runs", &[("status", status.word())], count);
        }
        let asked: usize = self.runs.values().map(|run| run.asked).sum();
        page.head(
            "abide_approvals_waiting",
            "gauge",
            "Questions to humans of the runs that this server drives.",
        );
        page.row("abide_approvals_waiting", &[], asked);
        page.head("abide_runs_started_total", "counter", "Runs that began here.");
        page.row("abide_runs_started_total", &[], self.begun);
        page.words("abide_runs_ended_total", "Runs that ended here, by status.", "status", &self.ended);

        page.words("abide_turns_total", "Turns of agents, by how they ended.", "end", &self.turns);
        page.words(
            "abide_tool_calls_total",
            "Calls of tools that were made, by outcome.",
            "outcome",
            &self.calls,
        );
        page.head("abide_model_answers_total", "counter", "Answers of models.");
        page.row("abide_model_answers_total", &[], self.answers);
        page.head("abide_model_tokens_total", "counter", "Tokens of models; input holds those of the cache.");
        for (kind, count) in [
            ("input", self.usage.input_tokens),
            ("output", self.usage.output_tokens),
            ("cache_read", self.usage.cache_read_tokens),
            ("cache_write", self.usage.cache_write_tokens),
        ] {
            page.row("abide_model_tokens_total", &[("kind", kind)], count);
        }
        page.head(
            "abide_model_cost_dollars_total",
            "counter",
            "What models cost, where prices are configured.",
        );
        let (whole, rest) = (self.cost.0 / 1_000_000_000, self.cost.0 % 1_000_000_000);
        page.row("abide_model_cost_dollars_total", &[], format!("{whole}.{rest:09}"));

        if !waiting.is_empty() {
            page.deliveries(&self.deliveries, waiting);
        }

        page.head("abide_store_up", "gauge", "Whether the stores answer.");
        page.row("abide_store_up", &[], u8::from(ready));
        page.head("abide_store_answer_seconds", "gauge", "How long the stores took to answer just now.");
        page.row("abide_store_answer_seconds", &[], format!("{:.6}", took.as_secs_f64()));
        if let Some(spans) = spans {
            page.head("abide_trace_spans_total", "counter", "Spans of traces, by what became of them.");
            for fate in SpanFate::ALL {
                page.row("abide_trace_spans_total", &[("fate", fate.word())], spans.count(fate));
            }
            let about = "Traces that could not be put together, or that nobody had the time for.";
            page.head("abide_traces_lost_total", "counter", about);
            page.row("abide_traces_lost_total", &[], spans.lost());
        }
        page.0
    }
}

/// The text as it grows; writing to it cannot fail.
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// Labels are words of ours: nothing in them has to be escaped.
    fn row(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn words(&mut self, name: &str, help: &str, label: &str, counts: &BTreeMap<&'static str, u64>) {
        self.head(name, "counter", help);
        for (word, count) in counts {
            self.row(name, &[(label, word)], count);
        }
    }

    /// Every webhook has a row for every end, so that a monitor sees the first one come.
    fn deliveries(&mut self, counts: &BTreeMap<(String, &'static str), u64>, waiting: &[(String, u64)]) {
        let name = "abide_webhook_deliveries_total";
        self.head(name, "counter", "What became of attempts to tell webhooks something.");
        for (webhook, _) in waiting {
            for outcome in Fate::WORDS {
                let count = counts.get(&(webhook.clone(), outcome)).copied().unwrap_or(0);
                self.row(name, &[("webhook", webhook), ("outcome", outcome)], count);
            }
        }
        let name = "abide_webhook_undelivered";
        self.head(name, "gauge", "What waits to be told, at all servers of the database.");
        for (webhook, count) in waiting {
            self.row(name, &[("webhook", webhook)], count);
        }
    }

    fn durations(&mut self, name: &str, labels: &[(&str, &str)], took: &Durations) {
        let bucket = format!("{name}_bucket");
        for (end, count) in ENDS.iter().zip(took.counts) {
            let end = end.to_string();
            self.row(&bucket, &[labels, &[("le", &end)]].concat(), count);
        }
        self.row(&bucket, &[labels, &[("le", "+Inf")]].concat(), took.count);
        self.row(&format!("{name}_sum"), labels, format!("{:.6}", took.sum.as_secs_f64()));
        self.row(&format!("{name}_count"), labels, took.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::model::AnswerEnd;
    use abide_core::turn::{Answered, Outcome};

    #[test]
    fn what_agents_did_is_counted() {
        let meter = Meter::default();
        let session = SessionId::parse("s").unwrap();
        let usage = Usage { input_tokens: 7, output_tokens: 3, cache_read_tokens: 5, cache_write_tokens: 0 };
        for event in [
            TurnEvent::Answered(Box::new(Answered {
                pieces: Vec::new(),
                structured: None,
                usage,
                cost: Cost(1_500_000_000),
                end: AnswerEnd::Done,
            })),
            TurnEvent::Result { call: 0, outcome: Outcome::error("no", "no") },
            TurnEvent::Ended(TurnEnd::Failed { why: "a \"quoted\" reason".to_owned() }),
        ] {
            meter.happened(&session, &Conversation::default(), &event);
        }
        let fate = Fate::GivenUp { why: "gone".to_owned() };
        meter.told(&Told {
            webhook: "pager".to_owned(),
            id: "msg_1".to_owned(),
            attempt: 1,
            took: Duration::ZERO,
            fate,
        });
        let tally = Tally::default();
        tally.add(SpanFate::Dropped, 4);
        let waiting = [("pager".to_owned(), 3)];
        let text = meter.lock().text(true, Duration::from_millis(2), &waiting, Some(&tally));
        for line in [
            "abide_turns_total{end=\"failed\"} 1",
            "abide_tool_calls_total{outcome=\"failed\"} 1",
            "abide_model_tokens_total{kind=\"input\"} 7",
            "abide_model_cost_dollars_total 1.500000000",
            "abide_store_answer_seconds 0.002000",
            "abide_webhook_deliveries_total{webhook=\"pager\",outcome=\"given_up\"} 1",
            "abide_webhook_deliveries_total{webhook=\"pager\",outcome=\"delivered\"} 0",
            "abide_webhook_undelivered{webhook=\"pager\"} 3",
            "abide_trace_spans_total{fate=\"dropped\"} 4",
            "abide_traces_lost_total 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn durations_fall_into_every_group_that_is_long_enough() {
        let mut took = Durations::default();
        for milliseconds in [0, 1, 30, 70_000] {
            took.add(Duration::from_millis(milliseconds));
        }
        assert_eq!(took.counts, [2, 2, 2, 3, 3, 3, 3, 3]);
        assert_eq!(took.count, 4);
    }
}
