//! The use cases that every face calls.

pub use crate::answered::{Given, last_answer};
pub use crate::call::prepare_called;
pub use crate::family::{Member, Open, family, open};
pub use crate::go_on::{GoOnError, go_on};
pub use crate::plan::plan;
pub use crate::rerun::{Reran, Rerun, Version, rerun, secrets_again};
pub use crate::snapshot::page;

use crate::answered::answer_to;
use crate::driver::{Driver, summary};
use crate::log::{LoadError, Loaded, load, pinned, stored};
use crate::port::{
    Clock, Definition, Holder, Process, Runners, Store, StoreError, Workspace, WorkspaceError,
};
use crate::support::{check_rest, check_support};
use abide_core::definition::check::DEEPEST_WORKFLOW;
use abide_core::definition::{Ability, Input, InputType};
use abide_core::event::{Created, Event, NotedVerdict, RunId, StepKey, Timestamp, TraceParent};
use abide_core::run::{Command, Refusal, Run};
use abide_core::value::Value;
use abide_core::value::output::{MASK, Secret};
use abide_core::value::template::as_text;
use sha2::{Digest as _, Sha256};
use smol_str::SmolStr;

/// What to start.
#[derive(Debug, Clone)]
pub struct Start {
    /// Which ability.
    pub ability: String,
    /// The inputs that were given.
    pub inputs: Vec<(String, Value)>,
    /// The text that triggered it.
    pub input: String,
    /// Who starts it.
    pub by: SmolStr,
    /// The session that it belongs to.
    pub session: Option<SmolStr>,
    /// The run and step that call it.
    pub parent: Option<(RunId, StepKey)>,
    /// How many runs have called each other above it.
    pub depth: u32,
    /// Its id, when that is known before.
    pub id: Option<RunId>,
    /// Whose trace it is part of.
    pub trace: Option<TraceParent>,
}

/// Why something could not be done with a run.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The ability cannot be had.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The inputs are not what the ability takes.
    #[error("{}", .0.join("\n"))]
    Inputs(Vec<String>),
    /// The ability needs something that this version cannot do.
    #[error("step `{step}` of `{ability}` is {what}, which this version of abide cannot run")]
    Unsupported {
        /// The ability that has the step: the one to be started, or one that it calls.
        ability: String,
        /// The step.
        step: String,
        /// What it is.
        what: String,
    },
    /// What is to execute a step cannot be used here.
    #[error("step `{step}` of `{ability}` cannot be run: {why}")]
    Unusable {
        /// The ability that has the step: the one to be started, or one that it calls.
        ability: String,
        /// The step.
        step: String,
        /// Why, and what to do about it.
        why: String,
    },
    /// A called ability would write a secret into its log.
    #[error("`{input}` gets a secret, and the ability `{ability}` does not declare it as `secret: true`")]
    Leak {
        /// The input.
        input: String,
        /// The ability.
        ability: String,
    },
    /// Runs call each other too deeply.
    #[error("runs call each other more than {DEEPEST_WORKFLOW} deep")]
    TooDeep,
    /// The run cannot be repeated like that.
    #[error("{0}")]
    Rerun(String),
    /// Files that the run has pinned are not what they were.
    #[error("{} changed since run {run} was created, which repeats as it was", have(.files))]
    Changed {
        /// The run.
        run: RunId,
        /// The files.
        files: Vec<String>,
    },
    /// Somebody was quicker.
    #[error("{0}")]
    Answered(Box<Given>),
    /// The machine refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The log could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn have(files: &[String]) -> String {
    format!("{} {}", files.join(", "), if files.len() == 1 { "has" } else { "have" })
}

/// Checks inputs and fills in defaults; returns what the log holds, and the secret values that it must not hold.
#[expect(clippy::type_complexity, reason = "two lists of named values")]
pub fn resolve_inputs(
    ability: &Ability,
    given: &[(String, Value)],
) -> Result<(Vec<(SmolStr, Value)>, Vec<(String, String)>), Vec<String>> {
    let mut problems = Vec::new();
    let mut inputs = Vec::new();
    let mut secrets = Vec::new();
    for (name, _) in given {
        if ability.input(name).is_none() {
            let known: Vec<&str> = ability.inputs.iter().map(|input| input.name.as_str()).collect();
            let hint = match abide_core::diagnostic::nearest(name, known.iter().copied()) {
                Some(nearest) => format!("; did you mean `{nearest}`?"),
                None if known.is_empty() => "; it takes none".to_owned(),
                None => format!("; it takes {}", known.join(", ")),
            };
            problems.push(format!("`{}` has no input `{name}`{hint}", ability.name.as_str()));
        }
    }
    for input in &ability.inputs {
        let name = input.name.as_str();
        let value = given.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let Some(value) = value.or_else(|| input.default.as_ref().map(|default| default.value.clone()))
        else {
            if input.is_required() {
                let about =
                    input.description.as_ref().map(|about| format!(": {}", **about)).unwrap_or_default();
                problems.push(format!("the input `{name}` is missing{about}"));
            }
            continue;
        };
        let value = coerced(input, value);
        problems.extend(wrong_with(input, &value));
        if input.is_secret() {
            let text = as_text(&value).into_owned();
            secrets.push((name.to_owned(), text));
            inputs.push((name.into(), Value::Text(MASK.to_owned())));
        } else {
            inputs.push((name.into(), value));
        }
    }
    if problems.is_empty() { Ok((inputs, secrets)) } else { Err(problems) }
}

