//! One attempt of an agent's or a skill's step: what its runner is told, and what abide itself then looks for.

use super::attempt::{Channels, masked};
use super::capture::Channel;
use super::evidence::{Ended, proven};
use super::halt::Stop;
use super::hook::cancelled;
use super::vault::Vault;
use super::{Driver, mark};
use crate::port::{
    Answer, Cancel as _, Cancellation, Clock, Line, Listener, Process, Runner, RunnerEnd, Signal, Store,
    Stream, Task, Worker, Workspace, runner_of,
};
use abide_core::definition::{self, StepKind};
use abide_core::event::{Observation, ProcessEnd, StepKey, StepResult, Timestamp};
use abide_core::run::{AgentWork, ContextWork, Run, SkillWork};
use abide_core::value::Value;
use abide_core::value::output::Masker;
use abide_core::value::template::as_text;
use abide_core::view::context::{Part, context, prior};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a runner may take to end what it was told to end.
const GRACE: Duration = Duration::from_secs(10);
/// The same, when nobody waits for it any more.
const SHORT_GRACE: Duration = Duration::from_secs(1);

/// What an agent or a skill is asked to do.
pub(super) enum Assignment {
    Agent(AgentWork),
    Skill(SkillWork),
}

impl<S: Store, P: Process, W: Workspace, C: Clock> Driver<S, P, W, C> {
    /// Carries out an attempt by a runner; the error is why it could not even begin.
    pub(super) async fn agent(
        &self,
        run: &Run,
        key: &StepKey,
        attempt: u32,
        assignment: Assignment,
        deadline: Option<Timestamp>,
        stop: Stop,
    ) -> Result<Observation, String> {
        let vault = self.opened_vault(run, &[]).await?;
        let wanted = self.wanted(run, key)?;
        let (position, _) = run.find(key).ok_or_else(|| format!("there is no step `{key}`"))?;
        let word = runner_of(run.step(position));
        let runner = self.runners.find(word).ok_or_else(|| no_runner(word))?;
        let task = self.task(run, key, attempt, assignment, deadline, &vault)?;
        let folder = task.folder.clone();
        let channels = Channels::new(&vault, wanted);
        self.ours(&run.id, &stop).await;
        let (listener, said) = self.listener(run, key, attempt, &channels);
        let answer = self.executed(&*runner, task, listener, stop.clone()).await;
        let rest = channels.with(Stream::Stderr, Channel::end);
        self.keep(&run.id, key, attempt, &channels, Line { stream: Stream::Stderr, bytes: rest }).await;
        self.say_what_was_lost(&run.id, key, attempt, &channels, Stream::Stderr).await;
        let masker = vault.masker();
        let structured = answer.structured.as_ref().map(|value| masked_value(&masker, value));
        let text = match &structured {
            Some(value) if answer.text.trim().is_empty() => value.to_string(),
            _ => answer.text,
        };
        let mut bytes = channels.with(Stream::Stdout, |channel| channel.take(text.as_bytes()));
        bytes.extend(channels.with(Stream::Stdout, Channel::end));
        if said.load(Ordering::SeqCst) {
            // Whoever watches has seen it come.
            self.store_output(&run.id, key, attempt, Line { stream: Stream::Stdout, bytes }).await;
        } else {
            self.keep(&run.id, key, attempt, &channels, Line { stream: Stream::Stdout, bytes }).await;
        }
        let end = match answer.end {
            RunnerEnd::Finished => ProcessEnd::Exited(0),
            RunnerEnd::Failed(reason) => ProcessEnd::Failed(masked(&masker, &reason)),
            RunnerEnd::TimedOut => ProcessEnd::TimedOut,
            RunnerEnd::Cancelled if stop.get().is_some() => ProcessEnd::Cancelled,
            // Nobody here asked for it.
            RunnerEnd::Cancelled => ProcessEnd::Failed("it was cancelled".to_owned()),
        };
        let mut result = StepResult {
            output: channels.with(Stream::Stdout, |channel| channel.output()),
            stderr: channels.with(Stream::Stderr, |channel| channel.output()),
            json: structured,
            usage: answer.usage,
            cost: answer.cost,
            turns: answer.turns,
            ..StepResult::default()
        };
        let missing = match end {
            ProcessEnd::Exited(_) => {
                let (folder, vault, stop) = (&*folder, &vault, &stop);
                let ended = Ended { run, key, attempt, folder, named: &[], vault, stop };
                self.all_missing(&ended, &channels, &mut result).await
            }
            _ => Vec::new(),
        };
        let end = proven(run, key, end, &missing, &stop);
        let missing = missing.iter().map(|text| vault.masked(text)).collect();
        Ok(Observation { end, result, missing })
    }

