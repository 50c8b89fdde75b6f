//! One attempt of a step: its process, its output, its evidence.

use super::capture::Capture;
use super::hook::{cancelled, variable};
use super::{Driver, Report, Stop, left, mark};
use crate::port::{Clock, Ending, Line, OutputKey, Process, Spec, Store, Stream, Variable, Workspace};
use abide_core::definition::Shell;
use abide_core::event::{Observation, Output, ProcessEnd, StepKey, StepResult, Timestamp};
use abide_core::run::{Run, ScriptWork, Work};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;

impl<S: Store, P: Process, W: Workspace, C: Clock> Driver<S, P, W, C> {
    #[expect(clippy::too_many_arguments, reason = "the parts of one attempt")]
    pub(super) fn start_attempt(
        &self,
        tasks: &mut JoinSet<()>,
        run: &Run,
        key: StepKey,
        attempt: u32,
        deadline: Option<Timestamp>,
        reports: &UnboundedSender<Report>,
        stop: &Stop,
    ) {
        let work = run.work(&key, &self.secrets_of(&run.id));
        let driver = self.clone();
        let reports = reports.clone();
        let stop = stop.clone();
        let run = run.clone();
        tasks.spawn(async move {
            let observation = match work {
                Ok(Work::Script(work)) => driver.script(&run, &key, attempt, work, deadline, stop).await,
                Ok(Work::Child(work)) => driver.child(&run, &key, attempt, work, stop).await,
                Ok(Work::Agent(_)) => not_started("no runner for agents is configured"),
                Ok(Work::Skill(_)) => not_started("no runner for skills is configured"),
                Err(reason) => not_started(reason),
            };
            // The driver that waits for it may be gone; then nobody needs to know.
            let _ = reports.send(Report::Attempt(key, attempt, Box::new(observation)));
        });
    }

    async fn script(
        &self,
        run: &Run,
        key: &StepKey,
        attempt: u32,
        work: ScriptWork,
        deadline: Option<Timestamp>,
        stop: Stop,
    ) -> Observation {
        let mut secrets = Vec::new();
        for (name, secret) in &work.secrets {
            match self.workspace.secret(secret).await {
                Ok(value) => secrets.push(Variable { name: name.clone(), value, secret: true }),
                Err(error) => return not_started(error.to_string()),
            }
        }
        let folder = match folder_of(run, work.cwd.as_deref()) {
            Ok(folder) => folder,
            Err(reason) => return not_started(reason),
        };
        for (path, _) in &run.created.files {
            if let Err(reason) = self.unchanged(run, &PathBuf::from(path)) {
                return not_started(reason);
            }
        }
        let longest = left(deadline, self.clock.now());
        let mark = mark(&run.id, key, attempt);
        let spec = script_spec(run, &work, secrets, folder.clone(), longest, mark);
        let captured = Arc::new(Mutex::new((Capture::default(), Capture::default())));
        let sink = self.sink(run, key, attempt, &captured);
        let ended = self.process.run(spec, cancelled(stop.clone()), sink).await;
        let (output, stderr) = {
            let mut kept = captured.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            (std::mem::take(&mut kept.0).finish(), std::mem::take(&mut kept.1).finish())
        };
        let end = match ended {
            Ok(Ending::Exited(code)) => ProcessEnd::Exited(code),
            Ok(Ending::Signalled(signal)) => ProcessEnd::Signalled(signal),
            Ok(Ending::TimedOut) => ProcessEnd::TimedOut,
            Ok(Ending::Cancelled) => ProcessEnd::Cancelled,
            Err(error) => ProcessEnd::NotStarted(error.to_string()),
        };
        let exit_code = if let ProcessEnd::Exited(code) = &end { Some(*code) } else { None };
        let mut result = StepResult { output, stderr, exit_code, ..StepResult::default() };
        let missing = match end {
            ProcessEnd::Exited(_) => self.missing(run, key, attempt, &mut result, &folder, &stop).await,
            _ => Vec::new(),
        };
        Observation { end, result, missing }
    }

    /// Keeps output whole in the store, bounded in memory, and shows it to whoever watches.
    fn sink(
        &self,
        run: &Run,
        key: &StepKey,
        attempt: u32,
        captured: &Arc<Mutex<(Capture, Capture)>>,
    ) -> impl FnMut(Line) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> + Send + use<S, P, W, C> {
        let captured = Arc::clone(captured);
        let store = Arc::clone(&self.store);
        let observer = Arc::clone(&self.observer);
        let id = run.id.clone();
        let shown = key.to_string();
        let place = format!("{key}#{attempt}");
        move |line: Line| {
            observer.output(&id, &shown, &line);
            if let Ok(mut kept) = captured.lock() {
                match line.stream {
                    Stream::Stdout => kept.0.take(&line.bytes),
                    Stream::Stderr => kept.1.take(&line.bytes),
                }
            }
            let channel = match line.stream {
                Stream::Stdout => "stdout",
                Stream::Stderr => "stderr",
            };
            let output = OutputKey { stream: id.to_string(), attempt: place.clone(), channel };
            let store = Arc::clone(&store);
            Box::pin(async move {
                // A full disk must not end the step: its result still holds both ends of the output.
                let _ = store.write_output(&output, line.bytes).await;
            })
        }
    }
}

/// Returns the folder that a step runs in; it stays inside the project.
fn folder_of(run: &Run, cwd: Option<&str>) -> Result<PathBuf, String> {
    let root = PathBuf::from(&run.created.root);
    let Some(cwd) = cwd else { return Ok(root) };
    if cwd.starts_with(['/', '~']) || cwd.split('/').any(|part| part == "..") {
        return Err(format!("`cwd` is `{cwd}`, which leads out of the project"));
    }
    Ok(root.join(cwd))
}

/// Builds the process of a script.
pub(super) fn script_spec(
    run: &Run,
    work: &ScriptWork,
    secrets: Vec<Variable>,
    folder: PathBuf,
    longest: Option<u64>,
    mark: String,
) -> Spec {
    let mut variables: Vec<Variable> =
        work.variables.iter().map(|(name, value)| variable(name, value)).collect();
    variables.push(variable("ABIDE_RUN", run.id.as_str()));
    variables.push(variable("ABIDE_ABILITY", &run.created.name));
    if let Some(folder) = &run.created.folder {
        variables.push(variable("ABIDE_ABILITY_DIR", folder));
    }
    variables.extend(secrets);
    let program = match work.shell {
        Shell::Sh => "sh",
        Shell::Bash => "bash",
    };
    Spec {
        program: program.to_owned(),
        arguments: vec!["-c".to_owned(), work.script.clone()],
        folder,
        variables,
        without: Vec::new(),
        longest,
        mark,
    }
}

/// Returns the observation of an attempt that never began.
pub(super) fn not_started(reason: impl Into<String>) -> Observation {
    Observation {
        end: ProcessEnd::NotStarted(reason.into()),
        result: StepResult { output: Output::default(), ..StepResult::default() },
        missing: Vec::new(),
    }
}
