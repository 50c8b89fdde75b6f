//! Names and types in templates and conditions.

use super::Steps;
use crate::definition::{
    Ability, Argument, Environment, Input, InputType, Items, Step, StepKind, Validation,
};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::source::Span;
use crate::value::effort::MOST_REGEX_EFFORT;
use crate::value::expression::{Effort, Path, RecordType, Scope, Type};
use crate::value::template::Placeholder;
use crate::value::{Expression, Template, Value};
use smol_str::SmolStr;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// A text of a step in which names can stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    form: Form<'a>,
    role: Role,
}

#[derive(Debug, Clone, Copy)]
enum Form<'a> {
    Template(&'a Template),
    Expression(&'a Expression),
}

/// When a text is looked at, which decides what it can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Before the step is split into instances: `when` and `for_each`.
    Before,
    /// While an instance runs.
    During,
    /// After an instance has run: its own results are there.
    After,
}

impl<'a> Text<'a> {
    pub(super) fn references(self) -> Vec<&'a Path> {
        match self.form {
            Form::Template(template) => template.references().collect(),
            Form::Expression(expression) => expression.references().collect(),
        }
    }

    /// Returns whether the step's own results are there when the text is looked at.
    pub(super) fn sees_itself(self) -> bool {
        self.role == Role::After
    }
}

/// Returns every text of a step in which a name stands.
pub(super) fn texts(step: &Step) -> Vec<Text<'_>> {
    let mut texts = Vec::new();
    let mut template = |role, template| {
        if !Template::is_literal(template) {
            texts.push(Text { form: Form::Template(template), role });
        }
    };
    if let Some(for_each) = &step.for_each
        && let Items::Template(items) = &for_each.items.value
    {
        template(Role::Before, items);
    }
    match &step.kind {
        StepKind::Script(script) => {
            template(Role::During, &script.run);
            script.cwd.iter().for_each(|cwd| template(Role::During, cwd));
            for (_, value) in &script.env {
                if let Environment::Template(value) = &value.value {
                    template(Role::During, value);
                }
            }
            evidence(&script.validation).for_each(|(role, rule)| template(role, rule));
        }
        StepKind::Agent(agent) => {
            template(Role::During, &agent.prompt);
            agent.context.iter().for_each(|context| template(Role::During, context));
            evidence(&agent.validation).for_each(|(role, rule)| template(role, rule));
        }
        StepKind::Skill(skill) => {
            arguments(&skill.inputs).for_each(|argument| template(Role::During, argument));
            evidence(&skill.validation).for_each(|(role, rule)| template(role, rule));
        }
        StepKind::Approval(approval) => template(Role::During, &approval.prompt),
        StepKind::Workflow(workflow) => {
            arguments(&workflow.inputs).for_each(|argument| template(Role::During, argument));
        }
    }
    if let Some(when) = &step.when {
        texts.push(Text { form: Form::Expression(when), role: Role::Before });
    }
    if let Some(repeat) = &step.repeat {
        texts.push(Text { form: Form::Expression(&repeat.until), role: Role::After });
    }
    texts
}

fn evidence(validation: &Validation) -> impl Iterator<Item = (Role, &Template)> {
    // What an output must contain is looked for while it comes, when there is no result yet.
    let looked_for = [&validation.stdout_contains, &validation.stderr_contains].into_iter().flatten();
    let looked_at = [&validation.file_exists, &validation.check].into_iter().flatten();
    let during = looked_for.map(|rule| (Role::During, &rule.value));
    during.chain(looked_at.map(|rule| (Role::After, &rule.value)))
}

fn arguments(
    inputs: &[(crate::source::Spanned<String>, crate::source::Spanned<Argument>)],
) -> impl Iterator<Item = &Template> {
    inputs.iter().filter_map(|(_, argument)| match &argument.value {
        Argument::Template(template) => Some(template),
        Argument::Value(_) => None,
    })
}