    /// Puts together what the runner is told.
    fn task(
        &self,
        run: &Run,
        key: &StepKey,
        attempt: u32,
        assignment: Assignment,
        deadline: Option<Timestamp>,
        vault: &Vault,
    ) -> Result<Task, String> {
        for (path, _) in &run.created.files {
            self.unchanged(run, Path::new(path))?;
        }
        let masker = vault.masker();
        let (position, instance) = run.find(key).ok_or_else(|| format!("there is no step `{key}`"))?;
        let step = run.step(position);
        let mut further = self.hook_texts(run)?;
        let (worker, prompt) = match assignment {
            Assignment::Agent(work) => {
                for entry in &work.context {
                    self.add_context(run, entry, &mut further)?;
                }
                (Worker::Agent { name: work.agent }, work.prompt)
            }
            Assignment::Skill(work) => {
                let inputs =
                    work.inputs.iter().map(|(name, value)| (name.clone(), masked_value(&masker, value)));
                let inputs: Vec<(String, Value)> = inputs.collect();
                let prompt = skill_prompt(&work.skill, &inputs);
                (Worker::Skill { name: work.skill, inputs }, prompt)
            }
        };
        let (tools, output_schema) = match &step.kind {
            StepKind::Agent(agent) => (
                agent.tools.as_ref().map(|tools| tools.iter().map(|tool| tool.value.clone()).collect()),
                agent.output_schema.as_ref().map(|schema| schema.value.clone()),
            ),
            _ => (None, None),
        };
        Ok(Task {
            run: run.id.clone(),
            key: key.clone(),
            attempt,
            worker,
            prompt: masked(&masker, &prompt),
            context: masked(&masker, &context(&prior(run, position), &further)),
            missing: run.steps[position].instances[instance].missing.clone(),
            tools,
            output_schema,
            runner: runner_of(step).cloned(),
            budget: run.budget_left(position).map_err(|exhausted| exhausted.used_up())?,
            deadline,
            folder: PathBuf::from(&run.created.root),
            mark: mark(&run.id, key, attempt),
            without: vault.hidden(),
        })
    }

    /// Returns the texts beside an ability that every agent gets.
    fn hook_texts(&self, run: &Run) -> Result<Vec<Part>, String> {
        let Some(folder) = run.created.folder.as_deref().map(Path::new) else { return Ok(Vec::new()) };
        let mut parts = Vec::new();
        for (file, _) in &run.created.files {
            let path = Path::new(file);
            let is_text = path.starts_with(folder.join("hooks/before"))
                && path.extension().is_some_and(|end| end == "md");
            let Some(name) = path.strip_prefix(folder).ok().and_then(Path::to_str).filter(|_| is_text) else {
                continue;
            };
            let found = self.workspace.texts(folder, name).map_err(|error| error.to_string())?;
            parts.extend(found.files.into_iter().map(Part::from));
        }
        Ok(parts)
    }

    fn add_context(&self, run: &Run, entry: &ContextWork, parts: &mut Vec<Part>) -> Result<(), String> {
        let note =
            |heading: String, text: &str| Part { heading, text: text.to_owned(), cut: false, whole: None };
        let pattern = match entry {
            ContextWork::Text(text) => {
                parts.push(note("Text".to_owned(), text));
                return Ok(());
            }
            ContextWork::Files(pattern) => pattern,
        };
        let found =
            self.workspace.texts(Path::new(&run.created.root), pattern).map_err(|error| error.to_string())?;
        if found.files.is_empty() && found.left_out == 0 {
            parts.push(note(format!("File: {pattern}"), "(there is no such file)"));
        }
        parts.extend(found.files.into_iter().map(Part::from));
        if found.left_out > 0 {
            let text = format!("({} more files that are too many, or no text)", found.left_out);
            parts.push(note(format!("Files: {pattern}"), &text));
        }
        Ok(())
    }

