//! Plays a case: the real driver on some store, and everything that happens from outside.

use super::case::{Act, Case, What};
use super::folder::{FolderWorkspace, Project};
use super::lines::line;
use crate::RealClock;
use crate::runner::ScriptedRunner;
use abide_core::event::{Event, LossDecision, RunId, StepKey};
use abide_core::run::{Command, Run};
use abide_engine::driver::{Driver, Observer};
use abide_engine::port::{Clock as _, Holder, Process, Runners, Signal, Store};
use abide_engine::service::{self, ServiceError, Start};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// How long a case may take; far more than any needs.
const LONGEST: Duration = Duration::from_secs(30);

/// What came of a case.
#[derive(Debug)]
pub struct Performed {
    /// The project that it ran in.
    pub project: Project,
    /// The run at its end, or why it did not start.
    pub run: Result<Box<Run>, String>,
    /// The log, and that of each child below it, as lines.
    pub log: Vec<String>,
    /// Acts that did not go as the case says.
    pub surprises: Vec<String>,
}

/// Plays a case on a store.
///
/// The error is about the playing and not about the case: a store that cannot be read, a folder that cannot be made.
pub async fn perform<S: Store, P: Process>(
    case: &Case,
    store: Arc<S>,
    process: Arc<P>,
) -> Result<Performed, String> {
    let project = Project::of(case).map_err(|error| error.to_string())?;
    let workspace = Arc::new(FolderWorkspace::new(project.root(), case.secrets.clone()));
    let clock = Arc::new(RealClock::default());
    let seen = Arc::new(Seen::default());
    let holder = Holder { name: case.name.clone(), process: std::process::id() };
    let ports = (Arc::clone(&store), process, workspace, clock);
    let mut driver = Driver::new(ports, holder, Arc::clone(&seen) as Arc<dyn Observer>, Arc::new(|_| false));
    let runner = Arc::new(ScriptedRunner::new(case.agents.clone()));
    if !case.agents.is_empty() {
        driver = driver.with_runners(Runners::default().with("scripted", Arc::clone(&runner) as _));
    }
    let start = Start {
        ability: case.ability().to_owned(),
        inputs: case.inputs.clone(),
        input: case.text.clone(),
        by: case.by.as_str().into(),
        session: None,
        parent: None,
        depth: 0,
        id: None,
        trace: None,
    };
    // A store that is made when it is used first takes its time for that, which is not the run's.
    store.heads(None, 1).await.map_err(|error| error.to_string())?;
    let id = match service::start(&driver, start).await {
        Ok(id) => id,
        Err(error) => {
            let run = Err(error.to_string().replace(&project.root().display().to_string(), "PROJECT"));
            return Ok(Performed { project, run, log: Vec::new(), surprises: Vec::new() });
        }
    };
    let stage = Stage::new(&driver, &id, &seen, &project);
    let both = async { tokio::join!(stage.drive(), stage.act(&case.acts)) };
    let mut surprises = match tokio::time::timeout(LONGEST, both).await {
        Ok((end, mut surprises)) => {
            surprises.extend(end.err());
            surprises
        }
        Err(_) => vec!["it did not come to an end".to_owned()],
    };
    surprises.extend(runner.surprises());
    surprises.sort_unstable();
    let loaded = abide_engine::load(&*store, &id).await.map_err(|error| error.to_string())?;
    let log = whole_log(&*store, &id, &project).await?;
    Ok(Performed { project, run: Ok(Box::new(loaded.run)), log, surprises })
}

/// What the driver told, with the run that it is about.
#[derive(Debug, Default)]
struct Seen {
    lines: Mutex<Vec<(RunId, String)>>,
    bell: Notify,
}

impl Seen {
    fn find(&self, from: usize, wanted: &str) -> Option<(usize, RunId)> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let found = lines.iter().enumerate().skip(from).find(|(_, (_, line))| line.starts_with(wanted));
        found.map(|(position, (run, _))| (position, run.clone()))
    }

    async fn wait(&self, from: usize, wanted: &str) -> (usize, RunId) {
        loop {
            let rung = self.bell.notified();
            if let Some(found) = self.find(from, wanted) {
                return found;
            }
            rung.await;
        }
    }
}

impl Observer for Seen {
    fn event(&self, run: &Run, event: &Event) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push((run.id.clone(), line(event)));
        self.bell.notify_one();
    }
}

/// Where a case is played.
struct Stage<'a, S, P> {
    driver: &'a Driver<S, P, FolderWorkspace, RealClock>,
    id: &'a RunId,
    seen: &'a Seen,
    project: &'a Project,
    stop: watch::Sender<Option<Signal>>,
    again: Notify,
}

