//! Answers of an approval that nobody could ever give.

use crate::definition::{Ability, ApprovalStep, StepKind};
use crate::diagnostic::{Code, Diagnostic};

pub(super) fn check(ability: &Ability, problems: &mut Vec<Diagnostic>) {
    for step in &ability.steps {
        if let StepKind::Approval(approval) = &step.kind {
            options(approval, problems);
        }
    }
}

fn options(approval: &ApprovalStep, problems: &mut Vec<Diagnostic>) {
    for (index, option) in approval.options.iter().enumerate() {
        let earlier = &approval.options[..index];
        if let Some(first) = earlier.iter().find(|earlier| earlier.value.value == option.value.value) {
            problems.push(
                Diagnostic::new(
                    Code::UnreachableOption,
                    option.value.span,
                    format!("the answer `{}` is already given by `{}`", *option.value, *first.label),
                )
                .related(first.value.span, "the same answer")
                .help("give each option its own `value`"),
            );
        } else if let Some(first) =
            earlier.iter().find(|earlier| earlier.label.to_lowercase() == option.label.to_lowercase())
        {
            problems.push(
                Diagnostic::new(
                    Code::UnreachableOption,
                    option.label.span,
                    format!("two options are labelled `{}`", *option.label),
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
                format!("`{}` is the only option, so nobody can say no", *only.label),
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
