//! A plan, for people and for programs.

use super::json::from_value;
use super::visible::visible;
use abide_core::plan::{Action, Decision, Known, NamedValue, Plan, PlannedRepeat, PlannedStep};
use abide_core::value::Value;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// Returns the plan as a page.
pub fn page(plan: &Plan) -> String {
    let mut out = String::new();
    field(&mut out, "", "ability", &plan.ability);
    field(&mut out, "", "runs in", &plan.root);
    for (index, (name, value)) in plan.inputs.iter().enumerate() {
        field(
            &mut out,
            "",
            if index == 0 { "inputs" } else { "" },
            &format!("{name} = {}", value_text(value)),
        );
    }
    if let Some(timeout) = &plan.timeout {
        field(&mut out, "", "time limit", &timeout.to_string());
    }
    if plan.approval {
        field(&mut out, "", "approval", "a human must agree to this plan first");
    }
    if plan.at_once > 1 {
        field(
            &mut out,
            "",
            "at once",
            &format!("up to {}; steps with the same number do not wait for each other", plan.at_once),
        );
    }
    for hook in &plan.before {
        field(&mut out, "", "before", &hook.to_string());
    }
    for step in &plan.steps {
        out.push('\n');
        describe(&mut out, step);
    }
    if !plan.after.is_empty() {
        out.push('\n');
    }
    for hook in &plan.after {
        field(&mut out, "", "after", &hook.to_string());
    }
    out
}

/// Returns one line per step.
pub fn outline(plan: &Plan) -> String {
    let mut out = format!("{}\n", visible(&plan.ability, true));
    for step in &plan.steps {
        let note = match &step.when {
            Some((_, Decision::Fails { because })) => format!("  skipped: {because}"),
            Some((text, Decision::Later { .. })) => format!("  when {text}"),
            _ => String::new(),
        };
        let mark = if step.is_skipped() { "–" } else { "·" };
        let line = format!("  {mark} {}  {}{note}", step.id, step.step_type().word());
        let _ = writeln!(out, "{}", visible(&line, true));
    }
    out
}

