//! [`Ability`] → data and text, by the same keys that are read.

use abide_core::definition::{
    Ability, Argument, Budget, Environment, Input, Items, Settings, Step, StepKind, Summarize, Triggers,
    Validation,
};
use abide_core::source::Spanned;
use abide_core::value::Value;
use std::fmt::Display;

/// Writes an ability as YAML that reads back as the same ability.
pub fn print(ability: &Ability) -> String {
    crate::yaml::emit(&to_data(ability))
}

/// Returns an ability as data under the keys of `ability.yaml`, in the order of the reference.
pub fn to_data(ability: &Ability) -> Value {
    let mut map = Entries::default();
    map.text("name", Some(&ability.name));
    map.text("description", Some(&ability.description));
    map.text("version", ability.version.as_ref());
    map.value("triggers", triggers(&ability.triggers));
    let inputs = ability.inputs.iter().map(|entry| (entry.name.to_string(), input(entry))).collect();
    map.value("inputs", Value::Map(inputs));
    map.0.push(("steps".into(), Value::List(ability.steps.iter().map(step).collect())));
    map.value("settings", settings(&ability.settings));
    map.texts("compatible_agents", &ability.compatible_agents);
    map.text("exclusive_agent", ability.exclusive_agent.as_ref());
    map.texts("protects", &ability.protects);
    map.done()
}

/// A mapping under construction; what is empty is left out.
#[derive(Default)]
struct Entries(Vec<(String, Value)>);

impl Entries {
    fn text<T: Display>(&mut self, key: &str, value: Option<&Spanned<T>>) {
        if let Some(value) = value {
            self.0.push((key.into(), Value::Text(value.value.to_string())));
        }
    }

    fn word(&mut self, key: &str, word: Option<&'static str>) {
        if let Some(word) = word {
            self.0.push((key.into(), Value::Text(word.into())));
        }
    }

    fn texts<T: Display>(&mut self, key: &str, values: &[Spanned<T>]) {
        if !values.is_empty() {
            self.0.push((key.into(), texts(values)));
        }
    }

    fn bool(&mut self, key: &str, value: Option<&Spanned<bool>>) {
        if let Some(value) = value {
            self.0.push((key.into(), Value::Bool(value.value)));
        }
    }

    fn count(&mut self, key: &str, value: Option<&Spanned<u32>>) {
        if let Some(value) = value {
            self.0.push((key.into(), Value::Int(i64::from(value.value))));
        }
    }

    fn number(&mut self, key: &str, value: Option<&Spanned<f64>>) {
        if let Some(value) = value {
            self.0.push((key.into(), Value::Float(value.value)));
        }
    }

    fn value(&mut self, key: &str, value: Value) {
        let empty = match &value {
            Value::Map(entries) => entries.is_empty(),
            Value::List(items) => items.is_empty(),
            _ => false,
        };
        if !empty {
            self.0.push((key.into(), value));
        }
    }

    fn done(self) -> Value {
        Value::Map(self.0)
    }
}

fn texts<T: Display>(values: &[Spanned<T>]) -> Value {
    Value::List(values.iter().map(|value| Value::Text(value.value.to_string())).collect())
}

fn triggers(triggers: &Triggers) -> Value {
    let mut map = Entries::default();
    map.texts("keywords", &triggers.keywords);
    map.texts("patterns", &triggers.patterns);
    map.done()
}

fn input(input: &Input) -> Value {
    let mut map = Entries::default();
    map.word("type", input.input_type.as_ref().map(|word| word.value.word()));
    map.bool("required", input.required.as_ref());
    if let Some(default) = &input.default {
        map.0.push(("default".into(), default.value.clone()));
    }
    map.text("description", input.description.as_ref());
    map.text("pattern", input.pattern.as_ref());
    map.value("enum", Value::List(input.choices.iter().map(|choice| choice.value.clone()).collect()));
    map.number("min", input.min.as_ref());
    map.number("max", input.max.as_ref());
    map.count("minLength", input.min_length.as_ref());
    map.count("maxLength", input.max_length.as_ref());
    map.bool("secret", input.secret.as_ref());
    map.done()
}

fn settings(settings: &Settings) -> Value {
    let mut map = Entries::default();
    map.text("timeout", settings.timeout.as_ref());
    map.bool("parallel", settings.parallel.as_ref());
    map.count("max_parallel", settings.max_parallel.as_ref());
    map.word("enforcement", settings.enforcement.as_ref().map(|word| word.value.word()));
    map.word("on_failure", settings.on_failure.as_ref().map(|word| word.value.word()));
    map.bool("plan_approval", settings.plan_approval.as_ref());
    map.value("budget", budget(settings.budget));
    map.done()
}

fn budget(budget: Budget) -> Value {
    let mut map = Entries::default();
    let whole = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let entries = [
        ("turns", budget.turns.map(|turns| whole(turns.into()))),
        ("tokens", budget.tokens.map(whole)),
        ("cost", budget.cost.map(|cost| Value::Float(cost.in_dollars()))),
    ];
    map.0.extend(entries.into_iter().filter_map(|(name, value)| Some((name.into(), value?))));
    map.done()
}

