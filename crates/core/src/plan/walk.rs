//! A run walked without doing anything: the machine with stand-ins for what happens outside.
//!
//! Every step succeeds and every question is answered with its first option, unless a [`Stub`] says otherwise.

use crate::event::{Event, Observation, Output, ProcessEnd, QuestionKind, StepKey, StepResult, Timestamp};
use crate::run::{Command, Effect, Run};
use crate::value::Value;
use smol_str::SmolStr;

/// What a step is said to do.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stub {
    /// How its process ends; `None` is a success.
    pub exit_code: Option<i32>,
    /// What it writes.
    pub stdout: String,
    /// What it writes to standard error.
    pub stderr: String,
    /// Its output as data.
    pub json: Option<Value>,
    /// What is answered when it asks.
    pub answer: Option<SmolStr>,
    /// The evidence that it does not show.
    pub missing: Vec<String>,
    /// Whether its time is over before it ends.
    pub times_out: bool,
}

/// What steps are said to do: by step or instance, one stub per attempt; the last one holds for all that follow.
pub type Stubs = Vec<(String, Vec<Stub>)>;

/// No walk is longer, whatever is repeated.
const LONGEST: usize = 100_000;

/// Walks a run that has not begun to its end; returns it with what happened, each with its time.
pub fn walk(mut run: Run, secrets: &[(String, String)], stubs: &Stubs) -> (Run, Vec<(Timestamp, Event)>) {
    let mut now = run.created.at;
    let mut log: Vec<(Timestamp, Event)> = Vec::new();
    let mut answered = 0;
    let mut idle = 0;
    while log.len() < LONGEST {
        let began = log.len();
        let mut commands = Vec::new();
        for event in run.advance(now, secrets) {
            commands.extend(run.effect(&event).map(|effect| outcome(&run, &effect, secrets, stubs, now)));
            log.push((now, event));
        }
        if run.is_finished() {
            break;
        }
        if run.status() == crate::run::RunStatus::AwaitingPlan {
            commands.push(Command::AnswerPlan { by: "dry run".into(), approved: true, comment: None });
        }
        if commands.is_empty() {
            commands.extend(answer(&run, stubs, answered, now));
            answered += 1;
        }
        if commands.is_empty()
            && let Some(moment) = run.next_moment()
        {
            now = now.max(moment);
            commands.push(Command::Tick { now });
        }
        for command in commands {
            // What is under way when a run ends is cancelled with it, so a refusal only means that it was late.
            for event in run.decide(command, secrets).unwrap_or_default() {
                run.apply(&event);
                log.push((now, event));
            }
        }
        idle = if log.len() == began { idle + 1 } else { 0 };
        // A stub whose answer is refused, such as one that is no option, would be asked for ever.
        if idle > 3 {
            break;
        }
    }
    (run, log)
}

/// Returns the stub of an attempt, if there is one.
fn stub<'a>(stubs: &'a Stubs, key: &StepKey, attempt: u32) -> Option<&'a Stub> {
    let named = |name: &str| stubs.iter().find(|(known, _)| known == name);
    let (_, attempts) = named(&key.to_string()).or_else(|| named(key.step.as_str()))?;
    attempts.get(attempt.saturating_sub(1) as usize).or_else(|| attempts.last())
}

fn outcome(
    run: &Run,
    effect: &Effect,
    secrets: &[(String, String)],
    stubs: &Stubs,
    now: Timestamp,
) -> Command {
    let (key, attempt) = match effect {
        Effect::Hook(hook) => return Command::HookEnded { hook: hook.clone(), error: None },
        Effect::Attempt { key, attempt, .. } => (key, *attempt),
    };
    let stub = stub(stubs, key, attempt).cloned().unwrap_or_default();
    let code = stub.exit_code.unwrap_or(0);
    let end = match run.work(key, secrets) {
        Err(reason) => ProcessEnd::NotStarted(reason),
        Ok(_) if stub.times_out => ProcessEnd::TimedOut,
        Ok(_) => ProcessEnd::Exited(code),
    };
    let stdout = match (&stub.json, stub.stdout.is_empty()) {
        (Some(json), true) => json.to_string(),
        _ => stub.stdout,
    };
    let result = StepResult {
        output: Output::whole(stdout),
        stderr: Output::whole(stub.stderr),
        exit_code: Some(code),
        json: stub.json,
        ..StepResult::default()
    };
    let observation = Box::new(Observation { end, result, missing: stub.missing });
    Command::AttemptEnded { key: key.clone(), attempt, observation, now }
}

/// Answers the first question; somebody who may answer does.
fn answer(run: &Run, stubs: &Stubs, answered: usize, now: Timestamp) -> Option<Command> {
    let (key, question) = run.questions().into_iter().next()?;
    let given = stub(stubs, &key, 1).and_then(|stub| stub.answer.clone());
    let default = match question.about {
        QuestionKind::Approval => question.options.first()?.1.clone(),
        QuestionKind::Failure => "stop".into(),
    };
    // An answer that leads back to the same question is given once too often to go on with it.
    let answer = if answered > 1_000 { default } else { given.unwrap_or(default) };
    let by = question.approvers.iter().find(|approver| ***approver != *run.created.by);
    let by = by.map_or_else(|| "dry run".into(), |approver| approver.as_str().into());
    Some(Command::Answer { key, answer, by, comment: None, now })
}
