//! Turns an expression and the values of a run into one value, or into an error that says where.
//!
//! It fails closed: a name without a value, kinds that cannot be compared and numbers that do not fit are
//! errors. Errors carry no values, because a value may be a secret.

use super::ast::{Kind, Node, Operation, OperationKind, Path};
use super::operate;
use super::problem::quote;
use super::{Expression, ast};
use crate::source::Span;
use crate::value::Value;
use std::borrow::Cow;
use std::cell::Cell;

/// The values that an expression sees.
pub trait Lookup {
    /// Returns the value at the end of a path such as `["steps", "build", "output"]`, or `None` when there
    /// is none. A prefix of a path that has a value has one too (a mapping).
    fn path(&self, segments: &[&str]) -> Option<Cow<'_, Value>>;

    /// Returns whether the value at this path, or anything under it, must not be shown.
    fn is_secret(&self, _segments: &[&str]) -> bool {
        false
    }
}

/// A mapping is looked up by its keys.
impl Lookup for Value {
    fn path(&self, segments: &[&str]) -> Option<Cow<'_, Value>> {
        segments.iter().try_fold(self, |value, segment| value.get(segment)).map(Cow::Borrowed)
    }
}

/// Why an expression has no value, and which part of it is to blame.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{failure}")]
pub struct EvaluationError {
    /// What went wrong.
    pub failure: Failure,
    /// Where in the file.
    pub span: Span,
}

/// What can go wrong when an expression is evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A name leads to nothing; `default` and `has` help.
    #[error("{0} has no value")]
    Missing(String),
    /// A value is of a kind that does not fit; validation could not know.
    #[error("{0}")]
    WrongType(String),
    /// A number is too large, or a result is not finite.
    #[error("the result is larger than abide can count")]
    Overflow,
    /// The right side of `/` or `%` is zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A list has no item at this index.
    #[error("index {index} is out of range for a list of length {length}")]
    OutOfRange {
        /// The index that was asked for.
        index: i64,
        /// How many items there are.
        length: usize,
    },
    /// A text cannot be read as what it should become.
    #[error("the text is not {0}")]
    Unreadable(&'static str),
    /// A regular expression that is not a literal cannot be used.
    #[error("the regular expression {0}")]
    BadRegex(String),
    /// A result would take more memory than an expression may use.
    #[error("the result is larger than {0} bytes")]
    TooLarge(usize),
    /// A floating-point value that is not a number was to be compared or converted.
    #[error("the value is not a number")]
    NotANumber,
}

impl Failure {
    pub(crate) fn at(self, span: Span) -> EvaluationError {
        EvaluationError { failure: self, span }
    }

    pub(crate) fn wrong_type(message: impl Into<String>) -> Self {
        Self::WrongType(message.into())
    }
}

/// How many bytes one evaluation may copy in all.
const LARGEST_WORK: usize = 16 << 20;

pub(super) fn evaluate(expression: &Expression, lookup: &dyn Lookup) -> Result<Value, EvaluationError> {
    evaluate_node(expression, &expression.root, lookup)
}

pub(super) fn evaluate_condition(
    expression: &Expression,
    lookup: &dyn Lookup,
) -> Result<bool, EvaluationError> {
    match evaluate(expression, lookup)? {
        Value::Bool(holds) => Ok(holds),
        other => {
            let message = format!("a condition is true or false, and this is {}", other.kind());
            Err(Failure::WrongType(message).at(expression.root.span))
        }
    }
}

pub(super) fn evaluate_node(
    expression: &Expression,
    node: &Node,
    lookup: &dyn Lookup,
) -> Result<Value, EvaluationError> {
    let evaluator = Evaluator { expression, lookup, work: Cell::new(0) };
    evaluator.node(node).map(Cow::into_owned)
}

struct Evaluator<'a> {
    expression: &'a Expression,
    lookup: &'a dyn Lookup,
    work: Cell<usize>,
}

type Evaluated<'a> = Result<Cow<'a, Value>, EvaluationError>;