pub(super) fn check(ability: &Ability, steps: Steps, problems: &mut Problems) {
    let mut names: Option<Names> = None;
    for step in &ability.steps {
        for text in texts(step) {
            if problems.is_full() {
                return;
            }
            let names = names.get_or_insert_with(|| Names::of(ability, steps));
            let instance = step.for_each.is_some() && text.role != Role::Before;
            let own = (instance && text.role == Role::After).then_some(step);
            let scope = StepScope { names, instance, own };
            match text.form {
                Form::Expression(expression) => problems.extend(expression.check_condition(&scope)),
                Form::Template(template) => {
                    for placeholder in template.placeholders() {
                        if problems.is_full() {
                            return;
                        }
                        let checked = placeholder.check(&scope);
                        if checked.problems.is_empty() && matches!(checked.ty, Type::Optional(_)) {
                            problems.push(may_be_missing(placeholder));
                        }
                        problems.extend(checked.problems);
                    }
                }
            }
        }
        if let Some(for_each) = &step.for_each
            && let Items::Template(items) = &for_each.items.value
        {
            let names = names.get_or_insert_with(|| Names::of(ability, steps));
            let found = items.check(&StepScope { names, instance: false, own: None }).ty.required();
            if !matches!(found, Type::List(_) | Type::Any) {
                problems.push(not_a_list(for_each.items.span, &found));
            }
        }
    }
}

/// Says that a value may be missing and would be written as `null`.
fn may_be_missing(placeholder: &Placeholder) -> Diagnostic {
    let text = placeholder.expression.text();
    let message = format!("`{text}` may be missing, and would stand here as `null`");
    Diagnostic::new(Code::MayBeMissing, placeholder.span, message).help(format!(
        "make the input `required`, give it a `default`, or write `{{{{{text} | default(\"\")}}}}`"
    ))
}

fn not_a_list(at: Span, found: &Type) -> Diagnostic {
    Diagnostic::new(Code::NotAList, at, format!("`for_each` takes a list, and this is {found}"))
        .help("use an input of `type: array`, `steps.<id>.output | lines`, or write the items as a list")
}

/// The names that all steps of an ability share.
struct Names {
    inputs: Type,
    steps: Arc<StepTypes>,
    /// What is left of the effort that one ability may take.
    words: Cell<usize>,
    regexes: Cell<usize>,
}

/// How many pairs of words are compared for one ability.
const MOST_WORDS: usize = 20_000_000;

/// The names that one text of one step sees.
struct StepScope<'a> {
    names: &'a Names,
    /// Whether the text belongs to one instance of a `for_each` step.
    instance: bool,
    /// The step itself, where its instance sees its own results rather than those of all.
    own: Option<&'a Step>,
}

impl Scope for StepScope<'_> {
    fn root(&self, name: &str) -> Option<Type> {
        match name {
            "inputs" => Some(self.names.inputs.clone()),
            "steps" => Some(Type::Record(match self.own {
                Some(step) => Arc::new(WithOwn {
                    others: Arc::clone(&self.names.steps),
                    id: step.id.as_str().into(),
                    own: one_result(step),
                }),
                None => Arc::clone(&self.names.steps) as Arc<dyn RecordType>,
            })),
            "input" => Some(Type::Text),
            "run" => Some(RUN.clone()),
            "item" if self.instance => Some(Type::Any),
            "index" if self.instance => Some(Type::Int),
            _ => None,
        }
    }

    fn roots(&self) -> Vec<&str> {
        let mut roots = vec!["inputs", "steps", "input", "run"];
        if self.instance {
            roots.extend(["item", "index"]);
        }
        roots
    }

    fn elsewhere(&self, name: &str) -> Option<&'static str> {
        let of_instances = matches!(name, "item" | "index");
        of_instances
            .then_some("`item` and `index` exist only in steps with `for_each`, and not in their `when`")
    }

    fn spend(&self, effort: Effort) -> bool {
        let (purse, asked) = match effort {
            Effort::Regex(asked) => (&self.names.regexes, asked),
            Effort::Words(asked) => (&self.names.words, asked),
        };
        let left = purse.get().checked_sub(asked);
        purse.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// What a run tells about itself.
static RUN: LazyLock<Type> = LazyLock::new(|| Type::record([("id", Type::Text), ("ability", Type::Text)]));

impl Names {
    fn of(ability: &Ability, steps: Steps) -> Self {
        let inputs = ability
            .inputs
            .iter()
            .map(|input| (SmolStr::new(input.name.as_str()), input_type(input)))
            .collect();
        let types =
            ability.steps.iter().map(|step| (SmolStr::new(step.id.as_str()), results(step))).collect();
        let order = ability.steps.iter().map(|step| SmolStr::new(step.id.as_str())).collect();
        Self {
            inputs: Type::Record(Arc::new(InputTypes(inputs))),
            steps: Arc::new(StepTypes { types, order, whole: steps == Steps::All }),
            words: Cell::new(MOST_WORDS),
            regexes: Cell::new(MOST_REGEX_EFFORT),
        }
    }
}

fn input_type(input: &Input) -> Type {
    let found = match input.input_type() {
        InputType::String if !input.choices.is_empty() => {
            Type::choice(input.choices.iter().map(|choice| match &choice.value {
                Value::Text(text) => SmolStr::new(text),
                other => SmolStr::new(other.to_string()),
            }))
        }
        InputType::String => Type::Text,
        InputType::Number => Type::Float,
        InputType::Integer => Type::Int,
        InputType::Boolean => Type::Bool,
        InputType::Array => Type::list(Type::Any),
        InputType::Object => Type::Any,
    };
    if input.is_required() || input.default.is_some() { found } else { Type::Optional(Box::new(found)) }
}

/// The inputs, in the order of the file.
#[derive(Debug)]
struct InputTypes(Vec<(SmolStr, Type)>);

impl RecordType for InputTypes {
    fn field(&self, name: &str) -> Option<Type> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, found)| found.clone())
    }

    fn noun(&self) -> &'static str {
        "input"
    }

    fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_str()).collect()
    }
}

