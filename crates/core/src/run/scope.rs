//! What the templates and conditions of a run see.

use super::state::Run;
use super::step::StepStatus;
use crate::event::StepResult;
use crate::value::Value;
use crate::value::expression::Lookup;
use std::borrow::Cow;

/// The names that are known at one place of a run.
pub struct RunScope<'a> {
    run: &'a Run,
    /// The instance that looks, if one does.
    instance: Option<(usize, usize)>,
    /// Values of secret inputs, which the log does not hold.
    secrets: &'a [(String, String)],
    /// What the attempt that has just ended left, before it is in the log.
    latest: Option<(&'a StepResult, Option<&'a str>)>,
}

impl<'a> RunScope<'a> {
    /// Opens the scope of an instance; `None` before a step has instances.
    pub fn new(run: &'a Run, instance: Option<(usize, usize)>, secrets: &'a [(String, String)]) -> Self {
        Self { run, instance, secrets, latest: None }
    }

    /// Lets the instance see what its attempt that has just ended left.
    #[must_use]
    pub fn seeing(mut self, result: &'a StepResult, error: Option<&'a str>) -> Self {
        self.latest = Some((result, error));
        self
    }

    fn input(&self, name: &str) -> Option<Cow<'a, Value>> {
        if let Some((_, value)) = self.secrets.iter().find(|(known, _)| known == name) {
            return Some(Cow::Owned(Value::Text(value.clone())));
        }
        // One that was not given has no value: whoever uses it asks with `has` or gives a `default`.
        let given = self.run.created.inputs.iter().find(|(known, _)| known == name);
        given.map(|(_, value)| Cow::Borrowed(value))
    }

    fn step(&self, name: &str, field: &str) -> Option<Value> {
        let position = self.run.position(name)?;
        let state = &self.run.steps[position];
        // While a step is under way, its own instance sees what its last attempt left.
        if let Some((step, instance)) = self.instance
            && step == position
            && state.status == StepStatus::Open
        {
            let own = &self.run.steps[step].instances[instance];
            let (result, error) = self.latest.unwrap_or((&own.result, own.error.as_deref()));
            return result_field(result, "running", error, own.attempt, field);
        }
        if field == "results" {
            let results = state.instances.iter().map(|instance| {
                let status = match instance.state {
                    super::InstanceState::Completed => "completed",
                    super::InstanceState::Skipped => "skipped",
                    _ => "failed",
                };
                record(&instance.result, status, instance.error.as_deref(), instance.attempt)
            });
            return Some(Value::List(results.collect()));
        }
        let attempts = state.instances.iter().map(|instance| instance.attempt).sum();
        let status = match state.status {
            StepStatus::Completed => "completed",
            StepStatus::Skipped(_) => "skipped",
            _ => "failed",
        };
        result_field(&state.result, status, state.note.as_deref(), attempts, field)
    }
}

impl Lookup for RunScope<'_> {
    fn path(&self, segments: &[&str]) -> Option<Cow<'_, Value>> {
        let (value, rest): (Cow<'_, Value>, &[&str]) = match segments {
            // Only so that a message can tell which of the inputs has no value.
            ["inputs"] => (Cow::Owned(Value::Map(Vec::new())), &[]),
            ["inputs", name, rest @ ..] => (self.input(name)?, rest),
            ["steps", name, field, rest @ ..] => (Cow::Owned(self.step(name, field)?), rest),
            ["input", rest @ ..] => (Cow::Owned(Value::Text(self.run.created.input.clone())), rest),
            ["run", "id", rest @ ..] => (Cow::Owned(Value::Text(self.run.id.to_string())), rest),
            ["run", "ability", rest @ ..] => {
                (Cow::Owned(Value::Text(self.run.created.name.to_string())), rest)
            }
            ["item", rest @ ..] => {
                let (step, instance) = self.instance?;
                (Cow::Borrowed(self.run.steps[step].instances.get(instance)?.item.as_ref()?), rest)
            }
            ["index", rest @ ..] => {
                let (_, instance) = self.instance?;
                (Cow::Owned(Value::Int(i64::try_from(instance).unwrap_or(i64::MAX))), rest)
            }
            _ => return None,
        };
        follow(value, rest)
    }

    fn is_secret(&self, segments: &[&str]) -> bool {
        match segments {
            ["inputs"] => self.run.ability.inputs.iter().any(crate::definition::Input::is_secret),
            ["inputs", name, ..] => {
                self.run.ability.input(name).is_some_and(crate::definition::Input::is_secret)
            }
            _ => false,
        }
    }
}

fn follow<'a>(value: Cow<'a, Value>, rest: &[&str]) -> Option<Cow<'a, Value>> {
    rest.iter().try_fold(value, |value, key| match value {
        Cow::Borrowed(value) => value.get(key).map(Cow::Borrowed),
        Cow::Owned(value) => value.get(key).cloned().map(Cow::Owned),
    })
}

fn result_field(
    result: &StepResult,
    status: &str,
    error: Option<&str>,
    attempts: u32,
    field: &str,
) -> Option<Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    Some(match field {
        "status" => text(status),
        "output" | "stdout" => text(&result.output.text),
        "stderr" => text(&result.stderr.text),
        "error" => text(error.unwrap_or_default()),
        "attempts" => Value::Int(i64::from(attempts)),
        "exit_code" => result.exit_code.map_or(Value::Null, |code| Value::Int(i64::from(code))),
        "json" => result.json.clone().unwrap_or(Value::Null),
        "answer" => result.answer.as_deref().map_or(Value::Null, text),
        "by" => text(result.by.as_deref().unwrap_or_default()),
        "comment" => text(result.comment.as_deref().unwrap_or_default()),
        "run" => result.run.as_ref().map_or(Value::Null, |run| text(run.as_str())),
        _ => return None,
    })
}

fn record(result: &StepResult, status: &str, error: Option<&str>, attempts: u32) -> Value {
    let fields = [
        "status",
        "output",
        "stderr",
        "error",
        "attempts",
        "exit_code",
        "json",
        "answer",
        "by",
        "comment",
        "run",
    ];
    let entries = fields.iter().filter_map(|field| {
        result_field(result, status, error, attempts, field).map(|value| ((*field).to_owned(), value))
    });
    Value::Map(entries.collect())
}
