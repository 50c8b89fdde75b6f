//! Keys that are understood and can have no effect where they stand.

use crate::definition::{Ability, OnFailure, Step, StepKind};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::source::Span;

pub(super) fn check(ability: &Ability, problems: &mut Problems) {
    if let Some(most) = &ability.settings.max_parallel
        && !ability.settings.is_parallel()
    {
        problems.push(useless(most.span, "`max_parallel` has no effect without `parallel: true`"));
    }
    for step in &ability.steps {
        retries(ability, step, problems);
    }
    if let Some(agent) = &ability.exclusive_agent
        && let Some(first) = ability.compatible_agents.first()
    {
        problems.push(
            useless(first.span, "`compatible_agents` has no effect beside `exclusive_agent`")
                .related(agent.span, "only this agent may run the ability"),
        );
    }
}

fn retries(ability: &Ability, step: &Step, problems: &mut Problems) {
    let on_failure = step.on_failure.as_ref().or(ability.settings.on_failure.as_ref()).map(|word| word.value);
    // A human may choose to retry, and agents are told what evidence is missing.
    let may_retry = matches!(on_failure, Some(OnFailure::Retry | OnFailure::Ask))
        || matches!(step.kind, StepKind::Agent(_) | StepKind::Skill(_));
    if may_retry {
        return;
    }
    for (key, span) in [
        ("max_retries", step.max_retries.as_ref().map(|value| value.span)),
        ("retry_delay", step.retry_delay.as_ref().map(|value| value.span)),
    ] {
        if let Some(span) = span {
            problems.push(useless(span, format!("`{key}` has no effect without `on_failure: retry`")));
        }
    }
}

fn useless(at: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::UselessKey, at, message).help("remove it, or add what makes it count")
}