fn field(out: &mut String, indent: &str, label: &str, text: &str) {
    for (index, line) in text.trim_end().lines().enumerate() {
        let label = if index == 0 { label } else { "" };
        let line = format!("{indent}{label:<11}{}", visible(line, true));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn describe(out: &mut String, step: &PlannedStep) {
    let sign = if step.is_skipped() { "  (skipped)" } else { "" };
    let _ = writeln!(out, "{}. {}  {}{sign}", step.stage, step.id, step.step_type().word());
    let indent = "   ";
    let mut line = |label: &str, text: &str| field(out, indent, label, text);
    if let Some(description) = &step.description {
        line("what", &description.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    if let Some((text, decision)) = &step.when {
        line("when", text);
        match decision {
            Decision::Holds { because } => line("", &format!("true: {because}")),
            Decision::Fails { because } => line("", &format!("false: {because}")),
            Decision::Later { on } => line("", &format!("decided later, by {}", on.join(", "))),
        }
    }
    if !step.needs.is_empty() {
        line("needs", &step.needs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    }
    if let Some(items) = &step.for_each {
        line("for each", &known_text(items));
    }
    match &step.action {
        Action::Script { shell, script, values, secrets, cwd } => {
            line(shell.word(), script);
            named(&mut line, values);
            for (index, (name, secret)) in secrets.iter().enumerate() {
                let label = if index == 0 && values.is_empty() { "with" } else { "" };
                line(label, &format!("{name} = the secret `{secret}`"));
            }
            if let Some(cwd) = cwd {
                line("in", &known_text(cwd));
            }
        }
        Action::Agent { agent, prompt } => {
            line("agent", agent);
            line("prompt", &known_text(prompt));
        }
        Action::Skill { skill, inputs } => {
            line("skill", skill);
            named(&mut line, inputs);
        }
        Action::Approval { prompt, answers, approvers } => {
            line("asks", &known_text(prompt));
            line("answers", &answers.join(", "));
            line("approvers", &approvers.join(", "));
        }
        Action::Workflow { ability, inputs } => {
            line("ability", ability);
            named(&mut line, inputs);
        }
    }
    for (key, rule) in &step.evidence {
        line("evidence", &format!("{key}: {}", known_data(rule)));
    }
    if let Some(PlannedRepeat { until, max, delay }) = &step.repeat {
        line("until", until);
        line("", &format!("at most {max} times, {delay} apart"));
    }
    if let Some(timeout) = &step.timeout {
        line("timeout", &timeout.to_string());
    }
    if step.on_failure != abide_core::definition::OnFailure::Stop {
        line("on failure", step.on_failure.word());
    }
    match step.retries {
        Some((most, pause)) if pause.time().is_zero() => {
            line("retries", &format!("{most}, each told what evidence is missing"));
        }
        Some((most, pause)) => line("retries", &format!("{most}, the first after {pause}")),
        None => {}
    }
}

fn named(line: &mut impl FnMut(&str, &str), values: &[NamedValue]) {
    for (index, value) in values.iter().enumerate() {
        let label = if index == 0 { "with" } else { "" };
        line(label, &format!("{} = {}", value.name, known_data(&value.value)));
    }
}

/// Writes a value so that it is seen to be data.
fn value_text(value: &Value) -> String {
    value.to_string()
}

fn known_data(known: &Known) -> String {
    match known {
        Known::Now(value) => value_text(value),
        Known::Later { text, .. } => format!("{text}  (known later)"),
    }
}

fn known_text(known: &Known) -> String {
    match known {
        Known::Now(Value::Text(text)) | Known::Later { text, .. } => text.clone(),
        Known::Now(value) => value.to_string(),
    }
}

/// Returns the plan as a JSON document.
pub fn to_json(plan: &Plan) -> Json {
    let inputs: serde_json::Map<String, Json> =
        plan.inputs.iter().map(|(name, value)| (name.to_string(), from_value(value))).collect();
    let hooks = |hooks: &[abide_core::event::HookKey]| -> Vec<String> {
        hooks.iter().map(ToString::to_string).collect()
    };
    json!({
        "ability": plan.ability.as_str(),
        "root": plan.root,
        "inputs": inputs,
        "timeout": plan.timeout.map(|timeout| timeout.to_string()),
        "plan_approval": plan.approval,
        "max_parallel": plan.at_once,
        "hooks": { "before": hooks(&plan.before), "after": hooks(&plan.after) },
        "steps": plan.steps.iter().map(step_json).collect::<Vec<_>>(),
    })
}

fn step_json(step: &PlannedStep) -> Json {
    let when = step.when.as_ref().map(|(text, decision)| match decision {
        Decision::Holds { because } => json!({ "expression": text, "decision": "true", "because": because }),
        Decision::Fails { because } => json!({ "expression": text, "decision": "false", "because": because }),
        Decision::Later { on } => json!({ "expression": text, "decision": "later", "depends_on": on }),
    });
    let action = match &step.action {
        Action::Script { shell, script, values, secrets, cwd } => {
            let secrets: serde_json::Map<String, Json> =
                secrets.iter().map(|(name, secret)| (name.clone(), Json::from(secret.as_str()))).collect();
            json!({
                "shell": shell.word(),
                "run": script,
                "variables": named_json(values),
                "secrets": secrets,
                "cwd": cwd.as_ref().map(known_json),
            })
        }
        Action::Agent { agent, prompt } => json!({ "agent": agent, "prompt": known_json(prompt) }),
        Action::Skill { skill, inputs } => json!({ "skill": skill, "inputs": named_json(inputs) }),
        Action::Approval { prompt, answers, approvers } => {
            json!({ "prompt": known_json(prompt), "answers": answers, "approvers": approvers })
        }
        Action::Workflow { ability, inputs } => json!({ "workflow": ability, "inputs": named_json(inputs) }),
    };
    json!({
        "id": step.id.as_str(),
        "type": step.step_type().word(),
        "stage": step.stage,
        "needs": step.needs.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "when": when,
        "action": action,
        "for_each": step.for_each.as_ref().map(known_json),
        "repeat": step.repeat.as_ref().map(|PlannedRepeat { until, max, delay }| {
            json!({ "until": until, "max": max, "delay": delay.to_string() })
        }),
        "evidence": step.evidence.iter().map(|(key, rule)| json!({ "rule": key, "asks": known_json(rule) })).collect::<Vec<_>>(),
        "timeout": step.timeout.map(|timeout| timeout.to_string()),
        "on_failure": step.on_failure.word(),
        "retries": step.retries.map(|(most, pause)| json!({ "max": most, "delay": pause.to_string() })),
    })
}

fn named_json(values: &[NamedValue]) -> Json {
    Json::Object(values.iter().map(|value| (value.name.clone(), known_json(&value.value))).collect())
}

fn known_json(known: &Known) -> Json {
    match known {
        Known::Now(value) => json!({ "value": from_value(value) }),
        Known::Later { text, on } => json!({ "template": text, "depends_on": on }),
    }
}