/// Says what is wrong with a value that was typed for an input.
pub fn input_problems(input: &Input, typed: &str) -> Vec<String> {
    wrong_with(input, &coerced(input, Value::Text(typed.to_owned())))
}

fn wrong_with(input: &Input, value: &Value) -> Vec<String> {
    let name = input.name.as_str();
    let broken = input.broken_by(value).into_iter().map(|broken| {
        let shown = if input.is_secret() { MASK.to_owned() } else { value.to_string() };
        format!("the input `{name}` cannot be {shown}: {broken}")
    });
    let mut problems: Vec<String> = broken.collect();
    if input.is_secret()
        && let Err(short) = Secret::new(&*as_text(value))
    {
        problems.push(format!("the input `{name}`: {short}"));
    }
    problems
}

/// Refuses numbers for inputs that take text, where the number is all that is left of what somebody wrote: `1.10` has become 1.1.
fn check_texts(ability: &Ability, given: &[(String, Value)]) -> Result<(), ServiceError> {
    let lost = given.iter().filter(|(name, value)| {
        let takes_text = |input: &Input| input.input_type() == InputType::String;
        matches!(value, Value::Float(_)) && ability.input(name).is_some_and(takes_text)
    });
    let problem = |(name, value): &(String, Value)| {
        let shown = if ability.input(name).is_some_and(Input::is_secret) {
            MASK.to_owned()
        } else {
            value.to_string()
        };
        format!(
            "the input `{name}` takes text, and the number {shown} may not be what was written: put it into quotes"
        )
    };
    let problems: Vec<String> = lost.map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(ServiceError::Inputs(problems)) }
}

/// Reads text that was given on a command line as what its input takes.
fn coerced(input: &Input, value: Value) -> Value {
    match (input.input_type(), value) {
        (InputType::Number, Value::Int(number)) => {
            #[expect(clippy::cast_precision_loss, reason = "a number is a floating point number")]
            let number = number as f64;
            Value::Float(number)
        }
        (InputType::String, value @ (Value::Int(_) | Value::Float(_) | Value::Bool(_))) => {
            Value::Text(value.to_string())
        }
        (InputType::String, value) => value,
        (_, Value::Text(text)) => match abide_formats::json::parse(&text) {
            Ok(Value::Int(number)) if input.input_type() == InputType::Number => {
                #[expect(clippy::cast_precision_loss, reason = "a number is a floating point number")]
                let number = number as f64;
                Value::Float(number)
            }
            Ok(parsed) => parsed,
            Err(_) => Value::Text(text),
        },
        (_, value) => value,
    }
}

/// A run that could be started: everything is checked, and nothing is written.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The run, before its first event.
    pub run: Run,
    /// The values of secret inputs, which the log must not hold.
    pub secrets: Vec<(String, String)>,
}

/// Checks everything that a start needs.
pub fn prepare<W: Workspace, C: Clock>(
    workspace: &W,
    clock: &C,
    start: Start,
) -> Result<Prepared, ServiceError> {
    if start.depth as usize >= DEEPEST_WORKFLOW {
        return Err(ServiceError::TooDeep);
    }
    let definition = workspace.ability(&start.ability)?;
    let ability = pinned(&definition.source, &definition.name)
        .map_err(|message| WorkspaceError { message, help: None })?;
    // What a step hands to the ability that it calls is a value, and nobody's writing.
    if start.parent.is_none() {
        check_texts(&ability, &start.inputs)?;
    }
    let (inputs, secrets) = resolve_inputs(&ability, &start.inputs).map_err(ServiceError::Inputs)?;
    let now = clock.now();
    let created = Created {
        at: now,
        name: definition.name.as_str().into(),
        digest: digest(&definition).into(),
        folder: definition.folder.as_ref().map(|folder| folder.display().to_string()),
        root: definition.root.display().to_string(),
        files: definition.files.iter().map(|(path, digest)| (path.clone(), digest.into())).collect(),
        inputs,
        input: start.input,
        by: start.by,
        session: start.session,
        parent: start.parent,
        depth: start.depth,
        rerun_of: None,
        taken_over: Vec::new(),
        hooks: definition.hooks,
        deadline: ability.settings.timeout.as_ref().map(|timeout| now.after(timeout.time())),
        plan_approval: ability.settings.plan_approval.as_ref().is_some_and(|flag| flag.value),
        trace: start.trace,
        source: definition.source,
    };
    let id = start.id.unwrap_or_else(|| clock.new_run());
    Ok(Prepared { run: Run::create(id, created, ability), secrets })
}

/// Checks everything that a start by a driver needs.
pub fn prepare_for<S: Store, P: Process, W: Workspace, C: Clock>(
    driver: &Driver<S, P, W, C>,
    start: Start,
) -> Result<Prepared, ServiceError> {
    prepare(&*driver.workspace, &*driver.clock, start)
}

