//! What a run tells while it is driven, as lines.

use crate::ui::visible::visible;
use abide_core::event::{EndStatus, Event, NotedVerdict, RunId, Skip, Then};
use abide_core::run::Run;
use abide_engine::driver::Observer;
use abide_engine::port::{Line, Stream};
use abide_engine::service::{self, Open};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Something that a driver told.
#[derive(Debug)]
pub(crate) enum Told {
    /// A run is driven from now on, and this is what it waits for a human with.
    Driving {
        /// Which run.
        run: RunId,
        /// What.
        open: Vec<Open>,
    },
    /// Something happened.
    Event {
        /// To which run.
        run: RunId,
        /// How many runs are above it.
        depth: u32,
        /// What.
        event: Box<Event>,
    },
    /// A step wrote something.
    Output {
        /// Of which run.
        run: RunId,
        /// Which step.
        key: String,
        /// Where.
        stream: Stream,
        /// What.
        bytes: Vec<u8>,
    },
}

/// Hands on what a driver tells.
pub(crate) struct Progress {
    sender: UnboundedSender<Told>,
}

impl Progress {
    /// Returns the observer, and where it hands things on to.
    pub(crate) fn new() -> (Self, UnboundedReceiver<Told>) {
        let (sender, receiver) = unbounded_channel();
        (Self { sender }, receiver)
    }
}

impl Observer for Progress {
    fn begun(&self, run: &Run) {
        // Its first event is written before anybody drives it.
        self.event(run, &Event::Created(Box::new((*run.created).clone())));
    }

    fn driving(&self, run: &Run) {
        // Whoever listens may have left.
        let _ = self.sender.send(Told::Driving { run: run.id.clone(), open: service::open(run) });
    }

    fn event(&self, run: &Run, event: &Event) {
        // Whoever listens may have left.
        let _ = self.sender.send(Told::Event {
            run: run.id.clone(),
            depth: run.created.depth,
            event: Box::new(event.clone()),
        });
    }

    fn output(&self, run: &RunId, key: &str, line: &Line) {
        let _ = self.sender.send(Told::Output {
            run: run.clone(),
            key: key.to_owned(),
            stream: line.stream,
            bytes: line.bytes.clone(),
        });
    }
}

/// Turns what is told into lines.
#[derive(Default)]
pub(crate) struct Lines {
    /// The beginning of a line whose end has not come.
    partial: HashMap<(RunId, String, bool), Vec<u8>>,
    /// When each attempt began, in milliseconds since the first.
    started: HashMap<String, Duration>,
}

/// How long a line of output may get before it is shown without its end.
const LONGEST_LINE: usize = 8 * 1024;

impl Lines {
    /// Returns the lines for something that was told at a moment.
    pub(crate) fn tell(&mut self, told: Told, at: Duration) -> String {
        match told {
            Told::Driving { .. } => String::new(),
            Told::Output { run, key, stream, bytes } => self.output(&run, &key, stream, &bytes),
            Told::Event { run, depth, event } => {
                let indent = "  ".repeat(depth as usize);
                let mut text = self.rest(&run, &event);
                if let Some(line) = self.event(&run, &event, at) {
                    let _ = writeln!(text, "{indent}{line}");
                }
                text
            }
        }
    }

