//! Answers of an approval that nobody could ever give.

use crate::definition::{Ability, Answer, ApprovalStep, StepKind};
use crate::diagnostic::{Code, Diagnostic, Problems, excerpt};
use std::collections::HashMap;

pub(super) fn check(ability: &Ability, problems: &mut Problems) {
    for step in &ability.steps {
        if let StepKind::Approval(approval) = &step.kind {
            options(approval, problems);
        }
    }
}

fn options(approval: &ApprovalStep, problems: &mut Problems) {
    let mut values: HashMap<&str, &Answer> = HashMap::new();
    let mut labels: HashMap<String, &Answer> = HashMap::new();
    for option in &approval.options {
        let same_value = *values.entry(&option.value).or_insert(option);
        let same_label = *labels.entry(option.label.to_lowercase()).or_insert(option);
        if !std::ptr::eq(same_value, option) {
            let first = same_value;
            problems.push(
                Diagnostic::new(
                    Code::UnreachableOption,
                    option.value.span,
                    format!(
                        "the answer `{}` is already given by `{}`",
                        excerpt(&option.value),
                        excerpt(&first.label)
                    ),
                )
                .related(first.value.span, "the same answer")
                .help("give each option its own `value`"),
            );
        } else if !std::ptr::eq(same_label, option) {
            let first = same_label;
            problems.push(
                Diagnostic::new(
                    Code::UnreachableOption,
                    option.label.span,
                    format!("two options are labelled `{}`", excerpt(&option.label)),
                )
                .related(first.label.span, "the first one")
                .help("a human could not tell them apart: give each its own `label`"),
            );
        }
    }
    if let [only] = &approval.options[..]
        && *only.value != ApprovalStep::REJECTED
    {
        problems.push(
            Diagnostic::new(
                Code::UnreachableOption,
                only.label.span,
                format!("`{}` is the only option, so nobody can say no", excerpt(&only.label)),
            )
            .help("add an option with `value: rejected`"),
        );
    } else if !approval.options.is_empty()
        && approval.options.iter().all(|option| *option.value == ApprovalStep::REJECTED)
    {
        let first = &approval.options[0];
        problems.push(
            Diagnostic::new(
                Code::UnreachableOption,
                first.value.span,
                "every option rejects, so nobody can say yes",
            )
            .help("add an option with another `value`, such as `approved`"),
        );
    }
}
