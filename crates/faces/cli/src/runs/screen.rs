//! A run as it is shown while it is driven: lines in a pipe, and on a terminal a live list below them.

use super::progress::{Lines, Told};
use crate::ui::live::{Live, Row};
use crate::ui::visible::visible;
use crate::ui::{Ink, Style};
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
    style: Style,
    /// What stands on the last line while something is asked.
    prompt: Option<&'static str>,
    /// Whether it stands there, or did until now.
    prompted: bool,
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
        Self {
            lines: Lines::default(),
            live: style.map(Live::new),
            under_way: Vec::new(),
            style: style.unwrap_or(Style::plain()),
            prompt: None,
            prompted: false,
        }
    }

    /// Takes in what is asked now, if something is; returns what puts the prompt on the screen.
    ///
    /// The cursor stands behind it: what happens meanwhile is printed above, and nothing else is drawn.
    pub(crate) fn asked(&mut self, prompt: Option<&'static str>) -> String {
        self.prompt = prompt;
        match prompt {
            Some(prompt) => {
                let cleared = self.end();
                self.prompted = true;
                format!("{cleared}{prompt}")
            }
            None => String::new(),
        }
    }

    /// Returns what to print about something that was told.
    pub(crate) fn tell(&mut self, told: Told, width: usize, at: Duration) -> String {
        if self.live.is_none() {
            return self.lines.tell(told, at);
        }
        match told {
            Told::Driving { .. } => String::new(),
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
                self.draw(&above, width, at)
            }
        }
    }

    /// Returns the next frame.
    pub(crate) fn frame(&mut self, width: usize, at: Duration) -> String {
        if self.under_way.is_empty() { String::new() } else { self.draw("", width, at) }
    }

    /// Returns what leaves the lines alone on the screen.
    pub(crate) fn end(&mut self) -> String {
        let rows = self.live.as_mut().map(Live::clear).unwrap_or_default();
        if std::mem::take(&mut self.prompted) && self.live.is_some() {
            format!("{rows}\r\u{1b}[J")
        } else {
            rows
        }
    }

    fn draw(&mut self, above: &str, width: usize, at: Duration) -> String {
        if let Some(prompt) = self.prompt {
            return if above.is_empty() {
                String::new()
            } else {
                format!("{}{above}{}", self.end(), self.asked(Some(prompt)))
            };
        }
        let cleared = if self.prompted { self.end() } else { String::new() };
        let rows: Vec<Row> = self.under_way.iter().map(|entry| entry.row(at)).collect();
        let frame = self.live.as_mut().map(|live| live.frame(above, &rows, width)).unwrap_or_default();
        format!("{cleared}{frame}")
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
            _ => {}
        }
        let starts = matches!(&*event, Event::AttemptStarted { .. });
        let line = self.lines.tell(Told::Event { run: run.clone(), depth, event }, at);
        // The live list shows that a step has begun.
        if starts { String::new() } else { format!("{tail}{}", painted(self.style, &line)) }
    }
}

/// Colours the sign that a line begins with; the sign says the same without it.
fn painted(style: Style, line: &str) -> String {
    let begin = line.len() - line.trim_start_matches(' ').len();
    let Some(sign) = line[begin..].chars().next() else { return line.to_owned() };
    let ink = match sign {
        '✓' => Ink::Good,
        '✗' => Ink::Error,
        '?' | '!' | '↻' => Ink::Warning,
        '–' | '○' => Ink::Frame,
        _ => return line.to_owned(),
    };
    let mut text = line[..begin].to_owned();
    style.paint(&mut text, ink, &line[begin..begin + sign.len_utf8()]);
    text + &line[begin + sign.len_utf8()..]
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
