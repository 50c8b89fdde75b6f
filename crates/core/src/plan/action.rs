//! What a step would do, with every value in place that is known.

use super::scope::PlanScope;
use crate::definition::{Argument, Environment, ScriptStep, Shell, Step, StepKind};
use crate::source::Spanned;
use crate::value::shell::{self, Dialect, Piece};
use crate::value::template::{Part, as_text};
use crate::value::{Template, Value};

/// What a step would do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Run a command.
    Script {
        /// Which shell.
        shell: Shell,
        /// The script; values are variable references in it.
        script: String,
        /// The variables that carry the values, and the step's own.
        values: Vec<NamedValue>,
        /// Variables that take a named secret.
        secrets: Vec<(String, String)>,
        /// Where it runs, relative to the project's root.
        cwd: Option<Known>,
    },
    /// Give an agent a task.
    Agent {
        /// Which agent.
        agent: String,
        /// The task.
        prompt: Known,
    },
    /// Run a skill.
    Skill {
        /// Which skill.
        skill: String,
        /// What it is given.
        inputs: Vec<NamedValue>,
    },
    /// Ask a human.
    Approval {
        /// The question.
        prompt: Known,
        /// The possible answers.
        answers: Vec<String>,
        /// Who may answer; empty when anyone may.
        approvers: Vec<String>,
    },
    /// Run another ability.
    Workflow {
        /// Which ability.
        ability: String,
        /// What it is given.
        inputs: Vec<NamedValue>,
    },
}

/// A value under a name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedValue {
    /// The name.
    pub name: String,
    /// The value.
    pub value: Known,
}

/// A value, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    /// This.
    Now(Value),
    /// It depends on what does not exist yet.
    Later {
        /// The template, as it was written.
        text: String,
        /// On what, as paths.
        on: Vec<String>,
    },
}

/// Returns what a step would do; `wrong` is told every problem.
pub(super) fn of(step: &Step, scope: &PlanScope<'_>, wrong: &mut dyn FnMut(String)) -> Action {
    match &step.kind {
        StepKind::Script(step) => script(step, scope, wrong),
        StepKind::Agent(step) => {
            Action::Agent { agent: step.agent.to_string(), prompt: text(&step.prompt, scope, wrong) }
        }
        StepKind::Skill(step) => {
            Action::Skill { skill: step.skill.to_string(), inputs: arguments(&step.inputs, scope, wrong) }
        }
        StepKind::Approval(step) => Action::Approval {
            prompt: text(&step.prompt, scope, wrong),
            answers: step.answers().into_iter().map(str::to_owned).collect(),
            approvers: step.approvers.iter().map(|approver| approver.value.clone()).collect(),
        },
        StepKind::Workflow(step) => Action::Workflow {
            ability: step.workflow.to_string(),
            inputs: arguments(&step.inputs, scope, wrong),
        },
    }
}

pub(super) fn text(template: &Template, scope: &PlanScope<'_>, wrong: &mut dyn FnMut(String)) -> Known {
    known(template, scope.known(|| template.render(scope).map(Value::Text)), wrong)
}

fn known(
    template: &Template,
    value: Result<Result<Value, crate::value::expression::EvaluationError>, Vec<String>>,
    wrong: &mut dyn FnMut(String),
) -> Known {
    let later = |on| Known::Later { text: template.text().to_owned(), on };
    match value {
        Ok(Ok(value)) => Known::Now(value),
        Ok(Err(error)) => {
            wrong(error.to_string());
            later(Vec::new())
        }
        Err(on) => later(on),
    }
}

fn arguments(
    inputs: &[(Spanned<String>, Spanned<Argument>)],
    scope: &PlanScope<'_>,
    wrong: &mut dyn FnMut(String),
) -> Vec<NamedValue> {
    let mut value = |argument: &Argument| match argument {
        Argument::Template(template) => known(template, scope.known(|| template.render_value(scope)), wrong),
        Argument::Value(value) => Known::Now(value.clone()),
    };
    inputs
        .iter()
        .map(|(name, argument)| NamedValue { name: name.value.clone(), value: value(argument) })
        .collect()
}

fn script(step: &ScriptStep, scope: &PlanScope<'_>, wrong: &mut dyn FnMut(String)) -> Action {
    let shell = step.shell.as_ref().map_or(Shell::Sh, |shell| shell.value);
    let (script, mut values) = command(&step.run, shell, scope, wrong);
    let mut secrets = Vec::new();
    for (name, value) in &step.env {
        match &value.value {
            Environment::Template(template) => {
                values.push(NamedValue { name: name.value.clone(), value: text(template, scope, wrong) });
            }
            Environment::Secret(secret) => secrets.push((name.value.clone(), secret.to_string())),
        }
    }
    let cwd = step.cwd.as_ref().map(|cwd| text(cwd, scope, wrong));
    Action::Script { shell, script, values, secrets, cwd }
}

/// Renders a command as the run will: each value becomes a variable, each placeholder a reference to it.
fn command(
    template: &Template,
    shell_kind: Shell,
    scope: &PlanScope<'_>,
    wrong: &mut dyn FnMut(String),
) -> (String, Vec<NamedValue>) {
    let dialect = match shell_kind {
        Shell::Sh => Dialect::Sh,
        Shell::Bash => Dialect::Bash,
    };
    let mut pieces = Vec::new();
    let mut values = Vec::new();
    let mut failed = false;
    for part in template.parts() {
        match part {
            Part::Text(text) => pieces.push(Piece::Text(text)),
            Part::Placeholder(placeholder) => {
                let written = &template.text()[placeholder.range.clone()];
                let value = match scope.known(|| placeholder.evaluate(scope)) {
                    Ok(Ok(value)) => Known::Now(value),
                    Ok(Err(error)) => {
                        wrong(error.to_string());
                        failed = true;
                        continue;
                    }
                    Err(on) => Known::Later { text: written.to_owned(), on },
                };
                pieces.push(Piece::Placeholder { raw: placeholder.raw });
                values.push((placeholder.raw, value));
            }
        }
    }
    let as_written = || (template.text().to_owned(), Vec::new());
    let unknown_code = values.iter().any(|(raw, value)| *raw && matches!(value, Known::Later { .. }));
    if failed || unknown_code {
        return as_written();
    }
    let name = |index: usize| format!("ABIDE_VALUE_{index}");
    let raw_value = |index: usize| match &values[index].1 {
        Known::Now(value) => as_text(value).into_owned(),
        Known::Later { .. } => String::new(),
    };
    match shell::render(&pieces, dialect, name, raw_value) {
        Ok(script) => {
            let named = values.iter().enumerate().filter(|(_, (raw, _))| !raw);
            let named =
                named.map(|(index, (_, value))| NamedValue { name: name(index), value: value.clone() });
            (script, named.collect())
        }
        Err(refusals) => {
            for refusal in refusals {
                wrong(refusal.why.to_string());
            }
            as_written()
        }
    }
}