/// The results of each step, where one step sees those of its own instance.
#[derive(Debug)]
struct WithOwn {
    others: Arc<StepTypes>,
    id: SmolStr,
    own: Type,
}

impl RecordType for WithOwn {
    fn field(&self, name: &str) -> Option<Type> {
        if self.id == name { Some(self.own.clone()) } else { self.others.field(name) }
    }

    fn noun(&self) -> &'static str {
        self.others.noun()
    }

    fn names(&self) -> Vec<&str> {
        self.others.names()
    }
}

/// The results of each step, by id.
#[derive(Debug)]
struct StepTypes {
    types: BTreeMap<SmolStr, Type>,
    order: Vec<SmolStr>,
    whole: bool,
}

impl RecordType for StepTypes {
    fn field(&self, name: &str) -> Option<Type> {
        match self.types.get(name) {
            Some(found) => Some(found.clone()),
            None => (!self.whole).then_some(Type::Any),
        }
    }

    fn noun(&self) -> &'static str {
        "step"
    }

    fn names(&self) -> Vec<&str> {
        self.order.iter().map(SmolStr::as_str).collect()
    }
}

/// Returns what later steps see of a step.
fn results(step: &Step) -> Type {
    let one = one_result(step);
    if step.for_each.is_some() { record(&[("results", Type::list(one))]) } else { one }
}

/// Returns what there is to see of one instance of a step.
fn one_result(step: &Step) -> Type {
    match &step.kind {
        StepKind::Script(_) => SCRIPT.clone(),
        StepKind::Agent(_) | StepKind::Skill(_) => AGENT.clone(),
        StepKind::Approval(approval) => record(&[
            ("answer", Type::choice(approval.answers())),
            ("by", Type::Text),
            ("comment", Type::Text),
        ]),
        StepKind::Workflow(_) => WORKFLOW.clone(),
    }
}

fn record(own: &[(&'static str, Type)]) -> Type {
    let shared = [
        ("status", Type::choice(["completed", "failed", "skipped"])),
        ("output", Type::Text),
        ("error", Type::Text),
        ("attempts", Type::Int),
    ];
    Type::record(own.iter().cloned().chain(shared))
}

static SCRIPT: LazyLock<Type> = LazyLock::new(|| {
    record(&[("stdout", Type::Text), ("stderr", Type::Text), ("exit_code", Type::Int), ("json", Type::Any)])
});
static AGENT: LazyLock<Type> = LazyLock::new(|| record(&[("json", Type::Any)]));
static WORKFLOW: LazyLock<Type> = LazyLock::new(|| record(&[("run", Type::Text)]));
