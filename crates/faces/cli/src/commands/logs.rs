//! `abide logs [-f] [RUN] [STEP]`

use super::runs::nothing;
use crate::args::LogsArguments;
use crate::runs;
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::event::{RunId, StepKey};
use abide_core::run::Run;
use abide_engine::port::{OutputKey, Store as _};
use abide_store_sqlite::SqliteStore;
use std::collections::HashMap;
use std::time::Duration;

/// How many bytes of an output are read at once.
const CHUNK: u64 = 256 * 1024;
/// How often a run is looked at that is followed: what steps write is no event.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) fn logs(session: &mut Session<'_>, arguments: &LogsArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else { return nothing(session) };
    runs::block_on(async {
        let id = runs::find_run(&store, arguments.run.as_deref(), |_| true).await?;
        let mut printed = HashMap::new();
        loop {
            let loaded = runs::load_run(&store, &id).await?;
            let run = &loaded.run;
            check_step(run, arguments.step.as_deref())?;
            let shown = print_new(session, &store, run, arguments.step.as_deref(), &mut printed).await?;
            if !arguments.follow || run.is_finished() {
                return match (&arguments.step, shown) {
                    (Some(step), 0) => {
                        Err(Failure::new(Exit::NotFound, format!("run {id} has no output of `{step}`")))
                    }
                    _ => Ok(Exit::Done),
                };
            }
            // Whatever comes first; an error shows when the run is read again.
            let _ = tokio::time::timeout(LOOK, store.changed(id.as_str(), loaded.seq)).await;
        }
    })?
}

/// Checks that a step that is asked for exists, so that nobody waits for one that never comes.
fn check_step(run: &Run, step: Option<&str>) -> Result<(), Failure> {
    let Some(step) = step else { return Ok(()) };
    let known = StepKey::parse(step).and_then(|key| run.position(key.step.as_str()));
    match known {
        Some(_) => Ok(()),
        None => Err(Failure::new(Exit::NotFound, format!("run {} has no step `{step}`", run.id))),
    }
}

/// Prints what was written since; returns how many instances were looked at.
async fn print_new(
    session: &mut Session<'_>,
    store: &SqliteStore,
    run: &Run,
    step: Option<&str>,
    printed: &mut HashMap<OutputKey, u64>,
) -> Result<usize, Failure> {
    let mut shown = 0;
    for (position, state) in run.steps.iter().enumerate() {
        for (index, instance) in state.instances.iter().enumerate() {
            let key = run.key(position, index);
            if step.is_some_and(|wanted| *wanted != key.to_string() && *wanted != *key.step.as_str()) {
                continue;
            }
            shown += 1;
            for attempt in 1..=instance.attempt {
                for channel in ["stdout", "stderr"] {
                    let output = output_key(&run.id, &key, attempt, channel);
                    let position = printed.entry(output.clone()).or_default();
                    print_from(session, store, &output, position).await?;
                }
            }
        }
    }
    Ok(shown)
}

fn output_key(id: &RunId, key: &StepKey, attempt: u32, channel: &'static str) -> OutputKey {
    OutputKey { stream: id.to_string(), attempt: format!("{key}#{attempt}"), channel }
}

async fn print_from(
    session: &mut Session<'_>,
    store: &SqliteStore,
    key: &OutputKey,
    position: &mut u64,
) -> Result<(), Failure> {
    loop {
        let bytes = store
            .read_output(key, *position..*position + CHUNK)
            .await
            .map_err(|error| runs::store_failure(&error))?;
        if bytes.is_empty() {
            return Ok(());
        }
        *position += bytes.len() as u64;
        session.print_bytes(&bytes)?;
    }
}
