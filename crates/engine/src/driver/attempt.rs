//! One attempt of a step: its process, its output, its evidence.

use super::agent::Assignment;
use super::beside::scripts_beside;
use super::capture::{Channel, Wanted};
use super::evidence::{Ended, proven, validation};
use super::halt::Stop;
use super::hook::{cancelled, variable};
use super::vault::Vault;
use super::{Driver, Report, left, mark};
use crate::port::{Clock, Ending, Line, OutputKey, Process, Spec, Store, Stream, Variable, Workspace};
use abide_core::definition::Shell;
use abide_core::event::{Observation, Output, ProcessEnd, RunId, StepKey, StepResult, Timestamp};
use abide_core::run::{Run, RunScope, ScriptWork, Work};
use abide_core::source::Spanned;
use abide_core::value::Template;
use abide_core::value::output::{Masker, Matching, TooLarge};
use std::path::{Path, PathBuf};
use std::pin::Pin;
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
        // What is seldom awaited has a place of its own, and so has the whole: a task is moved several times until it runs.
        tasks.spawn(Box::pin(async move {
            let is_told = matches!(work, Ok(Work::Agent(_) | Work::Skill(_)));
            let run = if is_told {
                Box::pin(driver.summarized(run, &key, attempt, deadline, &reports, &stop)).await
            } else {
                run
            };
            let observation = match work {
                Ok(Work::Script(work)) => driver.script(&run, &key, attempt, work, deadline, stop).await,
                Ok(Work::Child(work)) => {
                    match Box::pin(driver.child(&run, &key, attempt, work, deadline, stop)).await {
                        Ok(Some(observation)) => observation,
                        Ok(None) => {
                            let _ = reports.send(Report::ChildWaits(key));
                            return;
                        }
                        Err(error) => {
                            let _ = reports.send(Report::ChildBroke(Box::new(error)));
                            return;
                        }
                    }
                }
                Ok(Work::Agent(work)) => {
                    let work = Assignment::Agent(work);
                    let ended = Box::pin(driver.agent(&run, &key, attempt, work, deadline, stop)).await;
                    ended.unwrap_or_else(not_started)
                }
                Ok(Work::Skill(work)) => {
                    let work = Assignment::Skill(work);
                    let ended = Box::pin(driver.agent(&run, &key, attempt, work, deadline, stop)).await;
                    ended.unwrap_or_else(not_started)
                }
                Err(reason) => not_started(reason),
            };
            // The driver that waits for it may be gone; then nobody needs to know.
            let _ = reports.send(Report::Attempt(key, attempt, Box::new(observation)));
        }));
    }

    async fn script(
        &self,
        run: &Run,
        key: &StepKey,
        attempt: u32,
        mut work: ScriptWork,
        deadline: Option<Timestamp>,
        stop: Stop,
    ) -> Observation {
        let mut named = Vec::new();
        for (name, secret) in &work.secrets {
            match self.workspace.secret(secret).await {
                Ok(value) => named.push(Variable { name: name.clone(), value, secret: true }),
                Err(error) => return not_started(error.to_string()),
            }
        }
        let vault = match self.opened_vault(run, &named).await {
            Ok(vault) => vault,
            Err(reason) => return not_started(reason),
        };
        let folder = match folder_of(run, work.cwd.as_deref()) {
            Ok(folder) => folder,
            Err(reason) => return not_started(reason),
        };
        for (path, _) in &run.created.files {
            if let Err(reason) = self.unchanged(run, &PathBuf::from(path)) {
                return not_started(reason);
            }
        }
        let wanted = match self.wanted(run, key) {
            Ok(wanted) => wanted,
            Err(reason) => return not_started(reason),
        };
        self.ours(&run.id, &stop).await;
        let longest = left(deadline, self.clock.now());
        let mark = mark(&run.id, key, attempt);
        let in_project = |word: &str| {
            self.workspace.exists(Path::new(&run.created.root), word) || self.workspace.exists(&folder, word)
        };
        work.script = scripts_beside(run, &work.script, in_project);
        let spec = script_spec(run, &work, named.clone(), &vault, folder.clone(), longest, mark);
        let channels = Channels::new(&vault, wanted);
        let sink = self.sink(run, key, attempt, &channels);
        let ended = self.process.run(spec, cancelled(stop.clone()), sink).await;
        for stream in [Stream::Stdout, Stream::Stderr] {
            let rest = channels.with(stream, Channel::end);
            self.keep(&run.id, key, attempt, &channels, Line { stream, bytes: rest }).await;
            self.say_what_was_lost(&run.id, key, attempt, &channels, stream).await;
        }
        let end = match ended {
            Ok(Ending::Exited(code)) => ProcessEnd::Exited(code),
            Ok(Ending::Signalled(signal)) => ProcessEnd::Signalled(signal),
            Ok(Ending::TimedOut) => ProcessEnd::TimedOut,
            Ok(Ending::Cancelled) => ProcessEnd::Cancelled,
            Err(error) => ProcessEnd::NotStarted(vault.masked(&error.to_string())),
        };
        let output = channels.with(Stream::Stdout, |channel| channel.output());
        let stderr = channels.with(Stream::Stderr, |channel| channel.output());
        let exit_code = if let ProcessEnd::Exited(code) = &end { Some(*code) } else { None };
        let mut result = StepResult { output, stderr, exit_code, ..StepResult::default() };
        let mut missing = Vec::new();
        if let ProcessEnd::Exited(_) = end {
            let (folder, named, vault, stop) = (&*folder, &*named, &vault, &stop);
            let ended = Ended { run, key, attempt, folder, named, vault, stop };
            missing = self.all_missing(&ended, &channels, &mut result).await;
        }
        let end = proven(run, key, end, &missing, &stop);
        let missing = missing.iter().map(|text| vault.masked(text)).collect();
        Observation { end, result, missing }
    }

    /// Returns the evidence that is missing: in what was written, and around it.
    pub(super) async fn all_missing(
        &self,
        ended: &Ended<'_>,
        channels: &Channels,
        result: &mut StepResult,
    ) -> Vec<String> {
        let mut missing = Vec::new();
        for (stream, name) in [(Stream::Stdout, "standard output"), (Stream::Stderr, "standard error")] {
            let unseen = channels.with(stream, Channel::missing);
            missing.extend(unseen.iter().map(|what| format!("{name} {what}")));
        }
        missing.extend(self.missing(ended, result).await);
        missing
    }

    /// Returns what standard output and standard error must show.
    pub(super) fn wanted(&self, run: &Run, key: &StepKey) -> Result<(Wanted, Wanted), String> {
        let Some((position, instance)) = run.find(key) else { return Ok(Default::default()) };
        let Some(rules) = validation(&run.step(position).kind) else { return Ok(Default::default()) };
        let secrets = self.secrets_of(&run.id);
        let scope = RunScope::new(run, Some((position, instance)), &secrets);
        let render = |rules: &[Spanned<Template>]| -> Result<Wanted, String> {
            let mut wanted = Wanted::default();
            for rule in rules {
                match rule.render(&scope).map_err(|error| error.to_string())? {
                    text if text.is_empty() => wanted.empty.push(rule.text().to_owned()),
                    text => wanted.texts.push(text),
                }
            }
            Ok(wanted)
        };
        let patterns: Result<Vec<Matching>, TooLarge> =
            rules.stdout_matches.iter().map(|pattern| Matching::new(pattern)).collect();
        let patterns = patterns.map_err(|error| format!("`stdout_matches`: {error}"))?;
        let stdout = Wanted { patterns, ..render(&rules.stdout_contains)? };
        Ok((stdout, render(&rules.stderr_contains)?))
    }

    /// Keeps output whole in the store, bounded in memory, and shows it to whoever watches.
    fn sink(
        &self,
        run: &Run,
        key: &StepKey,
        attempt: u32,
        channels: &Channels,
    ) -> impl FnMut(Line) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + use<S, P, W, C> {
        let channels = channels.clone();
        let driver = self.clone();
        let place = Arc::new((run.id.clone(), key.clone()));
        move |line: Line| {
            let bytes = channels.with(line.stream, |channel| channel.take(&line.bytes));
            let (driver, place, channels) = (driver.clone(), Arc::clone(&place), channels.clone());
            let line = Line { stream: line.stream, bytes };
            Box::pin(async move { driver.keep(&place.0, &place.1, attempt, &channels, line).await })
        }
    }

    /// Keeps what was written and shows it to whoever watches.
    pub(super) async fn keep(
        &self,
        run: &RunId,
        key: &StepKey,
        attempt: u32,
        channels: &Channels,
        line: Line,
    ) {
        if line.bytes.is_empty() {
            return;
        }
        self.observer.output(run, &key.to_string(), &line);
        // What is kept has no holes: after a piece that could not be written comes nothing but the reason.
        if channels.with(line.stream, |channel| channel.lost.is_some()) {
            return;
        }
        // A full disk must not end the step: its result still holds both ends of the output.
        if let Err(error) =
            self.store.write_output(&output_key(run, key, attempt, line.stream), line.bytes).await
        {
            channels.with(line.stream, |channel| channel.lost = Some(error.to_string()));
        }
    }

    /// Keeps something that is there as a whole; its result still holds both ends of it.
    pub(super) async fn store_output(&self, run: &RunId, key: &StepKey, attempt: u32, line: Line) {
        let _ = self.store.write_output(&output_key(run, key, attempt, line.stream), line.bytes).await;
    }

    /// Ends an output that could not be kept whole with a line that says so, if that can be written by now.
    pub(super) async fn say_what_was_lost(
        &self,
        run: &RunId,
        key: &StepKey,
        attempt: u32,
        channels: &Channels,
        stream: Stream,
    ) {
        if let Some(reason) = channels.with(stream, |channel| channel.lost.clone()) {
            let line = format!("\n[abide: the rest of this output was not kept: {reason}]\n");
            let _ = self.store.write_output(&output_key(run, key, attempt, stream), line.into_bytes()).await;
        }
    }
}

