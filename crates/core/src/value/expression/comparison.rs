//! Whether two sides of a comparison can be compared, and whether they can ever be equal.

use super::ast::{Comparison, Kind, Node};
use super::check::{Checker, SHORT};
use super::problem::{list, quote};
use super::{Effort, Type};
use crate::diagnostic::{Code, Diagnostic, excerpt, nearest};
use crate::source::Span;
use crate::value::Value;
use smol_str::SmolStr;

/// What looking for a similar word takes at worst.
const SUGGESTION: Effort = Effort::Words(100_000);

impl Checker<'_> {
    pub(super) fn comparison(&mut self, comparison: Comparison, left: &Node, right: &Node) {
        let left_type = self.node(left);
        let right_type = self.node(right);
        match comparison {
            Comparison::Equal | Comparison::NotEqual => {
                self.equality(comparison, (left, &left_type), (right, &right_type));
            }
            Comparison::In => self.membership((left, left_type), (right, right_type.required())),
            _ => {
                let (one, other) = (left_type.required(), right_type.required());
                let fits = (one.is_number() && other.is_number()) || (one.is_text() && other.is_text());
                if !fits {
                    let symbol = comparison.symbol();
                    let span = if one.is_number() || one.is_text() { right.span } else { left.span };
                    self.mismatch(
                        span,
                        format!("`{symbol}` compares numbers or strings, not {one} with {other}"),
                    );
                }
            }
        }
    }

    fn equality(&mut self, comparison: Comparison, left: (&Node, &Type), right: (&Node, &Type)) {
        if left.1.may_equal(right.1) {
            self.choices(comparison, left, right);
            self.choices(comparison, right, left);
            return;
        }
        let [(one, one_type), (other, other_type)] = [left, right];
        let message = format!(
            "{} is {one_type} and {} is {other_type}: they are never equal",
            quote(self.expression.source(one)),
            quote(self.expression.source(other)),
        );
        let problem = Diagnostic::new(Code::TypeMismatch, other.span, message);
        let quoted = [(one, other_type), (other, one_type)].into_iter().find_map(unquoted);
        self.report(match quoted {
            Some(text) => problem.help(format!("leave out the quotes: `{text}`")),
            None => problem,
        });
    }

    fn membership(&mut self, (left, left_type): (&Node, Type), (right, right_type): (&Node, Type)) {
        match right_type {
            Type::Any => {}
            Type::List(item) => {
                if !left_type.may_equal(&item) {
                    let what = quote(self.expression.source(left));
                    let list = Type::List(item);
                    self.mismatch(left.span, format!("{what} is {left_type}, which is never in {list}"));
                } else if let Kind::List(items) = &right.kind {
                    for item in items {
                        self.choices(Comparison::Equal, (left, &left_type), (item, &Type::Any));
                    }
                }
            }
            Type::Record(_) if left_type.clone().required().is_text() => {}
            Type::Record(_) => {
                self.mismatch(left.span, format!("the fields of a mapping are strings, not {left_type}"));
            }
            ty => {
                let problem = Diagnostic::new(
                    Code::TypeMismatch,
                    right.span,
                    format!("`in` looks into a list or a mapping, not into {ty}"),
                );
                let (left, right) = (self.expression.source(left), self.expression.source(right));
                let help = format!("use `{right}.contains({left})`");
                self.report(if ty.is_text() { problem.help(help) } else { problem });
            }
        }
    }

    /// Warns when a closed set of texts is compared with something that is never in it.
    fn choices(&mut self, comparison: Comparison, subject: (&Node, &Type), other: (&Node, &Type)) {
        let Type::Choice(choices) = subject.1.clone().required() else { return };
        let others = if let Type::Choice(others) = other.1 { others.len() } else { 1 };
        if !self.scope.spend(Effort::Words(choices.len().saturating_mul(others))) {
            return;
        }
        let always = if comparison == Comparison::NotEqual { ", so this is always true" } else { "" };
        let expression = self.expression;
        let name = || quote(expression.source(subject.0));
        let node = other.0;
        match (&node.kind, other.1) {
            (Kind::Literal(Value::Text(text)), _) if !choices.iter().any(|choice| choice == text) => {
                let mut problem = Diagnostic::new(
                    Code::NeverTrue,
                    node.span,
                    format!("{} is never `{}`{always}", name(), excerpt(text)),
                )
                .help(format!("it is one of {}", few(&choices)));
                let worth_it = self.scope.spend(SUGGESTION);
                if let Some(found) = nearest(text, choices.iter().map(SmolStr::as_str).filter(|_| worth_it)) {
                    problem = problem.label(format!("did you mean `{found}`?"));
                    if let Some(inside) = self.inside_quotes(node, found) {
                        problem = problem.fix(inside, found);
                    }
                }
                self.report(problem);
            }
            (_, Type::Choice(others))
                if !choices.iter().any(|choice| others.contains(choice))
                // Both sides are sets; the first look at the pair reports it.
                && subject.0.local < node.local =>
            {
                let what = quote(self.expression.source(node));
                self.report(
                    Diagnostic::new(
                        Code::NeverTrue,
                        node.span,
                        format!("{} is never {what}{always}", name()),
                    )
                    .help(format!(
                        "one is of {}, the other of {}",
                        few(&choices),
                        few(others)
                    )),
                );
            }
            _ => {}
        }
    }

    /// Returns where the inside of a quoted text stands in the file, when it can be replaced as it is.
    fn inside_quotes(&self, node: &Node, replacement: &str) -> Option<Span> {
        let source = self.expression.source(node);
        let plain = source.starts_with(['"', '\'']) && source.len() == node.span.range().len();
        let simple =
            replacement.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
        (plain && simple).then(|| Span::new(node.span.start as usize + 1, node.span.end as usize - 1))
    }
}

/// Lists the first choices.
fn few(choices: &[SmolStr]) -> String {
    let shown = list(choices.iter().take(SHORT).map(|choice| excerpt(choice)));
    if choices.len() > SHORT { format!("{shown} and {} more", choices.len() - SHORT) } else { shown }
}

/// Returns the text of a literal that would fit if it had no quotes.
fn unquoted<'a>((node, wanted): (&'a Node, &Type)) -> Option<&'a str> {
    let Kind::Literal(Value::Text(text)) = &node.kind else { return None };
    let fits = match wanted.clone().required() {
        Type::Int => text.parse::<i64>().is_ok(),
        Type::Float => text.parse::<f64>().is_ok(),
        Type::Bool => text == "true" || text == "false",
        _ => false,
    };
    fits.then_some(text)
}