fn step(step: &Step) -> Value {
    let mut map = Entries::default();
    map.text("id", Some(&step.id));
    map.word("type", Some(step.kind.step_type().word()));
    map.text("description", step.description.as_ref());
    match &step.kind {
        StepKind::Script(script) => {
            map.text("run", Some(&script.run));
            map.word("shell", script.shell.as_ref().map(|word| word.value.word()));
            map.text("cwd", script.cwd.as_ref());
            map.value(
                "env",
                Value::Map(
                    script.env.iter().map(|(name, value)| (name.value.clone(), environment(value))).collect(),
                ),
            );
            map.value("validation", validation(&script.validation));
        }
        StepKind::Agent(agent) => {
            map.text("agent", Some(&agent.agent));
            map.text("prompt", Some(&agent.prompt));
            map.texts("context", &agent.context);
            if let Some(tools) = &agent.tools {
                map.0.push(("tools".into(), texts(tools)));
            }
            map.text("runner", agent.runner.as_ref());
            if let Some(schema) = &agent.output_schema {
                map.0.push(("output_schema".into(), schema.value.clone()));
            }
            summarize(&mut map, agent.summarize.as_ref());
            map.value("budget", budget(agent.budget));
            map.value("validation", validation(&agent.validation));
        }
        StepKind::Skill(skill) => {
            map.text("skill", Some(&skill.skill));
            map.value("inputs", arguments(&skill.inputs));
            map.text("runner", skill.runner.as_ref());
            summarize(&mut map, skill.summarize.as_ref());
            map.value("budget", budget(skill.budget));
            map.value("validation", validation(&skill.validation));
        }
        StepKind::Approval(approval) => {
            map.text("prompt", Some(&approval.prompt));
            let options = approval.options.iter().map(|option| {
                Value::Map(vec![
                    ("label".into(), Value::Text(option.label.value.clone())),
                    ("value".into(), Value::Text(option.value.value.clone())),
                ])
            });
            map.value("options", Value::List(options.collect()));
            map.texts("approvers", &approval.approvers);
        }
        StepKind::Workflow(workflow) => {
            map.text("workflow", Some(&workflow.workflow));
            map.value("inputs", arguments(&workflow.inputs));
        }
    }
    map.texts("needs", &step.needs);
    map.text("when", step.when.as_ref());
    if let Some(for_each) = &step.for_each {
        let items = match &for_each.items.value {
            Items::Template(template) => Value::Text(template.to_string()),
            Items::List(items) => Value::List(items.clone()),
        };
        map.0.push(("for_each".into(), items));
        map.count("max_parallel", for_each.max_parallel.as_ref());
    }
    if let Some(repeat) = &step.repeat {
        let mut inner = Entries::default();
        inner.text("until", Some(&repeat.until));
        inner.count("max", repeat.max.as_ref());
        inner.text("delay", repeat.delay.as_ref());
        map.value("repeat", inner.done());
    }
    map.text("timeout", step.timeout.as_ref());
    map.word("on_failure", step.on_failure.as_ref().map(|word| word.value.word()));
    map.count("max_retries", step.max_retries.as_ref());
    map.text("retry_delay", step.retry_delay.as_ref());
    map.bool("idempotent", step.idempotent.as_ref());
    map.done()
}

fn environment(value: &Spanned<Environment>) -> Value {
    match &value.value {
        Environment::Template(template) => Value::Text(template.to_string()),
        Environment::Secret(name) => Value::Map(vec![("secret".into(), Value::Text(name.to_string()))]),
    }
}

fn arguments(inputs: &[(Spanned<String>, Spanned<Argument>)]) -> Value {
    let entries = inputs.iter().map(|(name, argument)| {
        let value = match &argument.value {
            Argument::Template(template) => Value::Text(template.to_string()),
            Argument::Value(value) => value.clone(),
        };
        (name.value.clone(), value)
    });
    Value::Map(entries.collect())
}

fn summarize(map: &mut Entries, value: Option<&Spanned<Summarize>>) {
    if let Some(value) = value {
        let value = match &value.value {
            Summarize::Off => Value::Bool(false),
            Summarize::On => Value::Bool(true),
            Summarize::Prompt(prompt) => Value::Text(prompt.clone()),
        };
        map.0.push(("summarize".into(), value));
    }
}

fn validation(validation: &Validation) -> Value {
    let mut map = Entries::default();
    let codes: Vec<Value> =
        validation.exit_code.iter().map(|code| Value::Int(i64::from(code.value))).collect();
    map.value("exit_code", Value::List(codes));
    map.texts("stdout_contains", &validation.stdout_contains);
    map.texts("stderr_contains", &validation.stderr_contains);
    map.texts("stdout_matches", &validation.stdout_matches);
    map.texts("file_exists", &validation.file_exists);
    if let Some(schema) = &validation.json_schema {
        map.0.push(("json_schema".into(), schema.value.clone()));
    }
    map.texts("check", &validation.check);
    map.done()
}
