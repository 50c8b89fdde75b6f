//! A run walked without doing anything: the machine with stand-ins for what happens outside.
//!
//! Every step succeeds and every question is answered with its first option, unless a [`Stub`] says otherwise.

use crate::event::{
    Event, Observation, Output, ProcessEnd, QuestionKind, RunId, StepKey, StepResult, Timestamp,
};
use crate::run::{ChildWork, Command, Effect, Run, Work};
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

/// Something that happens in a walk.
#[derive(Debug, Clone, PartialEq)]
pub struct Walked {
    /// To which run.
    pub run: RunId,
    /// How many runs are above it.
    pub depth: u32,
    /// When.
    pub at: Timestamp,
    /// What.
    pub event: Event,
}

/// Makes the run that a step would call, with the values of its secret inputs; the error says why it could not start.
pub type Call<'a> = dyn Fn(&Run, &StepKey, ChildWork, &[(String, String)]) -> Result<(Run, Vec<(String, String)>), String>
    + 'a;

/// Walks a run that has not begun to its end, and the runs that it calls; returns it with what happened.
///
/// A called run is walked unless a stub stands for the whole of it. Stubs for its steps are named after the step that
/// calls it: `call/build`.
pub fn walk(run: Run, secrets: &[(String, String)], stubs: &Stubs, call: &Call<'_>) -> (Run, Vec<Walked>) {
    let mut walk = Walk { call, log: Vec::new() };
    let (run, _) = walk.run(run, secrets, stubs);
    (run, walk.log)
}

struct Walk<'a> {
    call: &'a Call<'a>,
    log: Vec<Walked>,
}

impl Walk<'_> {
    /// Walks one run; returns it as it is in the end, and when that is.
    fn run(&mut self, mut run: Run, secrets: &[(String, String)], stubs: &Stubs) -> (Run, Timestamp) {
        let mut now = run.created.at;
        let mut answered = 0;
        let mut idle = 0;
        while self.log.len() < LONGEST {
            let began = self.log.len();
            let mut commands = Vec::new();
            for event in run.advance(now, secrets) {
                let effect = run.effect(&event);
                self.happened(&run, now, event);
                let Some(effect) = effect else { continue };
                let (command, ended) = self.outcome(&run, &effect, secrets, stubs, now);
                commands.extend(command);
                now = now.max(ended);
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
                    self.happened(&run, now, event);
                }
            }
            idle = if self.log.len() == began { idle + 1 } else { 0 };
            // A stub whose answer is refused, such as one that is no option, would be asked for ever.
            if idle > 3 {
                break;
            }
        }
        (run, now)
    }

    fn happened(&mut self, run: &Run, at: Timestamp, event: Event) {
        self.log.push(Walked { run: run.id.clone(), depth: run.created.depth, at, event });
    }

    /// Returns what comes of an effect, and when; nothing when it never ends.
    fn outcome(
        &mut self,
        run: &Run,
        effect: &Effect,
        secrets: &[(String, String)],
        stubs: &Stubs,
        now: Timestamp,
    ) -> (Option<Command>, Timestamp) {
        let (key, attempt) = match effect {
            Effect::Hook(hook) => {
                return (Some(Command::HookEnded { hook: hook.clone(), error: None }), now);
            }
            Effect::Attempt { key, attempt, .. } => (key, *attempt),
        };
        let (observation, now) = match (run.work(key, secrets), stub(stubs, key, attempt)) {
            (Err(reason), _) => (Some(not_started(reason)), now),
            (Ok(Work::Child(work)), None) => self.called(run, key, work, secrets, stubs, now),
            (Ok(_), stub) => (Some(stubbed(stub.cloned().unwrap_or_default())), now),
        };
        let ended = |observation| Command::AttemptEnded {
            key: key.clone(),
            attempt,
            observation: Box::new(observation),
            now,
        };
        (observation.map(ended), now)
    }

    /// Walks the run that a step calls.
    fn called(
        &mut self,
        run: &Run,
        key: &StepKey,
        work: ChildWork,
        secrets: &[(String, String)],
        stubs: &Stubs,
        now: Timestamp,
    ) -> (Option<Observation>, Timestamp) {
        let (mut child, secrets) = match (self.call)(run, key, work, secrets) {
            Ok(child) => child,
            Err(reason) => return (Some(not_started(reason)), now),
        };
        let mut created = (*child.created).clone();
        let later = |moment: Timestamp| Timestamp(moment.0 - created.at.0 + now.0);
        created.deadline = created.deadline.map(later);
        created.at = now;
        child.created = std::sync::Arc::new(created);
        let (child, ended) = self.run(child, &secrets, &below(stubs, key));
        (child.as_called(), ended)
    }
}

/// Returns the stubs for the steps of the run that a step calls.
fn below(stubs: &Stubs, key: &StepKey) -> Stubs {
    let own = |name: &str| {
        let (caller, rest) = name.split_once('/')?;
        (caller == key.to_string() || caller == key.step.as_str()).then(|| rest.to_owned())
    };
    stubs.iter().filter_map(|(name, attempts)| Some((own(name)?, attempts.clone()))).collect()
}

fn not_started(reason: String) -> Observation {
    Observation { end: ProcessEnd::NotStarted(reason), result: StepResult::default(), missing: Vec::new() }
}

/// Returns the stub of an attempt, if there is one.
fn stub<'a>(stubs: &'a Stubs, key: &StepKey, attempt: u32) -> Option<&'a Stub> {
    let named = |name: &str| stubs.iter().find(|(known, _)| known == name);
    let (_, attempts) = named(&key.to_string()).or_else(|| named(key.step.as_str()))?;
    attempts.get(attempt.saturating_sub(1) as usize).or_else(|| attempts.last())
}

fn stubbed(stub: Stub) -> Observation {
    let code = stub.exit_code.unwrap_or(0);
    let end = if stub.times_out { ProcessEnd::TimedOut } else { ProcessEnd::Exited(code) };
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
    Observation { end, result, missing: stub.missing }
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
