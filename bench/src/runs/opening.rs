//! Opening a run with many events beside one with few.

use super::bars::Bars;
use abide_core::event::{Created, Event, Observation, ProcessEnd, RunId, StepResult, Timestamp};
use abide_core::run::{Command, Run};
use abide_engine::port::{NewEvent, Store as _};
use abide_engine::{load, snapshot};
use abide_store_sqlite::{Settings, SqliteStore};
use anyhow::{Context, anyhow, ensure};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// At most so many times the shorter one.
const MOST: f64 = 3.0;
const FEW: usize = 100;
const MANY: usize = 100_000;
/// A driver keeps a snapshot after that many events: at worst, so many come after the newest one.
const AFTER: usize = 256;

/// A step that fails, and a human who says each time that it is to be tried again: as many events as wanted.
const ABILITY: &str = "name: stubborn
description: Fails, and is tried again
steps:
  - id: build
    run: make
  - id: flaky
    needs: [build]
    run: make test
    on_failure: ask
";

/// Measures how long a run takes to open, from a closed file to the run.
pub(crate) fn measure(rounds: usize, bars: &mut Bars) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("log.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (few, many) = (id("few")?, id("many")?);
    let store = open(&file)?;
    runtime.block_on(fill(&store, &few, FEW, None))?;
    runtime.block_on(fill(&store, &many, MANY, Some(MANY - AFTER)))?;
    drop(store);
    let mut least = [Duration::MAX; 2];
    for _ in 0..rounds {
        for (least, (run, events)) in least.iter_mut().zip([(&few, FEW), (&many, MANY)]) {
            *least = (*least).min(opened(&runtime, &file, run, events)?);
        }
    }
    let micros = least.map(|time| time.as_secs_f64() * 1e6);
    println!("\nopening a run, from a closed file; the least of {rounds} rounds");
    println!("{FEW:>9} events  {:>8.0} µs\n{MANY:>9} events  {:>8.0} µs", micros[0], micros[1]);
    bars.hold(format!("opening a run with {MANY} events, to one with {FEW}"), micros[1] / micros[0], MOST);
    Ok(())
}

/// Writes a log with one run of so many events that is not over.
pub(crate) fn long_run(file: &Path, name: &str, events: usize) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(fill(&open(file)?, &id(name)?, events, Some(events - AFTER)))
}

fn id(text: &str) -> anyhow::Result<RunId> {
    RunId::parse(text).context("an id")
}

fn open(file: &Path) -> anyhow::Result<SqliteStore> {
    Ok(SqliteStore::open(file, Settings::new(|| 0))?)
}

fn opened(runtime: &Runtime, file: &Path, run: &RunId, events: usize) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let loaded = runtime.block_on(load(&open(file)?, run))?;
    let took = began.elapsed();
    ensure!(loaded.seq == events as u64, "{run} has {} events", loaded.seq);
    Ok(took)
}

/// Writes a log of so many events; the snapshot is taken when there are so many, as a driver would.
async fn fill(
    store: &SqliteStore,
    id: &RunId,
    count: usize,
    snapshot_at: Option<usize>,
) -> anyhow::Result<()> {
    let reading = abide_formats::ability::read(ABILITY, "stubborn");
    let ability = Arc::new(reading.ability.context("the ability")?);
    let mut run = Run::create(id.clone(), created(), ability);
    let mut log = vec![Event::Created(Box::new(created()))];
    while log.len() < count {
        log.extend(run.advance(Timestamp(0), &[]));
        let command = match (run.in_flight().pop(), run.questions().pop()) {
            (Some((key, attempt)), _) => {
                let end = ProcessEnd::Exited(i32::from(key.step.as_str() == "flaky"));
                let observation = Observation { end, result: StepResult::default(), missing: Vec::new() };
                let observation = Box::new(observation);
                Command::AttemptEnded { key, attempt, observation, now: Timestamp(0) }
            }
            (None, Some((key, _))) => Command::Answer {
                key,
                answer: "retry".into(),
                by: "ada".into(),
                comment: None,
                now: Timestamp(0),
            },
            (None, None) => return Err(anyhow!("the run came to an end")),
        };
        let events = run.decide(command, &[])?;
        for event in &events {
            run.apply(event);
        }
        log.extend(events);
    }
    log.truncate(count);
    let mut done = 0;
    while done < count {
        let next = match snapshot_at {
            Some(at) if done < at => at.min(done + 1_000),
            _ => count.min(done + 1_000),
        };
        let events = log[done..next].iter().map(|event| NewEvent {
            kind: event.kind().to_owned(),
            data: abide_formats::event::write(event),
        });
        store.append(id.as_str(), done as u64, None, events.collect(), "{}".to_owned()).await?;
        done = next;
        if snapshot_at == Some(done) {
            let mut loaded = load(store, id).await?;
            snapshot::keep(store, &mut loaded).await?;
        }
    }
    Ok(())
}

fn created() -> Created {
    Created {
        at: Timestamp(0),
        name: "stubborn".into(),
        source: ABILITY.to_owned(),
        digest: "0".into(),
        folder: None,
        root: "/tmp".to_owned(),
        files: Vec::new(),
        inputs: Vec::new(),
        input: String::new(),
        by: "ada".into(),
        session: None,
        parent: None,
        depth: 0,
        rerun_of: None,
        taken_over: Vec::new(),
        hooks: Vec::new(),
        deadline: None,
        plan_approval: false,
        trace: None,
    }
}
