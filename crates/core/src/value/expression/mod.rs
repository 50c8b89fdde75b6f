//! The language of `when`, `repeat.until` and `{{ … }}`: a small, typed and bounded subset of CEL.
//!
//! It has no loops, no macros and no side effects. An expression is parsed once, checked against the types
//! that are known before a run ([`Expression::check`]), and evaluated over the values of the run
//! ([`Expression::evaluate`]), where every doubt is an error and never a silent `false`.
//!
//! | | |
//! |---|---|
//! | values | `1`, `2.5`, `'text'`, `"text"`, `r'no \escapes'`, `true`, `false`, `null`, `[a, b]` |
//! | names | `inputs.version`, `steps.get-diff.output`, `inputs["odd name"]`, `list[0]` |
//! | operators | `?:`, `\|\|`, `&&`, `==` `!=` `<` `<=` `>` `>=` `in`, `+` `-`, `*` `/` `%`, `!` `-` |
//! | functions | `size(x)`, `int(x)`, `double(x)`, `string(x)`, `has(a.b)`: is there a value other than `null` |
//! | methods | `size()`, `contains(y)`, `startsWith(y)`, `endsWith(y)`, `matches(regex)`, `lower()`, `upper()`, `trim()` |

mod ast;
mod check;
mod comparison;
mod demand;
mod evaluate;
mod explain;
mod lexer;
mod mistake;
mod operate;
mod parser;
mod postfix;
mod problem;
#[cfg(test)]
mod tests;
mod types;

pub use ast::{Path, Segment};
pub use check::Checked;
pub use evaluate::{EvaluationError, Failure, Lookup};
pub use problem::Problem;
pub use types::{Effort, Fields, RecordType, Scope, Type};

pub(crate) use lexer::Kind as TokenKind;
pub(crate) use operate::{size, text};
pub(crate) use parser::Parser;

use crate::diagnostic::Diagnostic;
use crate::value::Value;
use ast::Node;
use mistake::too_long;
use smol_str::SmolStr;
use std::fmt;
use std::sync::Arc;

/// The longest text that is read as an expression, in bytes.
pub const LONGEST_EXPRESSION: usize = 4_096;

/// An expression: its text as it was written, and what it means.
///
/// Two expressions are equal when their texts are. A clone is cheap.
#[derive(Clone)]
pub struct Expression {
    text: SmolStr,
    /// Where `text` begins in the text that was parsed, which the nodes' local spans count from.
    origin: u32,
    root: Arc<Node>,
}

impl Expression {
    /// Reads an expression that stands `offset` bytes into its file.
    pub fn parse(text: &str, offset: usize) -> Result<Self, Problem> {
        Self::parse_mapped(text, &|at| at + offset)
    }

    /// Reads an expression whose text was decoded from its file; `positions` maps an offset in the text to
    /// one in the file.
    pub fn parse_mapped(text: &str, positions: &dyn Fn(usize) -> usize) -> Result<Self, Problem> {
        let span = |start, end| crate::source::Span::new(positions(start), positions(end));
        if text.len() > LONGEST_EXPRESSION {
            return Err(too_long(span(0, text.len())));
        }
        if text.trim().is_empty() {
            return Err(Problem::new(span(0, text.len()), "the expression is empty"));
        }
        let mut parser = Parser::new(text, 0, positions)?;
        let root = parser.expression()?;
        if parser.token.kind != TokenKind::End {
            return Err(parser.unexpected());
        }
        Ok(Self { text: text.into(), origin: 0, root: Arc::new(root) })
    }

    /// Reads an expression out of a longer text, and leaves what follows it to the caller.
    pub(crate) fn read(parser: &mut Parser<'_>, source: &str) -> Result<Self, Problem> {
        let root = parser.expression()?;
        let text = &source[root.local.range()];
        if text.len() > LONGEST_EXPRESSION {
            return Err(too_long(root.span));
        }
        Ok(Self { text: text.into(), origin: root.local.start, root: Arc::new(root) })
    }

    /// Returns the text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Checks names and types, and returns the type of the result with every problem.
    pub fn check(&self, scope: &dyn Scope) -> Checked {
        check::check(self, scope)
    }

    /// Checks names and types of a condition, whose result must be a boolean.
    pub fn check_condition(&self, scope: &dyn Scope) -> Vec<Diagnostic> {
        check::check_condition(self, scope)
    }

    /// Returns every path that the expression names, from left to right.
    ///
    /// Of `steps.build.output[0].url` the path is `steps.build.output`: what follows is not a name of a step
    /// or an input.
    pub fn references(&self) -> impl Iterator<Item = &Path> {
        let mut paths = Vec::new();
        self.root.visit_paths(&mut |path| paths.push(path));
        paths.into_iter()
    }

    /// Returns whether it can hold only where a path has this text, because it says so: alone or joined by `&&`.
    pub fn demands(&self, path: &[&str], text: &str) -> bool {
        demand::demands(&self.root, path, text)
    }

    /// Returns the value of the expression.
    pub fn evaluate(&self, lookup: &dyn Lookup) -> Result<Value, EvaluationError> {
        evaluate::evaluate(self, lookup)
    }

    /// Returns whether a condition holds; a result that is not a boolean is an error.
    pub fn evaluate_condition(&self, lookup: &dyn Lookup) -> Result<bool, EvaluationError> {
        evaluate::evaluate_condition(self, lookup)
    }

    /// Says why a condition is true or false: the values of what decided it.
    ///
    /// Values that the lookup calls secret are not shown.
    pub fn explain(&self, lookup: &dyn Lookup) -> String {
        explain::explain(self, lookup)
    }

    /// Returns the text of one part.
    fn source(&self, node: &Node) -> &str {
        self.slice(node.local.start, node.local.end)
    }

    fn slice(&self, start: u32, end: u32) -> &str {
        // Nodes of this expression lie within its text.
        &self.text[(start - self.origin) as usize..(end - self.origin) as usize]
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Expression {}

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Expression({:?})", self.text)
    }
}
