//! The steps of an ability.

use super::validation;
use crate::agent::allowance;
use crate::read::{Fields, Reader, data};
use crate::shape::{self, Record};
use crate::yaml::{Content, Node, Resolved};
use abide_core::definition::{
    AbilityName, AgentName, AgentStep, Answer, ApprovalStep, Argument, Budget, Environment, ForEach,
    InputName, Items, OnFailure, Repeat, Runner, ScriptStep, SecretName, Shell, SkillName, SkillStep, Step,
    StepId, StepKind, StepType, Summarize, Validation, WorkflowStep,
};
use abide_core::diagnostic::{Code, Diagnostic, excerpt};
use abide_core::source::Spanned;
use abide_core::value::{Duration, Template};

/// Reads a step, if at least its id and its type can be told.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Step> {
    let step_type = step_type(reader, node)?;
    let record = record(step_type);
    let mut fields = reader.fields(node, record, |key| elsewhere(key, step_type))?;
    let id = fields.take(reader, "id").and_then(|node| reader.name(node, StepId::parse));
    fields.take(reader, "type");
    let description = fields.take(reader, "description").and_then(|node| reader.text(node));
    let needs = match fields.take(reader, "needs") {
        Some(node) => reader.one_or_many(node, |reader, node| reader.name(node, StepId::parse)),
        None => Vec::new(),
    };
    let when = fields.take(reader, "when").and_then(|node| reader.expression(node));
    let timeout = fields.take(reader, "timeout").and_then(|node| reader.duration(node));
    let again = if step_type == StepType::Approval { Again::default() } else { again(reader, &mut fields) };
    let kind = match step_type {
        StepType::Script => StepKind::Script(script(reader, &mut fields)),
        StepType::Agent => agent(reader, &mut fields).map_or_else(unknown, StepKind::Agent),
        StepType::Skill => skill(reader, &mut fields).map_or_else(unknown, StepKind::Skill),
        StepType::Approval => StepKind::Approval(approval(reader, &mut fields)),
        StepType::Workflow => workflow(reader, &mut fields).map_or_else(unknown, StepKind::Workflow),
    };
    fields.finish();
    // A step whose id cannot be read has been read to its end, so that its other problems are seen too.
    let id = id?;
    Some(Step {
        id,
        description,
        needs,
        when,
        timeout,
        on_failure: again.on_failure,
        max_retries: again.max_retries,
        retry_delay: again.retry_delay,
        idempotent: again.idempotent,
        for_each: again.for_each,
        repeat: again.repeat,
        kind,
    })
}

/// Stands in for what a step does when that could not be read.
fn unknown() -> StepKind {
    StepKind::Approval(ApprovalStep { prompt: nothing(), options: Vec::new(), approvers: Vec::new() })
}

fn record(step_type: StepType) -> &'static Record {
    shape::STEP_RECORDS
        .iter()
        .find(|(known, _)| *known == step_type)
        .map_or(&shape::SCRIPT_STEP, |(_, record)| record)
}

/// Tells the type of a step by `type`, or by the key that only one type has.
fn step_type(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<StepType> {
    let Content::Mapping(entries) = &node.content else {
        reader.report(
            Diagnostic::new(Code::WrongType, node.span, format!("a step is a mapping, not {}", node.kind()))
                .label("expected `id` and `run`, `agent`, `skill`, `workflow`, or `prompt` and `options`"),
        );
        return None;
    };
    if let Some(word) = node.get("type") {
        let text = word.text().unwrap_or_default();
        let found = StepType::parse(text);
        if found.is_none() {
            reader.report(
                Diagnostic::new(
                    Code::UnknownStepType,
                    word.span,
                    format!("`{}` is not a type of step", excerpt(text)),
                )
                .did_you_mean(text, StepType::WORDS.iter().copied())
                .help(format!("the types are {}", StepType::WORDS.join(", "))),
            );
        }
        return found;
    }
    let telling = [
        ("run", StepType::Script),
        ("agent", StepType::Agent),
        ("skill", StepType::Skill),
        ("workflow", StepType::Workflow),
        ("options", StepType::Approval),
    ];
    let found: Vec<_> = telling.iter().filter(|(key, _)| node.get(key).is_some()).collect();
    match found[..] {
        [(_, step_type)] => Some(*step_type),
        [] => {
            let head = entries.first().map_or(node.span, |(key, _)| key.span);
            let help = if node.get("prompt").is_some() {
                "a step with a `prompt` is `type: approval`, or needs an `agent`"
            } else {
                "give it `run`, `agent` and `prompt`, `skill`, `workflow`, or `type: approval` and `prompt`"
            };
            reader.report(
                Diagnostic::new(Code::UnknownStepType, head, "nothing tells what this step does").help(help),
            );
            None
        }
        [(first, _), (second, _), ..] => {
            let at = node.get(second).map_or(node.span, |value| value.span);
            reader.report(
                Diagnostic::new(
                    Code::UnknownStepType,
                    at,
                    format!("this step has both `{first}` and `{second}`, so its type cannot be told"),
                )
                .help("a step does one thing: split it in two, or add `type:`"),
            );
            None
        }
    }
}

/// Says to which types of steps a key belongs.
fn elsewhere(key: &str, step_type: StepType) -> Option<String> {
    let owners: Vec<&str> = shape::STEP_RECORDS
        .iter()
        .filter(|(_, record)| record.keys().any(|known| known.name == key))
        .map(|(owner, _)| owner.word())
        .collect();
    (!owners.is_empty()).then(|| {
        format!(
            "it is a key of {} steps, and this is {} {} step",
            owners.join(" and "),
            article(step_type),
            step_type.word()
        )
    })
}

fn article(step_type: StepType) -> &'static str {
    match step_type {
        StepType::Agent | StepType::Approval => "an",
        StepType::Script | StepType::Skill | StepType::Workflow => "a",
    }
}

