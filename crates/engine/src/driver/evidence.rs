//! What proves that a step was done, looked at by abide itself.

use super::Driver;
use super::attempt::{Channels, script_spec};
use super::capture::Channel;
use super::halt::Stop;
use super::hook::cancelled;
use super::mark;
use super::vault::Vault;
use crate::port::{Clock, Ending, Line, Process, Store, Stream, Variable, Workspace};
use abide_core::definition::{StepKind, Validation};
use abide_core::event::{ProcessEnd, StepKey, StepResult};
use abide_core::run::{Run, RunScope, ScriptWork};
use abide_core::value::Value;
use std::path::Path;
use std::sync::Arc;

/// How long a command of the evidence may take.
const LONGEST: u64 = 5 * 60 * 1000;
/// How many of the last lines of what it said are told, and how much of them.
const LAST_LINES: usize = 5;
const LAST_CHARACTERS: usize = 400;

/// Returns what a step must show.
pub(super) fn validation(kind: &StepKind) -> Option<&Validation> {
    match kind {
        StepKind::Script(step) => Some(&step.validation),
        StepKind::Agent(step) => Some(&step.validation),
        StepKind::Skill(step) => Some(&step.validation),
        StepKind::Approval(_) | StepKind::Workflow(_) => None,
    }
}

/// Returns the mark of a command of the evidence of an attempt.
pub(super) fn check_mark(attempt: &str, index: usize) -> String {
    format!("{attempt}/check{index}")
}

/// Returns how an attempt ended once its evidence was looked at.
///
/// A command of the evidence that was ended by us has proved nothing, neither way.
pub(super) fn proven(
    run: &Run,
    key: &StepKey,
    end: ProcessEnd,
    missing: &[String],
    stop: &Stop,
) -> ProcessEnd {
    let rules = run.position(key.step.as_str()).and_then(|step| validation(&run.step(step).kind));
    let looks = rules.is_some_and(|rules| !rules.check.is_empty());
    if looks && !missing.is_empty() && stop.get().is_some() { ProcessEnd::Cancelled } else { end }
}

/// An attempt that has ended, whose evidence is looked at.
pub(super) struct Ended<'a> {
    pub(super) run: &'a Run,
    pub(super) key: &'a StepKey,
    pub(super) attempt: u32,
    pub(super) folder: &'a Path,
    /// The named secrets that its step takes.
    pub(super) named: &'a [Variable],
    pub(super) vault: &'a Arc<Vault>,
    pub(super) stop: &'a Stop,
}

impl<S: Store, P: Process, W: Workspace, C: Clock> Driver<S, P, W, C> {
    /// Returns the evidence that is missing, each as a sentence; data that a schema asked for is put into the result.
    pub(super) async fn missing(&self, ended: &Ended<'_>, result: &mut StepResult) -> Vec<String> {
        let Ended { run, key, .. } = ended;
        let Some((position, instance)) = run.find(key) else { return Vec::new() };
        let Some(rules) = validation(&run.step(position).kind) else { return Vec::new() };
        let secrets = self.secrets_of(&run.id);
        // The other evidence may look at the data.
        let wrong = take_data(run, position, result);
        let scope = RunScope::new(run, Some((position, instance)), &secrets).seeing(result, None);
        let mut missing = Vec::new();
        for rule in &rules.file_exists {
            match rule.render(&scope) {
                Ok(path) if names_nothing(&path) => {
                    missing.push(format!("`{}` must exist, and its path is empty", rule.text()));
                }
                Ok(path) if self.workspace.exists(ended.folder, &path) => {}
                Ok(path) => missing.push(format!("`{path}` does not exist")),
                Err(error) => missing.push(error.to_string()),
            }
        }
        missing.extend(wrong);
        for (index, command) in rules.check.iter().enumerate() {
            self.ours(&run.id, ended.stop).await;
            match run.check_command(key, command, result, &secrets) {
                Ok(work) => missing.extend(self.check(ended, index, command.text(), &work).await),
                Err(error) => missing.push(error),
            }
        }
        missing
    }

