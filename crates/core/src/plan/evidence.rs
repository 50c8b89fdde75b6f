//! What a step has to show before it counts as done, with every value in place that is known.

use super::Known;
use super::action::text;
use super::scope::PlanScope;
use crate::definition::{Step, StepKind, Validation};
use crate::source::Spanned;
use crate::value::{Template, Value};

/// Returns every rule by its key, and what it asks for; `wrong` is told every problem.
pub(super) fn of(
    step: &Step,
    scope: &PlanScope<'_>,
    wrong: &mut dyn FnMut(String),
) -> Vec<(&'static str, Known)> {
    let rules = match &step.kind {
        StepKind::Script(step) => &step.validation,
        StepKind::Agent(step) => &step.validation,
        StepKind::Skill(step) => &step.validation,
        StepKind::Approval(_) | StepKind::Workflow(_) => return Vec::new(),
    };
    let Validation {
        exit_code,
        stdout_contains,
        stderr_contains,
        stdout_matches,
        file_exists,
        json_schema,
        check,
    } = rules;
    let mut all = Vec::new();
    let mut now = |key, value| all.push((key, Known::Now(value)));
    for code in exit_code {
        now("exit_code", Value::Int(code.value.into()));
    }
    for pattern in stdout_matches {
        now("stdout_matches", Value::Text(pattern.value.to_string()));
    }
    if let Some(schema) = json_schema {
        now("json_schema", schema.value.clone());
    }
    // A command is shown as it is written: its values reach it as variables.
    for command in check {
        now("check", Value::Text(command.text().to_owned()));
    }
    let templates: [(_, &[Spanned<Template>]); 3] = [
        ("stdout_contains", stdout_contains),
        ("stderr_contains", stderr_contains),
        ("file_exists", file_exists),
    ];
    for (key, templates) in templates {
        all.extend(templates.iter().map(|template| (key, text(template, scope, wrong))));
    }
    all
}
