//! What was really written and really started, whatever the driver believes.

use crate::conformance::line;
use crate::simulation::laws::{self, Timed};
use abide_core::event::{Event, RunId, Timestamp};
use abide_core::run::Run;
use abide_engine::port::NewEvent;
use std::collections::{BTreeMap, BTreeSet};

/// Every event that is in the store, and every process that was started.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    logs: BTreeMap<String, Vec<Timed>>,
    /// The marks of what the log says has begun.
    announced: BTreeSet<String>,
    started: BTreeSet<String>,
    /// What happened, one line each, for whoever looks at a seed that does not hold.
    pub(super) story: Option<Vec<String>>,
    /// Laws that were broken inside of something that could not panic.
    pub(super) broken: Vec<String>,
}

impl Ledger {
    /// Adds a line to the story, if somebody wants it.
    pub(super) fn tell(&mut self, line: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(line());
        }
    }

    /// Takes in what was written.
    pub(super) fn wrote(&mut self, stream: &str, at: i64, events: &[NewEvent]) {
        for event in events {
            let event = match abide_formats::event::read(&event.kind, &event.data) {
                Ok(event) => event,
                Err(error) => {
                    self.broken.push(format!("an event of {stream} does not read back: {error}"));
                    continue;
                }
            };
            self.tell(|| format!("{stream} at {at}: {}", line(&event)));
            match &event {
                Event::AttemptStarted { key, attempt, .. } => {
                    self.announced.insert(format!("{stream}/{key}#{attempt}"));
                }
                Event::HookStarted { hook } => {
                    self.announced.insert(format!("{stream}/{hook}"));
                }
                _ => {}
            }
            self.logs.entry(stream.to_owned()).or_default().push((Timestamp(at), event));
        }
    }

    /// Takes in that a process begins beside others that live.
    pub(super) fn starts(&mut self, mark: &str, alive: &[String]) {
        self.tell(|| format!("{mark} begins beside {alive:?}"));
        let attempt = mark.split("/check").next().unwrap_or(mark);
        if !self.announced.contains(attempt) {
            self.broken.push(format!("{mark} was started before the log says so"));
        }
        if !self.started.insert(mark.to_owned()) {
            self.broken.push(format!("{mark} was started twice"));
        }
        let step = |mark: &str| mark.split('#').next().unwrap_or(mark).to_owned();
        if let Some(other) = alive.iter().find(|other| step(other) == step(mark)) {
            self.broken.push(format!("{mark} was started while {other} lives"));
        }
    }

    /// Returns the log of a stream.
    pub(super) fn log(&self, stream: &str) -> &[Timed] {
        self.logs.get(stream).map_or(&[], Vec::as_slice)
    }

    /// Returns all runs: the first one and those below it.
    pub(super) fn runs(&self) -> Vec<RunId> {
        self.logs.keys().filter_map(|stream| RunId::parse(stream)).collect()
    }

    /// Returns the runs that are not over.
    pub(super) fn unfinished(&self) -> Vec<RunId> {
        let over = |log: &[Timed]| matches!(log.last(), Some((_, Event::Finished { .. })));
        self.logs
            .iter()
            .filter(|(_, log)| !over(log))
            .filter_map(|(stream, _)| RunId::parse(stream))
            .collect()
    }

    /// Checks a run as it was read back against all that was written.
    pub(super) fn check(&self, run: &Run) {
        let log = self.log(run.id.as_str());
        let folded = laws::replay(run, log.iter().map(|(_, event)| event));
        laws::same(run, &folded);
        laws::check(run, log);
    }
}