    /// Runs a command of the evidence; returns what it does not prove, with the end of what it said.
    async fn check(
        &self,
        ended: &Ended<'_>,
        index: usize,
        command: &str,
        work: &ScriptWork,
    ) -> Option<String> {
        let mark = check_mark(&mark(&ended.run.id, ended.key, ended.attempt), index);
        let (named, folder) = (ended.named.to_vec(), ended.folder.to_path_buf());
        let spec = script_spec(ended.run, work, named, ended.vault, folder, Some(LONGEST), mark);
        let channels = Channels::new(ended.vault, Default::default());
        let heard = channels.clone();
        let sink = move |line: Line| {
            heard.with(line.stream, |channel| channel.take(&line.bytes));
            std::future::ready(())
        };
        let how = match self.process.run(spec, cancelled(ended.stop.clone()), sink).await {
            Ok(Ending::Exited(0)) => return None,
            Ok(Ending::Exited(code)) => format!("exited with code {code}"),
            Ok(other) => format!("did not end by itself: {other:?}"),
            Err(error) => return Some(error.to_string()),
        };
        let mut said = String::new();
        // What went wrong is mostly said there.
        for stream in [Stream::Stderr, Stream::Stdout] {
            if said.is_empty() {
                channels.with(stream, Channel::end);
                said = last_words(&channels.with(stream, |channel| channel.output()).text);
            }
        }
        let said = if said.is_empty() { said } else { format!(": {said}") };
        Some(format!("`{command}` {how}{said}"))
    }
}

/// Returns the end of what a command said, in one line.
fn last_words(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let line = lines[lines.len().saturating_sub(LAST_LINES)..].join("; ");
    let cut = line.chars().count().saturating_sub(LAST_CHARACTERS);
    if cut == 0 { line } else { format!("…{}", line.chars().skip(cut).collect::<String>()) }
}

/// Takes the data out of an output into the result; returns why it is not what the schemas of its step ask for.
fn take_data(run: &Run, step: usize, result: &mut StepResult) -> Vec<String> {
    let schemas = schemas_of(run, step);
    let mut missing = Vec::new();
    if !schemas.is_empty() {
        // A runner may have said what its answer is as data.
        let given = result.json.take();
        match given.map_or_else(|| abide_formats::json::parse(result.output.text.trim()), Ok) {
            Ok(json) => {
                let wrong: Vec<String> =
                    schemas.iter().filter_map(|schema| fits(schema, &json).err()).collect();
                if wrong.is_empty() {
                    result.json = Some(json);
                }
                missing.extend(wrong.iter().map(|why| format!("the output does not fit its schema: {why}")));
            }
            Err(error) => missing.push(format!("the output is not JSON: {error}")),
        }
    }
    // Kept beside the output only where something may look at it.
    if result.json.is_none() && !result.output.cut && run.uses_json() {
        result.json = abide_formats::json::parse(result.output.text.trim()).ok();
    }
    missing
}

/// Tells whether a path leads nowhere: what it is joined to exists in any case.
fn names_nothing(path: &str) -> bool {
    path.trim().trim_matches('/').is_empty()
}

/// Returns the schemas that the output of a step must fit.
fn schemas_of(run: &Run, step: usize) -> Vec<&Value> {
    let kind = &run.step(step).kind;
    let own = match kind {
        StepKind::Agent(agent) => agent.output_schema.as_ref(),
        _ => None,
    };
    let rule = validation(kind).and_then(|rules| rules.json_schema.as_ref());
    own.into_iter().chain(rule).map(|schema| &schema.value).collect()
}

fn fits(schema: &Value, json: &Value) -> Result<(), String> {
    let parse = |value: &Value| serde_json::from_str::<serde_json::Value>(&value.to_string());
    let schema = parse(schema).map_err(|error| error.to_string())?;
    let json = parse(json).map_err(|error| error.to_string())?;
    let validator =
        jsonschema::validator_for(&schema).map_err(|error| format!("the schema cannot be used: {error}"))?;
    match validator.iter_errors(&json).next() {
        None => Ok(()),
        Some(error) => Err(error.to_string()),
    }
}