/// Starts a run: everything is checked before anything is written.
pub async fn start<S: Store, P: Process, W: Workspace, C: Clock>(
    driver: &Driver<S, P, W, C>,
    start: Start,
) -> Result<RunId, ServiceError> {
    let prepared = prepare_for(driver, start)?;
    begin(driver, prepared).await
}

/// Refuses a run that would come to a step which none of these runners executes; nothing needs a log for that.
pub fn can_begin<W: Workspace>(runners: &Runners, workspace: &W, run: &Run) -> Result<(), ServiceError> {
    check_support(runners, workspace, &run.created.name, &run.ability)
}

/// Refuses to drive a run on that would come to a step which nothing here executes: it would count as failed.
pub fn can_go_on<S: Store, P: Process, W: Workspace, C: Clock>(
    driver: &Driver<S, P, W, C>,
    run: &Run,
) -> Result<(), ServiceError> {
    if run.ending.is_some() {
        return Ok(());
    }
    check_rest(&driver.runners, &*driver.workspace, run)
}

/// Begins a run that was prepared: writes its first event.
pub async fn begin<S: Store, P: Process, W: Workspace, C: Clock>(
    driver: &Driver<S, P, W, C>,
    prepared: Prepared,
) -> Result<RunId, ServiceError> {
    let Prepared { run, secrets } = prepared;
    can_begin(&driver.runners, &*driver.workspace, &run)?;
    let events = [Event::Created(Box::new((*run.created).clone()))];
    driver.store.append(run.id.as_str(), 0, None, stored(&events), summary(&run)).await?;
    driver.give_secrets(&run.id, secrets);
    driver.observer.begun(&run);
    Ok(run.id)
}

pub(crate) fn digest(definition: &Definition) -> String {
    let mut hash = Sha256::new();
    hash.update(definition.source.as_bytes());
    for (path, digest) in &definition.files {
        hash.update(format!("\n{path} {digest}"));
    }
    hex(&hash.finalize())
}

/// Writes bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Does something to a run that nobody needs a lease for: answers, cancels, resolves.
///
/// Whoever drives the run sees it in the log. When two are at it at once, one of them is told how things are.
pub async fn command<S: Store, P: Process, W: Workspace, C: Clock>(
    driver: &Driver<S, P, W, C>,
    id: &RunId,
    command: Command,
) -> Result<Run, ServiceError> {
    let refused = match tell(&*driver.store, id, driver.unsaid(id, command), &driver.secrets_of(id)).await {
        Err(ServiceError::Refused(refused)) => refused,
        told => return told,
    };
    // Whoever answers second is told who was first.
    let first = match &refused {
        Refusal::NoQuestion { key } | Refusal::Answered { key, .. } => {
            answer_to(&*driver.store, id, Some(key)).await?
        }
        Refusal::NoPlan(_) => answer_to(&*driver.store, id, None).await?,
        _ => None,
    };
    Err(first.map_or(ServiceError::Refused(refused), |first| ServiceError::Answered(Box::new(first))))
}

/// Returns whether a process that lives has the right to drive a run.
pub async fn is_driven<S: Store>(
    store: &S,
    id: &RunId,
    now: Timestamp,
    is_dead: impl Fn(&Holder) -> bool,
) -> Result<bool, StoreError> {
    let standings = store.standings(&[id.to_string()]).await?;
    let leases = standings.iter().filter_map(|standing| standing.lease.as_ref());
    Ok(leases.into_iter().any(|lease| lease.until > now.0 && !is_dead(&lease.holder)))
}

/// Takes what the gate noted about a run into its log, each verdict once, whoever does it and how often.
///
/// Nobody needs a driver for it, and a run that is over takes them too.
pub async fn take_verdicts<S: Store>(
    store: &S,
    id: &RunId,
    noted: Vec<(u64, NotedVerdict)>,
) -> Result<Run, ServiceError> {
    tell(store, id, Command::TakeVerdicts { noted }, &[]).await
}

async fn tell<S: Store>(
    store: &S,
    id: &RunId,
    command: Command,
    secrets: &[(String, String)],
) -> Result<Run, ServiceError> {
    loop {
        let Loaded { mut run, seq, .. } = load(store, id).await?;
        let events = run.decide(command.clone(), secrets)?;
        if events.is_empty() {
            return Ok(run);
        }
        for event in &events {
            run.apply(event);
        }
        match store.append(id.as_str(), seq, None, stored(&events), summary(&run)).await {
            Ok(_) => return Ok(run),
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns the lost steps of a run and of the runs that it calls, each with the run that it belongs to.
pub async fn lost<S: Store, P: Process, W: Workspace, C: Clock>(
    driver: &Driver<S, P, W, C>,
    id: &RunId,
) -> Result<Vec<(RunId, StepKey)>, ServiceError> {
    let family = family(&*driver.store, id).await?;
    Ok(family
        .iter()
        .flat_map(|member| member.run.lost().into_iter().map(|key| (member.run.id.clone(), key)))
        .collect())
}
