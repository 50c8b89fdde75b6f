//! A run as it is shown while it is driven: lines in a pipe, and on a terminal a live list below them.

use super::progress::{Lines, Told};
use crate::ui::Style;
use crate::ui::live::{Live, Row};
use crate::ui::visible::visible;
use abide_core::event::{Event, RunId, StepKey};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

/// How many lines of a step are shown again when it fails.
const TAIL: usize = 10;
/// How much of a line without an end is kept.
const LONGEST: usize = 4 * 1024;

/// What is shown of a run.
pub(crate) struct Screen {
    lines: Lines,
    live: Option<Live>,
    under_way: Vec<UnderWay>,
    /// Whether a question stands on the last line.
    paused: bool,
}

struct UnderWay {
    run: RunId,
    key: StepKey,
    began: Duration,
    tail: VecDeque<String>,
    partial: Vec<u8>,
}

impl Screen {
    /// Opens a screen; without a style it is a pipe.
    pub(crate) fn new(style: Option<Style>) -> Self {
        Self { lines: Lines::default(), live: style.map(Live::new), under_way: Vec::new(), paused: false }
    }

    /// Leaves the screen alone until [`Self::go_on`].
    pub(crate) fn pause(&mut self) {
        self.paused = true;
    }

    /// Draws again.
    pub(crate) fn go_on(&mut self) {
        self.paused = false;
    }

    /// Returns what to print about something that was told.
    pub(crate) fn tell(&mut self, told: Told, at: Duration) -> String {
        if self.live.is_none() {
            return self.lines.tell(told, at);
        }
        match told {
            Told::Output { run, key, bytes, .. } => {
                let known =
                    self.under_way.iter_mut().find(|entry| entry.run == run && entry.key.to_string() == key);
                if let Some(entry) = known {
                    entry.take(&bytes);
                }
                String::new()
            }
            Told::Event { run, depth, event } => {
                let above = self.event(&run, depth, event, at);
                if self.paused { above } else { self.draw(&above, at) }
            }
        }
    }

    /// Returns the next frame.
    pub(crate) fn frame(&mut self, at: Duration) -> String {
        if self.paused || self.under_way.is_empty() { String::new() } else { self.draw("", at) }
    }

    /// Returns what leaves the lines alone on the screen.
    pub(crate) fn end(&mut self) -> String {
        self.live.as_mut().map(Live::clear).unwrap_or_default()
    }

    fn draw(&mut self, above: &str, at: Duration) -> String {
        let rows: Vec<Row> = self.under_way.iter().map(|entry| entry.row(at)).collect();
        self.live.as_mut().map(|live| live.frame(above, &rows)).unwrap_or_default()
    }

    fn event(&mut self, run: &RunId, depth: u32, event: Box<Event>, at: Duration) -> String {
        let mut tail = String::new();
        match &*event {
            Event::AttemptStarted { key, .. } => self.under_way.push(UnderWay {
                run: run.clone(),
                key: key.clone(),
                began: at,
                tail: VecDeque::new(),
                partial: Vec::new(),
            }),
            Event::AttemptSucceeded { key, .. }
            | Event::AttemptFailed { key, .. }
            | Event::AttemptCancelled { key, .. }
            | Event::AttemptLost { key, .. } => {
                let place = self.under_way.iter().position(|entry| entry.run == *run && entry.key == *key);
                if let Some(mut entry) = place.map(|place| self.under_way.remove(place))
                    && matches!(&*event, Event::AttemptFailed { .. })
                {
                    entry.take(b"\n");
                    for line in &entry.tail {
                        let _ = writeln!(tail, "  {key} │ {line}");
                    }
                }
            }
            // Somebody answered from elsewhere: the question on the last line is settled.
            Event::QuestionAnswered { .. } | Event::QuestionExpired { .. } | Event::Finished { .. }
                if self.paused =>
            {
                self.paused = false;
                tail.push('\n');
            }
            _ => {}
        }
        let starts = matches!(&*event, Event::AttemptStarted { .. });
        let line = self.lines.tell(Told::Event { run: run.clone(), depth, event }, at);
        // The live list shows that a step has begun.
        if starts { String::new() } else { format!("{tail}{line}") }
    }
}

impl UnderWay {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                let line = String::from_utf8_lossy(&std::mem::take(&mut self.partial)).into_owned();
                let line = visible(line.trim_end_matches('\r'), true).into_owned();
                if !line.trim().is_empty() {
                    self.tail.push_back(line);
                }
                if self.tail.len() > TAIL {
                    self.tail.pop_front();
                }
            } else if self.partial.len() < LONGEST {
                self.partial.push(*byte);
            }
        }
    }

    fn row(&self, at: Duration) -> Row {
        let last = self.tail.back().cloned().unwrap_or_default();
        Row { name: self.key.to_string(), elapsed: at.saturating_sub(self.began), last }
    }
}
