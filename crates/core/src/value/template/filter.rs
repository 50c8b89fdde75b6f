//! What may follow a `|` in a placeholder.

use super::{LARGEST_RENDERING, as_text};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::value::Value;
use crate::value::expression::{EvaluationError, Expression, Failure, Lookup, Scope, Type, size, text};

/// A filter and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// What it does.
    pub kind: FilterKind,
    /// Where it stands in the file.
    pub span: Span,
}

/// What a filter does with the value before it.
#[derive(Debug, Clone, PartialEq)]
pub enum FilterKind {
    /// `default(x)`: `x` when there is no value.
    Default(Expression),
    /// `upper`: a text in capitals.
    Upper,
    /// `lower`: a text in small letters.
    Lower,
    /// `trim`: a text without space around it.
    Trim,
    /// `json`: any value as JSON, a text with its quotes.
    Json,
    /// `join(separator)`: the items of a list in one text.
    Join(Expression),
    /// `first`: the first item of a list.
    First,
    /// `last`: the last item of a list.
    Last,
    /// `length`: how many characters, items or fields.
    Length,
    /// `lines`: the lines of a text as a list.
    Lines,
}

impl FilterKind {
    /// Returns the name by which the filter is written.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Default(_) => "default",
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::Trim => "trim",
            Self::Json => "json",
            Self::Join(_) => "join",
            Self::First => "first",
            Self::Last => "last",
            Self::Length => "length",
            Self::Lines => "lines",
        }
    }
}

impl Filter {
    /// Every name that may follow a `|`.
    pub(super) const NAMES: [&str; 11] =
        ["default", "upper", "lower", "trim", "json", "join", "first", "last", "length", "lines", "raw"];

    /// Returns the value between the parentheses.
    pub fn argument(&self) -> Option<&Expression> {
        match &self.kind {
            FilterKind::Default(argument) | FilterKind::Join(argument) => Some(argument),
            _ => None,
        }
    }

    pub(super) fn is_default(&self) -> bool {
        matches!(self.kind, FilterKind::Default(_))
    }

    /// Returns the type of the filtered value, and adds what does not fit to `problems`.
    pub(super) fn check(&self, ty: Type, scope: &dyn Scope, problems: &mut Vec<Diagnostic>) -> Type {
        let argument = self.argument().map(|argument| {
            let checked = argument.check(scope);
            problems.extend(checked.problems);
            checked.ty
        });
        if let FilterKind::Default(_) = self.kind {
            let otherwise = argument.unwrap_or(Type::Any);
            return if matches!(ty, Type::Null) { otherwise } else { ty.required().join(otherwise) };
        }
        let ty = ty.required();
        let is_list = matches!(ty, Type::List(_) | Type::Any);
        let (fits, wanted, result) = match &self.kind {
            FilterKind::Upper | FilterKind::Lower | FilterKind::Trim => {
                (ty.is_text(), "a string", Type::Text)
            }
            FilterKind::Lines => (ty.is_text(), "a string", Type::list(Type::Text)),
            FilterKind::Join(_) => (is_list, "a list", Type::Text),
            FilterKind::First | FilterKind::Last => {
                let item = if let Type::List(item) = &ty { (**item).clone() } else { Type::Any };
                (is_list, "a list", item)
            }
            FilterKind::Length => {
                let fits = ty.is_text() || is_list || matches!(ty, Type::Record(_));
                (fits, "a string, a list or a mapping", Type::Int)
            }
            FilterKind::Json | FilterKind::Default(_) => (true, "anything", Type::Text),
        };
        let name = self.kind.name();
        let mut mismatch = |message| problems.push(Diagnostic::new(Code::TypeMismatch, self.span, message));
        if !fits {
            mismatch(format!("`{name}` needs {wanted}, not {ty}"));
        }
        if let (FilterKind::Join(_), Some(separator)) = (&self.kind, argument)
            && !separator.clone().required().is_text()
        {
            mismatch(format!("`join` puts a string between the items, not {separator}"));
        }
        result
    }

    /// Returns the filtered value.
    pub(super) fn apply(&self, value: Value, lookup: &dyn Lookup) -> Result<Value, EvaluationError> {
        let name = self.kind.name();
        let result = match &self.kind {
            FilterKind::Default(otherwise) => {
                return if value == Value::Null { otherwise.evaluate(lookup) } else { Ok(value) };
            }
            FilterKind::Join(separator) => {
                let separator = separator.evaluate(lookup)?;
                list(name, &value).and_then(|items| join(items, text(name, &separator)?))
            }
            FilterKind::Upper => text(name, &value).map(|text| Value::Text(text.to_uppercase())),
            FilterKind::Lower => text(name, &value).map(|text| Value::Text(text.to_lowercase())),
            FilterKind::Trim => text(name, &value).map(|text| Value::Text(text.trim().to_owned())),
            FilterKind::Lines => text(name, &value)
                .map(|text| Value::List(text.lines().map(|line| Value::Text(line.to_owned())).collect())),
            FilterKind::Json => Ok(Value::Text(value.to_string())),
            FilterKind::First => list(name, &value).and_then(|items| end_item(name, items.first())),
            FilterKind::Last => list(name, &value).and_then(|items| end_item(name, items.last())),
            FilterKind::Length => size(name, &value).map(Value::Int),
        };
        result.map_err(|failure| failure.at(self.span))
    }
}

fn list<'a>(name: &str, value: &'a Value) -> Result<&'a [Value], Failure> {
    match value {
        Value::List(items) => Ok(items),
        other => Err(Failure::wrong_type(format!("`{name}` needs a list, not {}", other.kind()))),
    }
}

/// An empty list has no end; `default` may follow.
fn end_item(name: &str, item: Option<&Value>) -> Result<Value, Failure> {
    item.cloned().ok_or_else(|| Failure::Missing(format!("`{name}` of an empty list")))
}

fn join(items: &[Value], separator: &str) -> Result<Value, Failure> {
    let mut out = String::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        out.push_str(&as_text(item));
        if out.len() > LARGEST_RENDERING {
            return Err(Failure::TooLarge(LARGEST_RENDERING));
        }
    }
    Ok(Value::Text(out))
}
