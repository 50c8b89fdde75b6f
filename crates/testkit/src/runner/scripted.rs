//! A runner whose answers are written down: what each attempt is told is looked at, and what it answers is known.
#![expect(clippy::disallowed_methods, reason = "an agent that is said to write a file writes it")]

use crate::RealClock;
use crate::conformance::fields::{Fields, plain};
use abide_core::model::Usage;
use abide_core::value::Value;
use abide_engine::port::{Answer, Cancellation, Clock as _, Later, Listener, Runner, RunnerEnd, Task};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// What agents and skills answer: by step or instance, one answer for each attempt.
pub type Script = Vec<(String, Vec<Scripted>)>;

/// What one attempt is told and answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scripted {
    /// Texts that it must be told.
    pub told: Vec<String>,
    /// Texts that it must not be told.
    pub untold: Vec<String>,
    /// What it says on its way.
    pub says: Option<String>,
    /// Files that it writes, relative to the project's root.
    pub writes: Vec<(String, String)>,
    /// Its final text.
    pub answer: String,
    /// Its answer as data.
    pub json: Option<Value>,
    /// How many tokens it takes and gives.
    pub tokens: Option<(u64, u64)>,
    /// Why it gives up, if it does.
    pub fails: Option<String>,
    /// Whether it goes on until it is told to end, or its time is over.
    pub waits: bool,
}

/// Reads a script from data: a mapping of steps to an answer or a list of them.
pub fn read_script(data: &Value) -> Result<Script, String> {
    let Value::Map(entries) = data else { return Err(format!("`agents` is a mapping, not {}", data.kind())) };
    let attempts = |value: &Value| match value {
        Value::List(items) => items.iter().map(scripted).collect::<Result<Vec<_>, _>>(),
        one => Ok(vec![scripted(one)?]),
    };
    entries.iter().map(|(step, value)| Ok((step.clone(), attempts(value)?))).collect()
}

fn scripted(data: &Value) -> Result<Scripted, String> {
    if let Value::Text(answer) = data {
        return Ok(Scripted { answer: answer.clone(), ..Scripted::default() });
    }
    let names = ["told", "untold", "says", "writes", "answer", "json", "tokens", "fails", "waits"];
    let fields = Fields::of(data, "an answer of `agents`", &names)?;
    let texts = |name: &str| match fields.get(name) {
        None => Vec::new(),
        Some(Value::List(items)) => items.iter().map(plain).collect(),
        Some(one) => vec![plain(one)],
    };
    let writes = fields.entries("writes")?;
    let tokens = match fields.list("tokens")? {
        [] => None,
        [Value::Int(taken), Value::Int(given)] => Some((taken.unsigned_abs(), given.unsigned_abs())),
        _ => return Err("`tokens` is a list of two numbers".to_owned()),
    };
    Ok(Scripted {
        told: texts("told"),
        untold: texts("untold"),
        says: fields.text("says")?,
        writes: writes.into_iter().map(|(file, text)| (file, plain(&text))).collect(),
        answer: fields.text("answer")?.unwrap_or_default(),
        json: fields.get("json").cloned(),
        tokens,
        fails: fields.text("fails")?,
        waits: fields.get("waits").is_some_and(|waits| *waits == Value::Bool(true)),
    })
}

/// Executes tasks by a script.
#[derive(Debug)]
pub struct ScriptedRunner {
    script: Script,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    tasks: Vec<Task>,
    surprises: Vec<String>,
}

impl ScriptedRunner {
    /// Makes one that answers by a script.
    pub fn new(script: Script) -> Self {
        Self { script, seen: Arc::default() }
    }

    /// Returns what it was given, in order.
    pub fn tasks(&self) -> Vec<Task> {
        self.seen().tasks.clone()
    }

    /// Returns what did not go by the script: a text that was not told, an attempt too many, an answer nobody asked for.
    pub fn surprises(&self) -> Vec<String> {
        let seen = self.seen();
        let asked: HashSet<(usize, u32)> = seen
            .tasks
            .iter()
            .filter_map(|task| Some((position(&self.script, task)?, task.attempt)))
            .collect();
        let mut surprises = seen.surprises.clone();
        for (position, (step, attempts)) in self.script.iter().enumerate() {
            let numbers = 1..=u32::try_from(attempts.len()).unwrap_or(u32::MAX);
            let unasked = numbers.filter(|attempt| !asked.contains(&(position, *attempt)));
            surprises.extend(
                unasked.map(|attempt| format!("attempt {attempt} of agent step `{step}` never came")),
            );
        }
        surprises
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Finds the answers of a task: those of its instance, or else those of its step.
fn position(script: &Script, task: &Task) -> Option<usize> {
    let named = |name: &str| script.iter().position(|(known, _)| known == name);
    named(&task.key.to_string()).or_else(|| named(task.key.step.as_str()))
}

impl Runner for ScriptedRunner {
    fn execute(&self, task: Task, mut cancel: Cancellation, mut listener: Listener) -> Later<Answer> {
        let place = format!("attempt {} of agent step `{}`", task.attempt, task.key);
        let answers = position(&self.script, &task).map(|position| &self.script[position].1);
        let scripted = answers.and_then(|answers| answers.get(task.attempt as usize - 1)).cloned();
        let message = task.message();
        let mut surprises = Vec::new();
        match &scripted {
            None => surprises.push(format!("{place} is not in the script; it was told:\n{message}")),
            Some(scripted) => {
                let missing = scripted.told.iter().filter(|text| !message.contains(text.as_str()));
                surprises
                    .extend(missing.map(|text| format!("{place} was not told {text:?}, but:\n{message}")));
                let extra = scripted.untold.iter().filter(|text| message.contains(text.as_str()));
                surprises.extend(extra.map(|text| format!("{place} was told {text:?}:\n{message}")));
            }
        }
        let (folder, deadline) = (task.folder.clone(), task.deadline);
        let mut seen = self.seen();
        seen.surprises.extend(surprises);
        seen.tasks.push(task);
        drop(seen);
        Box::pin(async move {
            let Some(scripted) = scripted else {
                return Answer::ended(RunnerEnd::Failed("nobody wrote an answer".to_owned()));
            };
            if let Some(text) = scripted.says {
                listener(text).await;
            }
            for (file, text) in scripted.writes {
                let path = folder.join(&file);
                let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
                if let Err(error) = made.and_then(|()| std::fs::write(&path, text)) {
                    return Answer::ended(RunnerEnd::Failed(format!("{}: {error}", path.display())));
                }
            }
            if scripted.waits {
                let ends = async {
                    match deadline {
                        Some(deadline) => RealClock::default().sleep_until(deadline).await,
                        None => std::future::pending().await,
                    }
                };
                let end = tokio::select! {
                    _ = cancel() => RunnerEnd::Cancelled,
                    () = ends => RunnerEnd::TimedOut,
                };
                return Answer::ended(end);
            }
            let end = scripted.fails.map_or(RunnerEnd::Finished, RunnerEnd::Failed);
            let usage = scripted.tokens.map(|(input_tokens, output_tokens)| Usage {
                input_tokens,
                output_tokens,
                ..Usage::default()
            });
            let turns = u32::from(usage.is_some());
            Answer { text: scripted.answer, structured: scripted.json, usage, turns, ..Answer::ended(end) }
        })
    }
}