fn output_key(run: &RunId, key: &StepKey, attempt: u32, stream: Stream) -> OutputKey {
    let channel = match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    };
    OutputKey { stream: run.to_string(), attempt: format!("{key}#{attempt}"), channel }
}

/// Both outputs of an attempt, shared with whoever reads them.
#[derive(Clone)]
pub(super) struct Channels(Arc<Mutex<(Channel, Channel)>>);

impl Channels {
    pub(super) fn new(vault: &Arc<Vault>, (stdout, stderr): (Wanted, Wanted)) -> Self {
        let both = (Channel::new(vault, stdout), Channel::new(vault, stderr));
        Self(Arc::new(Mutex::new(both)))
    }

    pub(super) fn with<T>(&self, stream: Stream, look: impl FnOnce(&mut Channel) -> T) -> T {
        let mut both = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match stream {
            Stream::Stdout => look(&mut both.0),
            Stream::Stderr => look(&mut both.1),
        }
    }
}

/// Returns a text without secrets.
pub(super) fn masked(masker: &Masker, text: &str) -> String {
    let mut masker = masker.clone();
    let mut bytes = Vec::new();
    masker.push(text.as_bytes(), &mut bytes);
    masker.finish(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
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
    vault: &Vault,
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
        without: vault.hidden(),
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