impl<'a> Evaluator<'a> {
    fn node(&self, node: &'a Node) -> Evaluated<'a> {
        let owned = |value| Ok(Cow::Owned(value));
        match &node.kind {
            Kind::Literal(value) => Ok(Cow::Borrowed(value)),
            Kind::List(items) => {
                let items = items.iter().map(|item| self.copy(item)).collect::<Result<_, _>>()?;
                owned(Value::List(items))
            }
            Kind::Path(path) => self.path(path),
            Kind::Has(path) => {
                let found = self.lookup.path(&path.names());
                owned(Value::Bool(found.is_some_and(|value| *value != Value::Null)))
            }
            Kind::Postfix(base, operations) => operations
                .iter()
                .try_fold(self.node(base)?, |value, operation| self.operation(value, operation)),
            Kind::Call(function, subject) => {
                let value = self.node(subject)?;
                self.call(*function, &value, None, node.span)
            }
            Kind::Not(operand) => owned(Value::Bool(!self.boolean(operand, "!")?)),
            Kind::Negate(operand) => {
                let value = self.node(operand)?;
                operate::negate(&value).map(Cow::Owned).map_err(|failure| failure.at(node.span))
            }
            Kind::And(operands) => self.until(operands, "&&", false),
            Kind::Or(operands) => self.until(operands, "||", true),
            Kind::Compare(comparison, sides) => {
                let (left, right) = (self.node(&sides.0)?, self.node(&sides.1)?);
                let holds = operate::compare(*comparison, &left, &right);
                holds.map(|holds| Cow::Owned(Value::Bool(holds))).map_err(|failure| failure.at(node.span))
            }
            Kind::Arithmetic(first, rest) => {
                let first = self.copy(first)?;
                let result = rest.iter().try_fold(first, |left, (operator, node)| {
                    let right = self.node(node)?;
                    self.spend(&right, node.span)?;
                    operate::arithmetic(*operator, left, &right).map_err(|failure| failure.at(node.span))
                });
                result.map(Cow::Owned)
            }
            Kind::Choose(parts) => {
                let (condition, then, otherwise) = &**parts;
                self.node(if self.boolean(condition, "?:")? { then } else { otherwise })
            }
        }
    }

    /// Evaluates from left to right until one operand is `decisive`, and leaves the rest alone.
    fn until(&self, operands: &'a [Node], operator: &str, decisive: bool) -> Evaluated<'a> {
        for operand in operands {
            if self.boolean(operand, operator)? == decisive {
                return Ok(Cow::Owned(Value::Bool(decisive)));
            }
        }
        Ok(Cow::Owned(Value::Bool(!decisive)))
    }

    fn boolean(&self, node: &'a Node, operator: &str) -> Result<bool, EvaluationError> {
        match &*self.node(node)? {
            Value::Bool(value) => Ok(*value),
            other => {
                let message = format!("`{operator}` needs a boolean, not {}", other.kind());
                Err(Failure::WrongType(message).at(node.span))
            }
        }
    }

    /// Evaluates to a value of its own, and counts what the copy takes.
    fn copy(&self, node: &'a Node) -> Result<Value, EvaluationError> {
        let value = self.node(node)?;
        self.spend(&value, node.span)?;
        Ok(value.into_owned())
    }

    fn spend(&self, value: &Value, span: Span) -> Result<(), EvaluationError> {
        let work = self.work.get().saturating_add(weight(value));
        self.work.set(work);
        if work > LARGEST_WORK { Err(Failure::TooLarge(LARGEST_WORK).at(span)) } else { Ok(()) }
    }

    fn path(&self, path: &'a Path) -> Evaluated<'a> {
        let names = path.names();
        if let Some(value) = self.lookup.path(&names) {
            return Ok(value);
        }
        // Some name on the way is the one that leads nowhere.
        let known =
            (1..names.len()).rev().find_map(|length| Some((length, self.lookup.path(&names[..length])?)));
        let (length, failure) = match known {
            Some((length, value)) if !matches!(*value, Value::Map(_) | Value::Null) => {
                (length, no_field(&names[..length].join("."), &value, names[length]))
            }
            Some((length, _)) => (length, Failure::Missing(quote(&names[..=length].join(".")))),
            None => (0, Failure::Missing(quote(names[0]))),
        };
        Err(failure.at(path.segments[length].span))
    }

    fn operation(&self, value: Cow<'a, Value>, operation: &'a Operation) -> Evaluated<'a> {
        let fail = |failure: Failure| failure.at(operation.span);
        match &operation.kind {
            OperationKind::Field(name) => self.field(value, name).map_err(fail),
            OperationKind::Index(index) => {
                let index = self.node(index)?;
                match &*index {
                    Value::Text(name) => self.field(value, name),
                    Value::Int(index) => item(value, *index),
                    other => Err(Failure::WrongType(format!(
                        "an index is an integer or a string, not {}",
                        other.kind()
                    ))),
                }
                .map_err(fail)
            }
            OperationKind::Call(function, argument) => {
                let argument = argument.as_ref().map(|node| self.node(node)).transpose()?;
                self.call(*function, &value, argument.as_deref(), operation.span)
            }
        }
    }

    fn field(&self, value: Cow<'a, Value>, name: &str) -> Result<Cow<'a, Value>, Failure> {
        child(value, |value| match value {
            Value::Map(_) | Value::Null => {
                value.get(name).ok_or_else(|| Failure::Missing(format!("the field `{name}`")))
            }
            other => Err(no_field(self.expression.text(), other, name)),
        })
    }

    fn call(
        &self,
        function: ast::Function,
        subject: &Value,
        argument: Option<&Value>,
        span: Span,
    ) -> Evaluated<'a> {
        let result = operate::apply(function, subject, argument).map_err(|failure| failure.at(span))?;
        self.spend(&result, span)?;
        Ok(Cow::Owned(result))
    }
}

fn item(value: Cow<'_, Value>, index: i64) -> Result<Cow<'_, Value>, Failure> {
    child(value, |value| match value {
        Value::List(items) => usize::try_from(index)
            .ok()
            .and_then(|at| items.get(at))
            .ok_or(Failure::OutOfRange { index, length: items.len() }),
        other => Err(Failure::WrongType(format!("{} has no items", other.kind()))),
    })
}

/// Steps into a value without copying what is only borrowed.
fn child(
    value: Cow<'_, Value>,
    pick: impl FnOnce(&Value) -> Result<&Value, Failure>,
) -> Result<Cow<'_, Value>, Failure> {
    match value {
        Cow::Borrowed(value) => pick(value).map(Cow::Borrowed),
        Cow::Owned(value) => pick(&value).cloned().map(Cow::Owned),
    }
}

fn no_field(base: &str, value: &Value, name: &str) -> Failure {
    Failure::WrongType(format!("{} is {} and has no field `{name}`", quote(base), value.kind()))
}

/// Returns about how many bytes a value takes.
fn weight(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::Text(text) => text.len(),
            Value::List(items) => items.iter().map(weight).sum(),
            Value::Map(entries) => entries.iter().map(|(name, value)| name.len() + weight(value)).sum(),
            _ => 0,
        }
}
