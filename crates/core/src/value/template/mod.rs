//! Text with `{{ expression | filter }}` placeholders.
//!
//! Everything outside `{{ }}` is literal: `${#x}`, `{%` and a lone `}}` mean nothing to abide. A literal
//! `{{` is written `{{ "{{" }}`. Start at [`Template::parse`].

mod filter;
mod parse;
mod placeholder;
mod script;
#[cfg(test)]
mod tests;

pub use filter::{Filter, FilterKind};
pub use placeholder::Placeholder;
pub use script::script;

use super::Value;
use super::expression::{Checked, EvaluationError, Failure, Lookup, Path, Problem, Scope, Type};
use crate::diagnostic::Problems;
use crate::source::Span;
use smol_str::SmolStr;
use std::borrow::Cow;
use std::fmt;

/// The longest text that a template may render to, in bytes.
pub const LARGEST_RENDERING: usize = 16 << 20;

/// A text with placeholders, as it was written.
///
/// Two templates are equal when their texts are.
#[derive(Clone, Default)]
pub struct Template {
    text: SmolStr,
    /// In the order of the text, without overlap; the literal parts are what lies between.
    placeholders: Vec<Placeholder>,
}

/// One piece of a template.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part<'a> {
    /// Text that stands for itself.
    Text(&'a str),
    /// Something that is computed.
    Placeholder(&'a Placeholder),
}

impl Template {
    /// Reads a template, or returns every problem of its form.
    ///
    /// The text is what a YAML scalar means, not how it is written, so `positions` maps an offset in it to
    /// an offset in the file.
    pub fn parse(text: impl Into<SmolStr>, positions: &dyn Fn(usize) -> usize) -> Result<Self, Vec<Problem>> {
        let text = text.into();
        let placeholders = match parse::next_open(&text, 0) {
            None => Vec::new(),
            Some(first) => parse::placeholders(&text, first, positions)?,
        };
        Ok(Self { text, placeholders })
    }

    /// Returns the text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the text stands for itself, without any placeholder.
    pub fn is_literal(&self) -> bool {
        self.placeholders.is_empty()
    }

    /// Returns the placeholder that the template consists of, if it is exactly one and nothing else.
    pub fn as_single_placeholder(&self) -> Option<&Placeholder> {
        match self.placeholders.as_slice() {
            [only] if only.range == (0..self.text.len()) => Some(only),
            _ => None,
        }
    }

    /// Returns the placeholders, in the order of the text.
    pub fn placeholders(&self) -> &[Placeholder] {
        &self.placeholders
    }

    /// Returns literal text and placeholders in turn; no text is empty.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let start = |index: usize| match index.checked_sub(1) {
            Some(before) => self.placeholders[before].range.end,
            None => 0,
        };
        (0..=self.placeholders.len()).flat_map(move |index| {
            let placeholder = self.placeholders.get(index);
            let end = placeholder.map_or(self.text.len(), |placeholder| placeholder.range.start);
            let text = &self.text[start(index)..end];
            let text = if text.is_empty() { None } else { Some(Part::Text(text)) };
            text.into_iter().chain(placeholder.map(Part::Placeholder))
        })
    }

    /// Checks names and types, and returns the type of the result with every problem.
    ///
    /// A single placeholder keeps its type; everything else is text.
    pub fn check(&self, scope: &dyn Scope) -> Checked {
        let mut problems = Problems::default();
        let mut ty = Type::Text;
        for placeholder in &self.placeholders {
            if problems.is_full() {
                break;
            }
            let checked = placeholder.check(scope);
            problems.extend(checked.problems);
            ty = checked.ty;
        }
        let ty = if self.as_single_placeholder().is_some() { ty } else { Type::Text };
        Checked { ty, problems: problems.into() }
    }

    /// Returns every path that the template names, from left to right.
    pub fn references(&self) -> impl Iterator<Item = &Path> {
        self.placeholders.iter().flat_map(Placeholder::references)
    }

    /// Returns the text with every placeholder replaced: texts as they are, other values as JSON.
    pub fn render(&self, lookup: &dyn Lookup) -> Result<String, EvaluationError> {
        let mut out = String::with_capacity(self.text.len());
        let mut last = Span::default();
        for part in self.parts() {
            match part {
                Part::Text(text) => push(&mut out, text, last)?,
                Part::Placeholder(placeholder) => {
                    last = placeholder.span;
                    push(&mut out, &as_text(&placeholder.evaluate(lookup)?), last)?;
                }
            }
        }
        Ok(out)
    }

    /// Returns the value of a single placeholder with its type, and the rendered text of anything else.
    pub fn render_value(&self, lookup: &dyn Lookup) -> Result<Value, EvaluationError> {
        match self.as_single_placeholder() {
            Some(placeholder) => placeholder.evaluate(lookup),
            None => self.render(lookup).map(Value::Text),
        }
    }
}

fn push(out: &mut String, text: &str, span: Span) -> Result<(), EvaluationError> {
    if out.len() + text.len() > LARGEST_RENDERING {
        return Err(Failure::TooLarge(LARGEST_RENDERING).at(span));
    }
    out.push_str(text);
    Ok(())
}

/// Returns a value as templates write it: a text as it is, everything else as JSON.
pub fn as_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Text(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Template {}

impl fmt::Display for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Template({:?})", self.text)
    }
}
