//! What is known about a value before anything runs.

use crate::value::Value;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The type of a value, as far as validation can know it.
#[derive(Debug, Clone)]
pub enum Type {
    /// `null`.
    Null,
    /// A boolean.
    Bool,
    /// A whole number.
    Int,
    /// A number, whole or not.
    Float,
    /// A text.
    Text,
    /// A text out of a closed set: an input with `enum`, a step's `status`, an approval's answer.
    Choice(Arc<[SmolStr]>),
    /// A list whose items have one type.
    List(Box<Type>),
    /// A mapping whose fields are known.
    Record(Arc<dyn RecordType>),
    /// The type, or nothing: an input that need not be given.
    ///
    /// Operators take it for what it holds, and fail at run time when there is nothing.
    Optional(Box<Type>),
    /// Not known before the run; everything is allowed and checked then.
    Any,
}

/// The fields of a mapping.
///
/// An implementor answers `field` without going through all fields: an ability may have thousands of steps.
pub trait RecordType: fmt::Debug + Send + Sync {
    /// Returns the type of a field, or `None` when there is no such field.
    fn field(&self, name: &str) -> Option<Type>;
    /// Returns the names of all fields, in the order in which messages list them.
    fn names(&self) -> Vec<&str>;
    /// Returns what messages call one of the fields: a step, an input.
    fn noun(&self) -> &'static str {
        "field"
    }
}

/// The names that an expression may start with.
pub trait Scope {
    /// Returns the type of a root name, or `None` when it is unknown.
    fn root(&self, name: &str) -> Option<Type>;
    /// Returns all root names, in the order in which messages list them.
    fn roots(&self) -> Vec<&str>;
    /// Says where a name that is not known here can be used.
    fn elsewhere(&self, _name: &str) -> Option<&'static str> {
        None
    }
    /// Asks for the effort that a costly check takes, and returns whether it may be made.
    ///
    /// A scope that is shared by thousands of expressions bounds the sum.
    fn spend(&self, _effort: Effort) -> bool {
        true
    }
}

/// What a costly check takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// To check a regular expression; see [`crate::value::effort`].
    Regex(usize),
    /// To compare this many pairs of words.
    Words(usize),
}

/// Named types: the plain implementation of [`RecordType`] and [`Scope`].
#[derive(Debug, Clone, Default)]
pub struct Fields(BTreeMap<SmolStr, Type>);

impl<Name: Into<SmolStr>> FromIterator<(Name, Type)> for Fields {
    fn from_iter<Source: IntoIterator<Item = (Name, Type)>>(fields: Source) -> Self {
        Self(fields.into_iter().map(|(name, ty)| (name.into(), ty)).collect())
    }
}

impl RecordType for Fields {
    fn field(&self, name: &str) -> Option<Type> {
        self.0.get(name).cloned()
    }

    fn names(&self) -> Vec<&str> {
        self.0.keys().map(SmolStr::as_str).collect()
    }
}

impl Scope for Fields {
    fn root(&self, name: &str) -> Option<Type> {
        self.field(name)
    }

    fn roots(&self) -> Vec<&str> {
        self.names()
    }
}

impl Type {
    /// Builds the type of a mapping from its fields.
    pub fn record<Name: Into<SmolStr>>(fields: impl IntoIterator<Item = (Name, Type)>) -> Self {
        Self::Record(Arc::new(fields.into_iter().collect::<Fields>()))
    }

    /// Builds the type of a text that is one of these words.
    pub fn choice<Word: Into<SmolStr>>(words: impl IntoIterator<Item = Word>) -> Self {
        Self::Choice(words.into_iter().map(Into::into).collect())
    }

    /// Builds the type of a list of these items.
    pub fn list(item: Type) -> Self {
        Self::List(Box::new(item))
    }

    /// Returns the type of a value that is known.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Int(_) => Self::Int,
            Value::Float(_) => Self::Float,
            Value::Text(_) => Self::Text,
            Value::List(items) => {
                Self::list(items.iter().map(Self::of).reduce(Self::join).unwrap_or(Self::Any))
            }
            Value::Map(entries) => Self::record(entries.iter().map(|(name, value)| (name, Self::of(value)))),
        }
    }

    /// Returns the type without the possibility of nothing.
    #[must_use]
    pub fn required(self) -> Self {
        match self {
            Self::Optional(inner) => inner.required(),
            other => other,
        }
    }

    /// Returns the type of a value that is of one type or of the other.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Null, Self::Null) => Self::Null,
            (Self::Null, Self::Optional(inner)) | (Self::Optional(inner), Self::Null) => {
                Self::Optional(inner)
            }
            (Self::Null, other) | (other, Self::Null) => Self::Optional(Box::new(other)),
            (Self::Optional(one), other) | (other, Self::Optional(one)) => {
                Self::Optional(Box::new(one.required().join(other.required())))
            }
            (Self::Bool, Self::Bool) => Self::Bool,
            (Self::Int, Self::Int) => Self::Int,
            (Self::Int | Self::Float, Self::Int | Self::Float) => Self::Float,
            (Self::Choice(one), Self::Choice(other)) if one == other => Self::Choice(one),
            (Self::Text | Self::Choice(_), Self::Text | Self::Choice(_)) => Self::Text,
            (Self::List(one), Self::List(other)) => Self::list(one.join(*other)),
            (Self::Record(one), Self::Record(other)) if Arc::ptr_eq(&one, &other) => Self::Record(one),
            _ => Self::Any,
        }
    }

    /// Returns whether a value of this type can equal one of the other.
    pub fn may_equal(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _)
            | (_, Self::Any)
            | (Self::Optional(_) | Self::Null, Self::Optional(_) | Self::Null)
            | (Self::Bool, Self::Bool)
            | (Self::Int | Self::Float, Self::Int | Self::Float)
            | (Self::Text | Self::Choice(_), Self::Text | Self::Choice(_))
            | (Self::Record(_), Self::Record(_)) => true,
            (Self::Optional(inner), other) | (other, Self::Optional(inner)) => inner.may_equal(other),
            (Self::List(one), Self::List(other)) => one.may_equal(other),
            _ => false,
        }
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Float | Self::Any)
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self, Self::Text | Self::Choice(_) | Self::Any)
    }

    fn plural(&self) -> Option<&'static str> {
        Some(match self {
            Self::Bool => "booleans",
            Self::Int => "integers",
            Self::Float => "numbers",
            Self::Text | Self::Choice(_) => "strings",
            Self::List(_) => "lists",
            Self::Record(_) => "mappings",
            Self::Null | Self::Optional(_) | Self::Any => return None,
        })
    }
}

/// Writes the type in the words of [`Value::kind`].
impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("nothing"),
            Self::Bool => out.write_str("a boolean"),
            Self::Int => out.write_str("an integer"),
            Self::Float => out.write_str("a number"),
            Self::Text | Self::Choice(_) => out.write_str("a string"),
            Self::List(item) => match item.plural() {
                Some(items) => write!(out, "a list of {items}"),
                None => out.write_str("a list"),
            },
            Self::Record(_) => out.write_str("a mapping"),
            Self::Optional(inner) => inner.fmt(out),
            Self::Any => out.write_str("anything"),
        }
    }
}
