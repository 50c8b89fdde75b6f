//! One `{{ expression | filter }}`.

use super::filter::Filter;
use crate::source::Span;
use crate::value::Value;
use crate::value::expression::{Checked, EvaluationError, Expression, Failure, Lookup, Path, Scope};
use std::ops::Range;

/// An expression inside a template, and the filters that its value goes through.
#[derive(Debug, Clone, PartialEq)]
pub struct Placeholder {
    /// What is computed.
    pub expression: Expression,
    /// What happens to the value, in order.
    pub filters: Vec<Filter>,
    /// Whether the last filter is `raw`: in a script, paste the value as code.
    pub raw: bool,
    /// Where it stands in the file, with its braces.
    pub span: Span,
    /// Where it stands in the template's text, with its braces.
    pub range: Range<usize>,
}

impl Placeholder {
    /// Checks names and types, and returns the type after the filters with every problem.
    pub fn check(&self, scope: &dyn Scope) -> Checked {
        let Checked { mut ty, mut problems } = self.expression.check(scope);
        for filter in &self.filters {
            ty = filter.check(ty, scope, &mut problems);
        }
        Checked { ty, problems }
    }

    /// Returns every path that the placeholder names, from left to right.
    pub fn references(&self) -> impl Iterator<Item = &Path> {
        let arguments = self.filters.iter().filter_map(Filter::argument);
        std::iter::once(&self.expression).chain(arguments).flat_map(Expression::references)
    }

    /// Returns the value after the filters.
    pub fn evaluate(&self, lookup: &dyn Lookup) -> Result<Value, EvaluationError> {
        let value = self.expression.evaluate(lookup);
        self.filters.iter().fold(value, |value, filter| match value {
            Ok(value) => filter.apply(value, lookup),
            // What is missing may still get a default.
            Err(EvaluationError { failure: Failure::Missing(_), .. }) if filter.is_default() => {
                filter.apply(Value::Null, lookup)
            }
            Err(error) => Err(error),
        })
    }
}
