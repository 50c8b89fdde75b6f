//! Inputs whose rules do not fit their type, each other, or their own default.

use crate::definition::{Ability, Input, InputType, Rules};
use crate::diagnostic::{Code, Diagnostic, Problems, excerpt};
use crate::source::Span;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(super) fn check(ability: &Ability, problems: &mut Problems) {
    for input in &ability.inputs {
        let before = problems.as_slice().len();
        fitting(input, problems);
        maskable(input, problems);
        possible(input, problems);
        // A default is held against rules that make sense only.
        if problems.as_slice().len() == before {
            default(input, problems);
        }
    }
}

/// Rules belong to types: a number has no pattern, a boolean no length.
fn fitting(input: &Input, problems: &mut Problems) {
    use InputType::{Array, Integer, Number, String};
    let input_type = input.input_type();
    let rules: [(&str, Option<Span>, &[InputType]); 6] = [
        ("pattern", input.pattern.as_ref().map(|rule| rule.span), &[String]),
        ("enum", input.choices.first().map(|rule| rule.span), &[String, Number, Integer]),
        ("min", input.min.as_ref().map(|rule| rule.span), &[Number, Integer]),
        ("max", input.max.as_ref().map(|rule| rule.span), &[Number, Integer]),
        ("minLength", input.min_length.as_ref().map(|rule| rule.span), &[String, Array]),
        ("maxLength", input.max_length.as_ref().map(|rule| rule.span), &[String, Array]),
    ];
    for (rule, span, types) in rules {
        let Some(span) = span.filter(|_| !types.contains(&input_type)) else { continue };
        let owners = types.iter().map(|owner| format!("`{owner}`")).collect::<Vec<_>>().join(" and ");
        let mut problem = Diagnostic::new(
            Code::RuleMismatch,
            span,
            format!("`{rule}` does not fit input `{}`, which is {}", *input.name, input_type.phrase()),
        )
        .help(format!("`{rule}` is a rule of {owners} inputs"));
        if let Some(declared) = &input.input_type {
            problem = problem.related(declared.span, "the type is declared here");
        }
        problems.push(problem);
    }
}

/// Only text can be found again in what a run writes.
fn maskable(input: &Input, problems: &mut Problems) {
    let Some(secret) = input.secret.as_ref().filter(|secret| secret.value) else { return };
    if input.input_type() == InputType::String {
        return;
    }
    let message = format!(
        "input `{}` is {}, and only a string can be secret",
        *input.name,
        input.input_type().phrase()
    );
    let mut problem = Diagnostic::new(Code::SecretNotText, secret.span, message)
        .help("take it as a string, or leave `secret` out if anybody may see it");
    if let Some(declared) = &input.input_type {
        problem = problem.related(declared.span, "the type is declared here");
    }
    problems.push(problem);
}

/// Bounds that exclude each other, and choices that the other rules exclude.
fn possible(input: &Input, problems: &mut Problems) {
    let name = &*input.name;
    if let (Some(min), Some(max)) = (&input.min, &input.max)
        && min.value > max.value
    {
        problems.push(
            Diagnostic::new(
                Code::ImpossibleRule,
                max.span,
                format!("no number is at least {} and at most {}", min.value, max.value),
            )
            .related(min.span, "the lower bound"),
        );
    }
    if let (Some(least), Some(most)) = (&input.min_length, &input.max_length)
        && least.value > most.value
    {
        problems.push(
            Diagnostic::new(
                Code::ImpossibleRule,
                most.span,
                format!("nothing has at least {} and at most {} {}", least.value, most.value, unit(input)),
            )
            .related(least.span, "the lower bound"),
        );
    }
    if input.choices.is_empty() {
        return;
    }
    let rules = Rules::without_choices(input);
    let mut listed: HashMap<String, Span> = HashMap::new();
    for choice in &input.choices {
        if problems.is_full() {
            return;
        }
        // Written as JSON, values are equal when their texts are.
        match listed.entry(choice.value.to_string()) {
            Entry::Vacant(place) => {
                place.insert(choice.span);
            }
            Entry::Occupied(first) => problems.push(
                Diagnostic::new(
                    Code::ImpossibleRule,
                    choice.span,
                    format!("{} is listed twice", excerpt(first.key())),
                )
                .related(*first.get(), "the first one")
                .help("keep one of them"),
            ),
        }
        if let Some(broken) = rules.broken_by(choice).into_iter().next() {
            problems.push(
                Diagnostic::new(
                    Code::ImpossibleRule,
                    choice.span,
                    format!(
                        "{} can never be given for `{name}`: {broken}",
                        excerpt(&choice.value.to_string())
                    ),
                )
                .help("mend the value in `enum`, or the other rule"),
            );
        }
    }
}

fn unit(input: &Input) -> &'static str {
    if input.input_type() == InputType::Array { "items" } else { "characters" }
}

fn default(input: &Input, problems: &mut Problems) {
    let Some(default) = &input.default else { return };
    for broken in input.broken_by(default) {
        let value = default.value.to_string();
        let shown = if input.is_secret() { String::new() } else { format!(" {}", excerpt(&value)) };
        problems.push(
            Diagnostic::new(
                Code::BadDefault,
                default.span,
                format!("the default{shown} of `{}` breaks its own rule: {broken}", *input.name),
            )
            .help("mend the default or the rule; a default is checked like any other value"),
        );
    }
}