    /// Executes a task; one whose runner does not end it is dropped, so that no runner can hold a run.
    async fn executed(&self, runner: &dyn Runner, task: Task, listener: Listener, stop: Stop) -> Answer {
        let deadline = task.deadline;
        let executed = runner.execute(task, cancellation(stop.clone()), listener);
        tokio::select! {
            biased;
            answer = executed => answer,
            end = self.overdue(deadline, stop) => Answer::ended(end),
        }
    }

    /// Waits until a task should have ended, and how.
    async fn overdue(&self, deadline: Option<Timestamp>, stop: Stop) -> RunnerEnd {
        let mut cancel = cancelled(stop);
        let signal = tokio::select! {
            biased;
            signal = cancel.signal() => signal,
            () = self.sleep_until(deadline) => {
                self.sleep_until(deadline.map(|deadline| deadline.after(GRACE))).await;
                return RunnerEnd::TimedOut;
            }
        };
        if signal == Signal::Ask {
            let patience = self.clock.now().after(GRACE);
            tokio::select! {
                _ = cancel.signal() => {}
                () = self.clock.sleep_until(patience) => return RunnerEnd::Cancelled,
            }
        }
        self.clock.sleep_until(self.clock.now().after(SHORT_GRACE)).await;
        RunnerEnd::Cancelled
    }

    /// Keeps what a worker says on its way as a script's standard error is kept; tells whether it said something.
    fn listener(
        &self,
        run: &Run,
        key: &StepKey,
        attempt: u32,
        channels: &Channels,
    ) -> (Listener, Arc<AtomicBool>) {
        let (driver, channels) = (self.clone(), channels.clone());
        let place = Arc::new((run.id.clone(), key.clone()));
        let said = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&said);
        let listener: Listener = Box::new(move |text: String| {
            heard.store(true, Ordering::SeqCst);
            let bytes = channels.with(Stream::Stderr, |channel| channel.take(text.as_bytes()));
            let line = Line { stream: Stream::Stderr, bytes };
            let (driver, place, channels) = (driver.clone(), Arc::clone(&place), channels.clone());
            Box::pin(async move { driver.keep(&place.0, &place.1, attempt, &channels, line).await })
        });
        (listener, said)
    }
}

fn no_runner(word: Option<&definition::Runner>) -> String {
    match word {
        Some(word) => format!("there is no runner `{word}`"),
        None => "there is no runner for agents and skills".to_owned(),
    }
}

fn skill_prompt(skill: &str, inputs: &[(String, Value)]) -> String {
    let mut prompt = format!("Run the skill `{skill}`.");
    if !inputs.is_empty() {
        prompt.push_str("\n\nIts inputs:\n");
    }
    for (name, value) in inputs {
        // Writing to a string cannot fail.
        let _ = write!(prompt, "\n- {name}: {}", as_text(value));
    }
    prompt
}

/// Turns the driver's stop into what a runner waits for.
fn cancellation(stop: Stop) -> Cancellation {
    let cancel = Arc::new(tokio::sync::Mutex::new(cancelled(stop)));
    Box::new(move || {
        let cancel = Arc::clone(&cancel);
        Box::pin(async move { cancel.lock().await.signal().await })
    })
}

/// Returns a value without secrets.
fn masked_value(masker: &Masker, value: &Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(masked(masker, text)),
        Value::List(items) => Value::List(items.iter().map(|item| masked_value(masker, item)).collect()),
        Value::Map(entries) => {
            let entry = |(name, value): &(String, Value)| (masked(masker, name), masked_value(masker, value));
            Value::Map(entries.iter().map(entry).collect())
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => value.clone(),
    }
}