impl<'a, S: Store, P: Process> Stage<'a, S, P> {
    fn new(
        driver: &'a Driver<S, P, FolderWorkspace, RealClock>,
        id: &'a RunId,
        seen: &'a Seen,
        project: &'a Project,
    ) -> Self {
        Self { driver, id, seen, project, stop: watch::Sender::new(None), again: Notify::new() }
    }

    /// Drives the run to its end, and again after it was left.
    async fn drive(&self) -> Result<(), String> {
        loop {
            self.stop.send_replace(None);
            let driven = self.driver.drive(self.id.clone(), self.stop.subscribe()).await;
            if driven.map_err(|error| error.to_string())?.is_final() {
                return Ok(());
            }
            self.again.notified().await;
        }
    }

    /// Lets everything happen in its order; returns what went otherwise than the case says.
    async fn act(&self, acts: &[Act]) -> Vec<String> {
        let mut surprises = Vec::new();
        let mut from = 0;
        let mut run = self.id.clone();
        for act in acts {
            if let Some(wanted) = &act.after {
                let (position, whose) = self.seen.wait(from, wanted).await;
                from = position + 1;
                run = whose;
            }
            while let Some(file) = &act.once
                && self.project.read(file).is_none()
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let refused = self.one(&act.what, &run).await.err();
            let refused = refused.map(|refused| refused.replace(run.as_str(), "RUN"));
            if refused != act.refused {
                let said = |refused: &Option<String>| refused.clone().unwrap_or_else(|| "done".to_owned());
                surprises.push(format!(
                    "{:?}\n      expected: {}\n      came: {}",
                    act.what,
                    said(&act.refused),
                    said(&refused)
                ));
            }
        }
        surprises
    }

    async fn one(&self, what: &What, run: &RunId) -> Result<(), String> {
        let key = |step: &str| StepKey::parse(step).ok_or_else(|| format!("`{step}` is not a step"));
        let command = match what {
            What::Answer { step, with, by, comment } => Command::Answer {
                key: key(step)?,
                answer: with.as_str().into(),
                by: by.as_str().into(),
                comment: comment.clone(),
                now: RealClock::default().now(),
            },
            What::Plan { approved, by, comment } => {
                Command::AnswerPlan { by: by.as_str().into(), approved: *approved, comment: comment.clone() }
            }
            What::Cancel { by, reason } => Command::Cancel { by: by.as_str().into(), reason: reason.clone() },
            What::Resolve { step, rerun, by } => {
                let decision = if *rerun { LossDecision::Rerun } else { LossDecision::Fail };
                Command::Resolve { key: key(step)?, by: by.as_str().into(), decision }
            }
            What::Leave => {
                self.stop.send_replace(Some(Signal::Kill));
                self.again.notify_one();
                return Ok(());
            }
            What::Write { file, text } => {
                return self.project.write(file, text).map_err(|error| error.to_string());
            }
        };
        // A cancel is for the whole; everything else is for the run that asked.
        let whose = if matches!(what, What::Cancel { .. }) { self.id } else { run };
        let done = service::command(self.driver, whose, command).await;
        if matches!(what, What::Resolve { .. }) {
            self.again.notify_one();
        }
        done.map(|_| ()).map_err(|error: ServiceError| error.to_string())
    }
}

/// Returns the log of a run and of its children, each below a line that names it.
async fn whole_log<S: Store>(store: &S, id: &RunId, project: &Project) -> Result<Vec<String>, String> {
    let mut streams = Vec::new();
    for head in store.heads(None, 10_000).await.map_err(|error| error.to_string())? {
        let stored = store.read(&head.stream, 1..head.seq + 1).await.map_err(|error| error.to_string())?;
        let mut events = Vec::new();
        for event in stored {
            events.push(
                abide_formats::event::read(&event.kind, &event.data).map_err(|error| error.to_string())?,
            );
        }
        streams.push((head.stream, events));
    }
    let mut log = Vec::new();
    write_log(&streams, id.as_str(), &mut log);
    let root = project.root().display().to_string();
    for line in &mut log {
        *line = line.replace(&root, "PROJECT");
        for (stream, _) in &streams {
            *line = line.replace(stream, "RUN");
        }
    }
    Ok(log)
}

fn write_log(streams: &[(String, Vec<Event>)], id: &str, log: &mut Vec<String>) {
    let Some((_, events)) = streams.iter().find(|(stream, _)| stream == id) else { return };
    log.extend(events.iter().map(line));
    let mut children: Vec<(i64, String, &str)> = streams
        .iter()
        .filter_map(|(stream, events)| match events.first() {
            Some(Event::Created(created)) => {
                let (parent, key) = created.parent.as_ref()?;
                (parent.as_str() == id).then(|| (created.at.0, key.to_string(), stream.as_str()))
            }
            _ => None,
        })
        .collect();
    children.sort_unstable();
    for (_, key, stream) in children {
        log.push(format!("-- called by {key}"));
        write_log(streams, stream, log);
    }
}