/// Stands in for a text that could not be read.
fn nothing() -> Spanned<Template> {
    Spanned::default()
}

/// What steps have in common that can be run again.
#[derive(Default)]
struct Again {
    on_failure: Option<Spanned<OnFailure>>,
    max_retries: Option<Spanned<u32>>,
    retry_delay: Option<Spanned<Duration>>,
    idempotent: Option<Spanned<bool>>,
    for_each: Option<ForEach>,
    repeat: Option<Repeat>,
}

fn again(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Again {
    let on_failure = fields
        .take(reader, "on_failure")
        .and_then(|node| reader.choice(node, OnFailure::WORDS, OnFailure::parse));
    let max_retries = fields.take(reader, "max_retries").and_then(|node| reader.count(node, 0, 100));
    let retry_delay = fields.take(reader, "retry_delay").and_then(|node| reader.duration(node));
    let idempotent = fields.take(reader, "idempotent").and_then(|node| reader.boolean(node));
    let max_parallel = fields
        .take_with_key(reader, "max_parallel")
        .and_then(|(key, node)| reader.count(node, 1, 256).map(|count| (key, count)));
    let for_each = match fields.take(reader, "for_each") {
        Some(node) => {
            // Items that could not be read still make this a step with instances, for whoever uses its results.
            let items =
                items(reader, node).unwrap_or_else(|| Spanned::new(Items::List(Vec::new()), node.span));
            Some(ForEach { items, max_parallel: max_parallel.map(|(_, count)| count) })
        }
        None => {
            if let Some((key, _)) = max_parallel {
                reader.report(
                    Diagnostic::new(Code::MisplacedKey, key, "`max_parallel` of a step needs `for_each`")
                        .help("to bound how many steps run at the same time, set `settings.max_parallel`"),
                );
            }
            None
        }
    };
    let repeat = fields.take(reader, "repeat").and_then(|node| repeat(reader, node));
    Again { on_failure, max_retries, retry_delay, idempotent, for_each, repeat }
}

fn items(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Spanned<Items>> {
    if let Content::Sequence(items) = &node.content {
        if items.is_empty() {
            reader.report(
                Diagnostic::new(Code::Empty, node.span, "`for_each` has no items")
                    .help("a step for nothing never runs; remove it"),
            );
            return None;
        }
        return Some(Spanned::new(Items::List(items.iter().map(data).collect()), node.span));
    }
    let template = reader.template(node)?;
    if template.as_single_placeholder().is_none() {
        reader.report(
            Diagnostic::new(
                Code::NotAList,
                node.span,
                "`for_each` takes a list, or one placeholder that yields a list",
            )
            .help("write it as `for_each: \"{{ inputs.regions }}\"` or `for_each: [a, b]`"),
        );
        return None;
    }
    Some(template.map(Items::Template))
}

fn repeat(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Repeat> {
    let mut fields = reader.fields(node, &shape::REPEAT, |_| None)?;
    let until = fields.take(reader, "until").and_then(|node| reader.expression(node));
    let max = fields.take(reader, "max").and_then(|node| reader.count(node, 1, 1_000));
    let delay = fields.take(reader, "delay").and_then(|node| reader.duration(node));
    fields.finish();
    Some(Repeat { until: until?, max, delay })
}

fn evidence(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Validation {
    match fields.take(reader, "validation") {
        Some(node) => validation::read(reader, node),
        None => Validation::default(),
    }
}

fn script(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> ScriptStep {
    ScriptStep {
        run: fields.take(reader, "run").and_then(|node| reader.full_template(node)).unwrap_or_else(nothing),
        shell: fields.take(reader, "shell").and_then(|node| reader.choice(node, Shell::WORDS, Shell::parse)),
        cwd: fields.take(reader, "cwd").and_then(|node| reader.full_template(node)),
        env: match fields.take(reader, "env") {
            Some(node) => environment(reader, node),
            None => Vec::new(),
        },
        validation: evidence(reader, fields),
    }
}

fn environment(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<(Spanned<String>, Spanned<Environment>)> {
    reader
        .entries(node, "a mapping from variable names to values")
        .iter()
        .filter_map(|(key, value)| {
            let name = reader.variable_name(key)?;
            let value = match &value.content {
                Content::Mapping(_) => {
                    let mut fields = reader.fields(value, &shape::SECRET, |_| None)?;
                    let secret =
                        fields.take(reader, "secret").and_then(|node| reader.name(node, SecretName::parse));
                    fields.finish();
                    secret?.map(Environment::Secret)
                }
                _ => reader.template(value)?.map(Environment::Template),
            };
            Some((name, value))
        })
        .collect()
}

fn agent(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Option<AgentStep> {
    let agent = fields.take(reader, "agent").and_then(|node| reader.name(node, AgentName::parse));
    let prompt = fields.take(reader, "prompt").and_then(|node| reader.full_template(node));
    let context = match fields.take(reader, "context") {
        Some(node) => reader.one_or_many(node, Reader::full_template),
        None => Vec::new(),
    };
    let tools = fields.take(reader, "tools").map(|node| match &node.content {
        // An agent without any tool is a sensible thing to ask for.
        Content::Sequence(items) => items.iter().filter_map(|node| reader.full_text(node)).collect(),
        _ => reader.list(node, "a list of tools", Reader::full_text),
    });
    let runner = runner(reader, fields);
    let output_schema =
        fields.take(reader, "output_schema").and_then(|node| validation::schema(reader, node));
    let summarize = summarize(reader, fields);
    let budget = budget(reader, fields);
    let validation = evidence(reader, fields);
    Some(AgentStep {
        agent: agent?,
        prompt: prompt.unwrap_or_else(nothing),
        context,
        tools,
        runner,
        output_schema,
        summarize,
        budget,
        validation,
    })
}

fn budget(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Budget {
    fields.take(reader, "budget").map(|node| allowance(reader, node)).unwrap_or_default()
}

fn runner(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Option<Spanned<Runner>> {
    fields.take(reader, "runner").and_then(|node| reader.choice(node, Runner::WORDS, Runner::parse))
}

fn summarize(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Option<Spanned<Summarize>> {
    let node = fields.take(reader, "summarize")?;
    if let Content::Scalar(scalar) = &node.content
        && let Resolved::Bool(on) = scalar.resolve()
    {
        return Some(Spanned::new(if on { Summarize::On } else { Summarize::Off }, node.span));
    }
    reader.full_text(node).map(|text| text.map(Summarize::Prompt))
}

fn skill(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Option<SkillStep> {
    let skill = fields.take(reader, "skill").and_then(|node| reader.name(node, SkillName::parse));
    let inputs = arguments(reader, fields);
    let runner = runner(reader, fields);
    let summarize = summarize(reader, fields);
    let budget = budget(reader, fields);
    let validation = evidence(reader, fields);
    Some(SkillStep { skill: skill?, inputs, runner, summarize, budget, validation })
}

fn arguments(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_, '_>,
) -> Vec<(Spanned<String>, Spanned<Argument>)> {
    let Some(node) = fields.take(reader, "inputs") else { return Vec::new() };
    reader
        .entries(node, "a mapping from input names to values")
        .iter()
        .filter_map(|(key, value)| {
            let name = reader.name(key, InputName::parse)?.map(|name| name.to_string());
            let argument = match &value.content {
                Content::Scalar(scalar) if scalar.resolve() == Resolved::Text => {
                    reader.template(value)?.map(Argument::Template)
                }
                _ => Spanned::new(Argument::Value(data(value)), value.span),
            };
            Some((name, argument))
        })
        .collect()
}

fn approval(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> ApprovalStep {
    let prompt =
        fields.take(reader, "prompt").and_then(|node| reader.full_template(node)).unwrap_or_else(nothing);
    let options = match fields.take(reader, "options") {
        Some(node) => reader.list(node, "a list of options", option),
        None => Vec::new(),
    };
    let approvers = match fields.take(reader, "approvers") {
        Some(node) => reader.one_or_many(node, Reader::full_text),
        None => Vec::new(),
    };
    ApprovalStep { prompt, options, approvers }
}

fn option(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Answer> {
    let mut fields = reader.fields(node, &shape::OPTION, |_| None)?;
    let label = fields.take(reader, "label").and_then(|node| reader.full_text(node));
    let value = fields.take(reader, "value").and_then(|node| reader.full_text(node));
    fields.finish();
    let label = label?;
    let value = value.unwrap_or_else(|| Spanned::new(label.to_lowercase(), label.span));
    Some(Answer { label, value })
}

fn workflow(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Option<WorkflowStep> {
    let workflow = fields.take(reader, "workflow").and_then(|node| reader.name(node, AbilityName::parse));
    let inputs = arguments(reader, fields);
    Some(WorkflowStep { workflow: workflow?, inputs })
}
