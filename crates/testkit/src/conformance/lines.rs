//! Events as short lines that are the same every time: no moments, no ids, no hashes.

use abide_core::event::{Event, NotedVerdict, QuestionKind, Skip, StepResult, Then};
use abide_core::value::Value;

/// Returns an event as a line.
pub fn line(event: &Event) -> String {
    let rest = match event {
        Event::Created(created) => {
            let inputs = Value::Map(
                created.inputs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
            );
            let inputs = if created.inputs.is_empty() { String::new() } else { format!(", with {inputs}") };
            format!("{} by {}{inputs}", created.name, created.by)
        }
        Event::PlanAnswered { by, approved, comment } => {
            let what = if *approved { "approved" } else { "rejected" };
            format!("{what} by {by}{}", because(comment.as_deref()))
        }
        Event::HookStarted { hook } => hook.to_string(),
        Event::HookEnded { hook, error } => format!("{hook}{}", because(error.as_deref())),
        Event::StepSkipped { step, why } => match why {
            Skip::When { because } => format!("{step}: {because}"),
            Skip::Rejected { need } => format!("{step}: {need} was rejected"),
            Skip::Chosen { by } => format!("{step}: chosen by {by}"),
        },
        Event::StepExpanded { step, items } => {
            let items: Vec<String> = items.iter().map(|(label, item)| format!("{label}={item}")).collect();
            format!("{step} [{}]", items.join(", "))
        }
        Event::AttemptStarted { key, attempt, .. } | Event::AttemptCancelled { key, attempt } => {
            format!("{key} #{attempt}")
        }
        Event::AttemptSucceeded { key, attempt, result, again } => {
            let again = if again.is_some() { " → again" } else { "" };
            format!("{key} #{attempt}{}{again}", outcome(result))
        }
        Event::AttemptFailed { key, attempt, failure, then, .. } => {
            let then = match then {
                Then::Retry(_) => "retry",
                Then::Ask => "ask",
                Then::Continue => "continue",
                Then::Stop => "stop",
            };
            format!("{key} #{attempt}: {failure} → {then}")
        }
        Event::AttemptLost { key, attempt, rerun } => {
            format!("{key} #{attempt}{}", if *rerun { " → rerun" } else { "" })
        }
        Event::LossResolved { key, by, decision } => format!("{key} {decision:?} by {by}").to_lowercase(),
        Event::QuestionAsked { key, question } => {
            let kind = match question.about {
                QuestionKind::Approval => "approval",
                QuestionKind::Failure => "failure",
            };
            let options: Vec<&str> = question.options.iter().map(|(_, value)| value.as_str()).collect();
            let who = if question.approvers.is_empty() {
                String::new()
            } else {
                format!(" for {}", question.approvers.join(", "))
            };
            format!("{key} {kind} [{}]{who}: {}", options.join(", "), question.prompt)
        }
        Event::QuestionAnswered { key, answer, by, comment } => {
            format!("{key} {answer} by {by}{}", because(comment.as_deref()))
        }
        Event::StepSummarized { step, summary, .. } => format!("{step} {}", Value::Text(summary.clone())),
        Event::QuestionExpired { key } => key.to_string(),
        Event::CancelRequested { by, reason } => format!("by {by}{}", because(reason.as_deref())),
        Event::DeadlinePassed => String::new(),
        Event::VerdictNoted { verdict: NotedVerdict::Given(given), .. } => given.to_string(),
        Event::VerdictNoted { verdict: NotedVerdict::Lost(why), .. } => why.clone(),
        Event::Finished { status, error } => format!("{}{}", status.word(), because(error.as_deref())),
    };
    format!("{} {rest}", event.kind()).trim_end().replace('\n', "\\n")
}

fn because(text: Option<&str>) -> String {
    text.map(|text| format!(": {}", text.trim_end())).unwrap_or_default()
}

/// What is worth a word about a success: an exit code that is not 0, and the output.
fn outcome(result: &StepResult) -> String {
    let code = result.exit_code.filter(|code| *code != 0).map(|code| format!(" exit {code}"));
    let text = result.output.text.trim_end();
    let output = if text.is_empty() { String::new() } else { format!(" {}", Value::Text(text.to_owned())) };
    format!("{}{output}", code.unwrap_or_default())
}
