//! What could happen next to a run, as commands.

use super::Chance;
use abide_core::definition::StepKind;
use abide_core::event::{LossDecision, Observation, Output, ProcessEnd, StepKey, StepResult, Timestamp};
use abide_core::run::{Command, Run};

/// Returns the end of an attempt, well or badly.
pub(super) fn attempt_ends(
    chance: &mut Chance,
    run: &Run,
    (key, attempt): (StepKey, u32),
    now: Timestamp,
) -> Command {
    let is_child = run
        .position(key.step.as_str())
        .is_some_and(|position| matches!(run.step(position).kind, StepKind::Workflow(_)));
    let end = match chance.within(0..100) {
        _ if run.ending.is_some() && chance.percent(60) => ProcessEnd::Cancelled,
        60..=79 => ProcessEnd::Exited(1),
        80..=84 => ProcessEnd::TimedOut,
        85..=89 => ProcessEnd::Signalled(9),
        90..=92 => ProcessEnd::NotStarted("no such file".to_owned()),
        // Somebody may cancel the child alone.
        93..=95 if is_child => ProcessEnd::Cancelled,
        _ => ProcessEnd::Exited(0),
    };
    let missing = if chance.percent(8) { vec!["`report.txt` does not exist".to_owned()] } else { Vec::new() };
    let output = chance.one(&["", "ready", "building\n"]);
    ended(key, attempt, end, output, missing, now)
}

/// Returns the end of an attempt.
pub(super) fn ended(
    key: StepKey,
    attempt: u32,
    end: ProcessEnd,
    output: &str,
    missing: Vec<String>,
    now: Timestamp,
) -> Command {
    let exit_code = if let ProcessEnd::Exited(code) = &end { Some(*code) } else { None };
    let result = StepResult { output: Output::whole(output), exit_code, ..StepResult::default() };
    Command::AttemptEnded { key, attempt, observation: Box::new(Observation { end, result, missing }), now }
}

/// Returns what a human does: answers, decides about lost steps, and now and then something that may not be.
pub(super) fn human(chance: &mut Chance, run: &Run, now: Timestamp) -> Option<Command> {
    if run.status() == abide_core::run::RunStatus::AwaitingPlan {
        return Some(Command::AnswerPlan { by: "eve".into(), approved: chance.percent(90), comment: None });
    }
    if let Some(key) = run.lost().first() {
        let decision = if chance.percent(85) { LossDecision::Rerun } else { LossDecision::Fail };
        return Some(Command::Resolve { key: key.clone(), by: "eve".into(), decision });
    }
    let questions = run.questions();
    let (key, question) = questions.get(chance.position(questions.len()))?;
    let mut answers: Vec<_> = question.options.iter().map(|(_, value)| value.clone()).collect();
    if chance.percent(10) {
        answers.extend(["rejected".into(), "perhaps".into()]);
    }
    let by = if chance.percent(90) { "eve" } else { "ada" };
    let answer = chance.one(&answers);
    Some(Command::Answer { key: key.clone(), answer, by: by.into(), comment: None, now })
}

/// Returns what brings a run nearer to its end, if something from outside can: everybody is helpful.
pub(super) fn kindly(run: &Run, now: Timestamp) -> Option<Command> {
    if let Some(hook) = run.hook_in_flight() {
        return Some(Command::HookEnded { hook: hook.clone(), error: None });
    }
    if let Some((key, attempt)) = run.in_flight().into_iter().next() {
        let end = if run.ending.is_some() { ProcessEnd::Cancelled } else { ProcessEnd::Exited(0) };
        return Some(ended(key, attempt, end, "ready", Vec::new(), now));
    }
    kind_answer(run, now)
}

/// Returns what somebody helpful does for a run, if it waits for a human.
pub(super) fn kind_answer(run: &Run, now: Timestamp) -> Option<Command> {
    if run.status() == abide_core::run::RunStatus::AwaitingPlan && run.ending.is_none() {
        return Some(Command::AnswerPlan { by: "eve".into(), approved: true, comment: None });
    }
    if run.ending.is_some() {
        return None;
    }
    if let Some(key) = run.lost().into_iter().next() {
        return Some(Command::Resolve { key, by: "eve".into(), decision: LossDecision::Rerun });
    }
    let questions = run.questions();
    let open = |deadline: Option<Timestamp>| deadline.is_none_or(|deadline| now < deadline);
    let (key, question) = questions.iter().find(|(_, question)| open(question.deadline))?;
    let answer = match question.options.first()?.1.as_str() {
        "retry" => "skip",
        other => other,
    };
    Some(Command::Answer { key: key.clone(), answer: answer.into(), by: "eve".into(), comment: None, now })
}
