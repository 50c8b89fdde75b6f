//! `abide logs [-f] [RUN] [STEP]`

use super::runs::nothing;
use crate::args::LogsArguments;
use crate::runs::{self, Wanted};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::event::{RunId, StepKey};
use abide_core::run::Run;
use abide_engine::port::{OutputKey, Store as _};
use abide_engine::service::{self, Member};
use abide_store_sqlite::SqliteStore;
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;

/// How many bytes of an output are read at once.
const CHUNK: u64 = 256 * 1024;
/// How long a line gets before it is told without its end.
const LONGEST_LINE: usize = 64 * 1024;
/// How often a run is looked at that is followed: what steps write is no event.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) fn logs(session: &mut Session<'_>, arguments: &LogsArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else { return nothing(session) };
    runs::block_on(async {
        let (id, step) = meant(&store, arguments).await?;
        let mut printed = HashMap::new();
        loop {
            let seq = runs::load_run(&store, &id).await?.seq;
            let family = service::family(&store, &id).await.map_err(|error| runs::load_failure(&error))?;
            let Some(first) = family.first() else { return nothing(session) };
            let is_over = first.run.is_finished();
            let shown = print_new(session, &store, &family, step, &mut printed).await?;
            if !arguments.follow || is_over {
                return match (step, shown) {
                    (Some(step), 0) => {
                        Err(Failure::new(Exit::NotFound, format!("run {id} has no output of `{step}`")))
                    }
                    _ => Ok(Exit::Done),
                };
            }
            // Whatever comes first; an error shows when the run is read again.
            let _ = tokio::time::timeout(LOOK, store.changed(id.as_str(), seq)).await;
        }
    })?
}

/// Finds the run and the step that are meant: a word alone is a run, or else a step of the newest one.
async fn meant<'a>(
    store: &SqliteStore,
    arguments: &'a LogsArguments,
) -> Result<(RunId, Option<&'a str>), Failure> {
    let found = runs::find_run(store, arguments.run.as_deref(), Wanted::Any).await;
    let (id, step) = match (found, &arguments.run, &arguments.step) {
        (Err(failure), Some(word), None) if failure.exit == Exit::NotFound => {
            let newest = runs::find_run(store, None, Wanted::Any).await?;
            if !has_step(store, &newest, word).await? {
                let message = format!("there is no run {word}, and run {newest} has no step `{word}`");
                return Err(Failure::new(Exit::NotFound, message).help("`abide runs` lists the runs"));
            }
            return Ok((newest, Some(word)));
        }
        (found, _, step) => (found?, step.as_deref()),
    };
    match step {
        // Nobody waits for a step that never comes.
        Some(step) if !has_step(store, &id, step).await? => {
            Err(Failure::new(Exit::NotFound, format!("run {id} has no step `{step}`")))
        }
        step => Ok((id, step)),
    }
}

/// Returns whether a run, or one that it calls, has a step.
async fn has_step(store: &SqliteStore, id: &RunId, step: &str) -> Result<bool, Failure> {
    let Some(key) = StepKey::parse(step) else { return Ok(false) };
    let family = service::family(store, id).await.map_err(|error| runs::load_failure(&error))?;
    Ok(family.iter().any(|member| member.run.position(key.step.as_str()).is_some()))
}

/// Prints what was written since by a run and those that it calls; returns how many instances were looked at.
async fn print_new(
    session: &mut Session<'_>,
    store: &SqliteStore,
    family: &[Member],
    step: Option<&str>,
    printed: &mut HashMap<OutputKey, Printed>,
) -> Result<usize, Failure> {
    let mut shown = 0;
    for Member { run, .. } in family {
        // A step of the run itself is the one that is meant, and not one of the same name in a run that it calls.
        let is_own = step.is_some_and(|step| has(&family[0].run, step));
        if is_own && run.id != family[0].run.id {
            continue;
        }
        for (position, state) in run.steps.iter().enumerate() {
            for (index, instance) in state.instances.iter().enumerate() {
                let key = run.key(position, index);
                if step.is_some_and(|wanted| *wanted != key.to_string() && *wanted != *key.step.as_str()) {
                    continue;
                }
                shown += 1;
                for attempt in 1..=instance.attempt {
                    let is_over =
                        attempt < instance.attempt || run.in_flight().iter().all(|(known, _)| *known != key);
                    for channel in ["stdout", "stderr"] {
                        let output = Output { run: &run.id, key: &key, attempt, channel };
                        let printed = printed.entry(output.key()).or_default();
                        print_from(session, store, output, printed, is_over).await?;
                    }
                }
            }
        }
    }
    Ok(shown)
}

fn has(run: &Run, step: &str) -> bool {
    StepKey::parse(step).is_some_and(|key| run.position(key.step.as_str()).is_some())
}

/// What an attempt wrote to one of its two streams.
#[derive(Clone, Copy)]
struct Output<'a> {
    run: &'a RunId,
    key: &'a StepKey,
    attempt: u32,
    channel: &'static str,
}

impl Output<'_> {
    fn key(self) -> OutputKey {
        OutputKey {
            stream: self.run.to_string(),
            attempt: format!("{}#{}", self.key, self.attempt),
            channel: self.channel,
        }
    }

    /// Returns a line as a document of its own.
    fn line(self, line: &[u8]) -> String {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line));
        let document = json!({
            "run": self.run.as_str(),
            "step": self.key.to_string(),
            "attempt": self.attempt,
            "stream": self.channel,
            "line": line,
        });
        format!("{document}\n")
    }
}

/// How much of an output is printed.
#[derive(Default)]
struct Printed {
    position: u64,
    /// The beginning of a line whose end has not come.
    partial: Vec<u8>,
}

async fn print_from(
    session: &mut Session<'_>,
    store: &SqliteStore,
    output: Output<'_>,
    printed: &mut Printed,
    is_over: bool,
) -> Result<(), Failure> {
    let key = output.key();
    loop {
        let from = printed.position;
        let bytes =
            store.read_output(&key, from..from + CHUNK).await.map_err(|error| runs::store_failure(&error))?;
        printed.position += bytes.len() as u64;
        if !session.json {
            session.print_bytes(&bytes)?;
        }
        if session.json {
            for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                printed.partial.extend_from_slice(piece);
                if piece.ends_with(b"\n") || printed.partial.len() > LONGEST_LINE {
                    session.print(&output.line(&std::mem::take(&mut printed.partial)))?;
                }
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    if is_over && !printed.partial.is_empty() {
        session.print(&output.line(&std::mem::take(&mut printed.partial)))?;
    }
    Ok(())
}
