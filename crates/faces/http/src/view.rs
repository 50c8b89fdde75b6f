//! Runs as JSON: the same for the API, `abide status --json` and `abide runs --json`.

use abide_core::event::{Question, QuestionKind, StepKey};
use abide_core::run::Run;
use abide_core::value::Value as Given;
use abide_core::view::status::step_lines;
use abide_engine::port::{Stored, StreamHead};
use abide_engine::service::Member;
use abide_engine::talk::ToolQuestion;
use abide_formats::json::{parse, to_json};
use serde_json::{Value, json};

/// Returns a row of the list of runs.
pub fn head(head: &StreamHead) -> Value {
    let mut value = to_json(&parse(&head.summary).unwrap_or(Given::Null));
    if !value.is_object() {
        value = json!({});
    }
    value["run"] = Value::from(head.stream.as_str());
    value["events"] = Value::from(head.seq);
    value["created_at"] = Value::from(head.created_at);
    value["changed_at"] = Value::from(head.changed_at);
    value
}

/// Returns how a run and those that it calls stand.
pub fn family(family: &[Member], member: &Member) -> Value {
    let mut value = run(&member.run);
    let of = |child: &&Member| child.called_by.as_ref().is_some_and(|(run, _)| *run == member.run.id);
    let children = family.iter().filter(of).map(|child| {
        let mut value = self::family(family, child);
        value["step"] = child.called_by.as_ref().map(|(_, key)| key.to_string()).into();
        value
    });
    value["children"] = children.collect();
    value
}

fn run(run: &Run) -> Value {
    let steps: Vec<Value> = step_lines(run)
        .into_iter()
        .map(|line| json!({ "step": line.key, "status": format!("{:?}", line.mark).to_lowercase(), "attempts": line.attempts, "note": line.note }))
        .collect();
    let questions: Vec<Value> = run
        .questions()
        .into_iter()
        .map(|(key, question)| {
            json!({ "step": key.to_string(), "prompt": question.prompt, "options": options(question), "approvers": question.approvers })
        })
        .collect();
    json!({
        "run": run.id.as_str(),
        "ability": run.created.name.as_str(),
        "status": run.status().word(),
        "by": run.created.by.as_str(),
        "error": run.ending.as_ref().and_then(|(_, error)| error.clone()),
        "verdicts": {
            "denied": run.verdicts.denied,
            "asked": run.verdicts.asked,
            "warned": run.verdicts.warned,
            "lost": run.verdicts.lost,
        },
        "steps": steps,
        "questions": questions,
    })
}

fn options(question: &Question) -> Vec<Value> {
    let option =
        |(label, value): &(String, smol_str::SmolStr)| json!({ "label": label, "value": value.as_str() });
    question.options.iter().map(option).collect()
}

/// Returns what a human is asked by a run; a plan has no step.
pub(crate) fn approval(run: &Run, asked: Option<(&StepKey, &Question)>) -> Value {
    let kind = match asked.map(|(_, question)| &question.about) {
        None => "plan",
        Some(QuestionKind::Approval) => "approval",
        Some(QuestionKind::Failure) => "failure",
    };
    json!({
        "id": run.id.as_str(),
        "run": run.id.as_str(),
        "session": null,
        "tool": null,
        "arguments": null,
        "ability": run.created.name.as_str(),
        "started_by": run.created.by.as_str(),
        "parent": run.created.parent.as_ref().map(|(run, _)| run.as_str()),
        "kind": kind,
        "step": asked.map(|(key, _)| key.to_string()),
        "prompt": asked.map_or("the plan waits to be approved", |(_, question)| question.prompt.as_str()),
        "options": asked.map_or_else(|| vec![json!({ "label": "approved", "value": "approved" })], |(_, question)| options(question)),
        "approvers": asked.map(|(_, question)| question.approvers.clone()).unwrap_or_default(),
        "deadline": asked.and_then(|(_, question)| question.deadline).map(|deadline| deadline.0),
    })
}

/// Returns a call of a session that waits for a human's yes.
pub(crate) fn tool_approval(asked: &ToolQuestion) -> Value {
    let ToolQuestion { id, question, asked_at: _, deadline } = asked;
    let option = |label: &str, value: &str| json!({ "label": label, "value": value });
    json!({
        "id": id,
        "run": null,
        "session": question.session.as_str(),
        "tool": question.tool,
        "arguments": to_json(&question.arguments),
        "ability": null,
        "started_by": null,
        "parent": null,
        "kind": "tool",
        "step": null,
        "prompt": question.why,
        "options": [option("approved", "approved"), option("rejected", "rejected")],
        "approvers": [],
        "deadline": deadline.0,
    })
}

/// Returns an event of a log.
pub(crate) fn event(stored: &Stored) -> Value {
    let data: Value = serde_json::from_str(&stored.data).unwrap_or_default();
    json!({ "seq": stored.seq, "at": stored.at, "type": stored.kind, "data": data })
}