    fn output(&mut self, run: &RunId, key: &str, stream: Stream, bytes: &[u8]) -> String {
        let entry = self.partial.entry((run.clone(), key.to_owned(), stream == Stream::Stderr)).or_default();
        let mut text = String::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            entry.extend_from_slice(piece);
            if piece.ends_with(b"\n") || entry.len() > LONGEST_LINE {
                push_line(&mut text, key, entry);
                entry.clear();
            }
        }
        text
    }

    /// Returns what a step wrote last without a line end.
    fn rest(&mut self, run: &RunId, event: &Event) -> String {
        let (Event::AttemptSucceeded { key, .. }
        | Event::AttemptFailed { key, .. }
        | Event::AttemptCancelled { key, .. }) = event
        else {
            return String::new();
        };
        let mut text = String::new();
        for stderr in [false, true] {
            if let Some(line) =
                self.partial.remove(&(run.clone(), key.to_string(), stderr)).filter(|line| !line.is_empty())
            {
                push_line(&mut text, &key.to_string(), &line);
            }
        }
        text
    }

    fn event(&mut self, run: &RunId, event: &Event, at: Duration) -> Option<String> {
        let mut took = |key: &str| {
            let began = self.started.remove(&format!("{run}/{key}")).unwrap_or(at);
            format!("({})", shown(at.saturating_sub(began)))
        };
        Some(match event {
            Event::Created(_) | Event::StepExpanded { .. } | Event::HookStarted { .. } => return None,
            Event::PlanAnswered { by, approved, .. } => {
                format!(
                    "{} plan {} by {by}",
                    if *approved { "✓" } else { "✗" },
                    if *approved { "approved" } else { "rejected" }
                )
            }
            Event::HookEnded { hook, error: None } => format!("✓ {hook}"),
            Event::HookEnded { hook, error: Some(error) } => format!("✗ {hook}: {}", visible(error, true)),
            Event::StepSkipped { step, why } => match why {
                Skip::When { because } => format!("– {step} skipped: {}", visible(because, true)),
                Skip::Rejected { need } => format!("– {step} skipped: it needs `{need}`, which was rejected"),
                Skip::Chosen { by } => format!("– {step} skipped by {by}"),
            },
            Event::AttemptStarted { key, attempt, .. } => {
                self.started.insert(format!("{run}/{key}"), at);
                if *attempt > 1 { format!("▸ {key} (attempt {attempt})") } else { format!("▸ {key}") }
            }
            Event::AttemptSucceeded { key, again: None, .. } => format!("✓ {key} {}", took(&key.to_string())),
            Event::AttemptSucceeded { key, again: Some(_), .. } => {
                format!("↻ {key} again: its condition does not hold yet")
            }
            Event::AttemptFailed { key, failure, then, .. } => {
                let then = match then {
                    Then::Retry(_) => "; it is tried again",
                    Then::Ask => "; a human decides",
                    Then::Continue => "; the run goes on",
                    Then::Stop => "",
                };
                format!("✗ {key} {}: {}{then}", took(&key.to_string()), visible(&failure.to_string(), true))
            }
            Event::AttemptCancelled { key, .. } => format!("○ {key} cancelled"),
            Event::AttemptLost { key, rerun: true, .. } => {
                format!("! {key} was interrupted; it is run again")
            }
            Event::AttemptLost { key, rerun: false, .. } => format!("! {key} was interrupted in the middle"),
            Event::LossResolved { key, by, decision } => {
                format!("✓ {key}: {by} decided to {decision:?}").to_lowercase()
            }
            Event::QuestionAsked { key, question } => format!("? {key}: {}", visible(&question.prompt, true)),
            Event::QuestionAnswered { key, answer, by, comment } => {
                let comment = comment
                    .as_ref()
                    .map(|comment| format!(": {}", visible(comment, true)))
                    .unwrap_or_default();
                format!("✓ {key} answered `{answer}` by {by}{comment}")
            }
            Event::StepSummarized { step, model, .. } => format!("✓ {step} summarized by {model}"),
            Event::QuestionExpired { key } => format!("✗ {key}: nobody answered in time"),
            Event::CancelRequested { by, .. } => format!("○ cancelled by {by}"),
            Event::DeadlinePassed => "✗ the run's time is over".to_owned(),
            Event::VerdictNoted { verdict: NotedVerdict::Given(given), .. } => {
                format!("! {}", visible(&given.to_string(), true))
            }
            Event::VerdictNoted { verdict: NotedVerdict::Lost(why), .. } => {
                format!("! {}", visible(why, true))
            }
            Event::Finished { status, error } => {
                let sign = if *status == EndStatus::Completed { "✓" } else { "✗" };
                let error =
                    error.as_ref().map(|error| format!(": {}", visible(error, true))).unwrap_or_default();
                format!("{sign} {}{error}", status.word().replace('_', " "))
            }
        })
    }
}

fn push_line(text: &mut String, key: &str, line: &[u8]) {
    let line = String::from_utf8_lossy(line);
    let _ = writeln!(text, "  {key} │ {}", visible(line.trim_end_matches(['\n', '\r']), true));
}

/// Writes a duration as people read it.
pub(crate) fn shown(time: Duration) -> String {
    let millis = time.as_millis();
    match millis {
        0..1_000 => format!("{millis}ms"),
        1_000..60_000 => format!("{}.{}s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{}m{:02}s", millis / 60_000, millis % 60_000 / 1_000),
    }
}
