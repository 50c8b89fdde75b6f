//! Placeholders in scripts: where no value is safe, and where a value is run again as code.

use crate::definition::{Ability, Shell, StepKind};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::source::Span;
use crate::value::shell::{self, Dialect, LintKind, Piece};
use crate::value::template::{Part, Template};

pub(super) fn check(ability: &Ability, problems: &mut Problems) {
    for step in &ability.steps {
        let (validation, scripts, dialect) = match &step.kind {
            StepKind::Script(script) => {
                let dialect = match script.shell.as_ref().map(|shell| shell.value) {
                    Some(Shell::Bash) => Dialect::Bash,
                    Some(Shell::Sh) | None => Dialect::Sh,
                };
                (&script.validation, Some(&script.run), dialect)
            }
            StepKind::Agent(agent) => (&agent.validation, None, Dialect::Sh),
            StepKind::Skill(skill) => (&skill.validation, None, Dialect::Sh),
            StepKind::Approval(_) | StepKind::Workflow(_) => continue,
        };
        for script in scripts.into_iter().chain(&validation.check) {
            check_script(script, dialect, problems);
        }
    }
}

/// Reports what is wrong with the placeholders of one script.
pub(crate) fn check_script(script: &Template, dialect: Dialect, problems: &mut Problems) {
    if script.is_literal() {
        return;
    }
    let pieces: Vec<Piece<'_>> = script
        .parts()
        .map(|part| match part {
            Part::Text(text) => Piece::Text(text),
            Part::Placeholder(placeholder) => Piece::Placeholder { raw: placeholder.raw },
        })
        .collect();
    let span = |index: usize| {
        script.placeholders().get(index).map_or(Span::default(), |placeholder| placeholder.span)
    };
    let analysis = shell::analyse(&pieces, dialect);
    for refusal in analysis.refusals {
        problems.push(
            Diagnostic::new(Code::UnsafePlaceholder, span(refusal.placeholder), refusal.why.to_string())
                .help(refusal.why.help()),
        );
    }
    for lint in analysis.lints {
        let code = match lint.kind {
            LintKind::Raw => Code::RawPlaceholder,
            LintKind::Reinterpreted | LintKind::CommandWord => Code::Reinterpreted,
        };
        problems.push(
            Diagnostic::new(code, span(lint.placeholder), lint.kind.to_string()).help(lint.kind.help()),
        );
    }
}
