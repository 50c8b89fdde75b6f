//! The problems of one file, of which a bounded number is kept.

use super::{Diagnostic, Severity};

/// Collects problems: the first ones of each severity, so that a hostile file cannot fill the memory and a
/// flood of warnings cannot hide an error.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    kept: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Problems {
    /// How many errors, and how many warnings, are kept; more would help nobody.
    pub const MOST: usize = 500;

    /// Adds a problem, unless there are enough of its severity.
    pub fn push(&mut self, problem: Diagnostic) {
        let count = match problem.severity() {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        if *count < Self::MOST {
            *count += 1;
            self.kept.push(problem);
        }
    }

    /// Returns whether no further error would be kept, so that looking for more is in vain.
    pub fn is_full(&self) -> bool {
        self.errors >= Self::MOST
    }

    /// Returns what was kept, in the order in which it was added.
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// Takes back the problems at the end that `test` says are none after all.
    pub fn retract_while(&mut self, test: impl Fn(&Diagnostic) -> bool) {
        while let Some(last) = self.kept.pop_if(|last| test(last)) {
            match last.severity() {
                Severity::Error => self.errors -= 1,
                Severity::Warning => self.warnings -= 1,
            }
        }
    }

    /// Returns the problems in the order of the file.
    pub fn sorted(mut self) -> Vec<Diagnostic> {
        self.kept.sort_by_key(|problem| problem.at.map_or(0, |at| at.start));
        self.kept
    }
}

impl Extend<Diagnostic> for Problems {
    fn extend<Source: IntoIterator<Item = Diagnostic>>(&mut self, problems: Source) {
        problems.into_iter().for_each(|problem| self.push(problem));
    }
}

impl From<Problems> for Vec<Diagnostic> {
    fn from(problems: Problems) -> Self {
        problems.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;
    use crate::source::Span;

    #[test]
    fn a_flood_of_warnings_does_not_hide_an_error() {
        let mut problems = Problems::default();
        problems.extend((0..10_000).map(|at| Diagnostic::new(Code::UselessKey, Span::at(at), "useless")));
        problems.push(Diagnostic::new(Code::DuplicateKey, Span::at(3), "twice"));
        assert_eq!(problems.as_slice().len(), Problems::MOST + 1);
        assert!(!problems.is_full());
        let sorted = problems.sorted();
        assert!(sorted.iter().any(Diagnostic::is_error));
        assert!(sorted.is_sorted_by_key(|problem| problem.at));
    }
}
