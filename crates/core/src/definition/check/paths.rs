//! Paths that lead out of the project.

use crate::definition::{Ability, StepKind};
use crate::diagnostic::{Code, Diagnostic, Problems};

pub(super) fn check(ability: &Ability, problems: &mut Problems) {
    for step in &ability.steps {
        let StepKind::Script(script) = &step.kind else { continue };
        let Some(cwd) = &script.cwd else { continue };
        // What a placeholder yields is known when the step runs, and checked then.
        if cwd.is_literal() && leads_out(cwd.text()) {
            problems.push(
                Diagnostic::new(
                    Code::BadPath,
                    cwd.span,
                    format!("step `{}` would run in `{}`, outside the project", *step.id, cwd.text()),
                )
                .help("`cwd` is relative to the project's root and stays inside it; use `cd` in `run` to leave it"),
            );
        }
    }
}

/// Tells whether a relative path climbs above where it starts, or is not relative at all.
fn leads_out(path: &str) -> bool {
    if path.starts_with(['/', '~']) {
        return true;
    }
    let mut depth = 0_i32;
    path.split('/').any(|part| {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        depth < 0
    })
}

#[cfg(test)]
mod tests {
    use super::leads_out;

    #[test]
    fn a_path_that_climbs_out_is_found() {
        for inside in ["packages/api", "./a/../b", ".", "a/b/../../c", ""] {
            assert!(!leads_out(inside), "{inside}");
        }
        for outside in ["..", "../x", "a/../../b", "/etc", "~/x", "a/../..", "./.."] {
            assert!(leads_out(outside), "{outside}");
        }
    }
}
