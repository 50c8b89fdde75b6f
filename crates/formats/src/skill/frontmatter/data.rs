//! What frontmatter holds, with the types that other clients give it.

use abide_core::value::Value;
use std::borrow::Cow;
use std::ops::Deref;
use std::rc::Rc;

/// A value of frontmatter; what an alias repeats is shared.
#[derive(Debug, Clone)]
pub(super) enum Data<'a> {
    Null,
    Bool(bool),
    Number(f64),
    /// A date or a time, as it was written.
    Date(Text<'a>),
    /// `!!binary`, as it was written.
    Bytes(Text<'a>),
    Text(Text<'a>),
    List(Rc<Vec<Data<'a>>>),
    Map(Rc<Entries<'a>>),
}

/// A text: most stand in the file just as they are, the others are shared.
#[derive(Debug, Clone)]
pub(super) enum Text<'a> {
    Written(&'a str),
    Made(Rc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Written(text) => text,
            Self::Made(text) => text,
        }
    }
}

impl<'a> From<Cow<'a, str>> for Text<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        match text {
            Cow::Borrowed(text) => Self::Written(text),
            Cow::Owned(text) => Self::Made(text.into()),
        }
    }
}

/// The entries of a mapping; keys are text, whatever was written.
#[derive(Debug, Default)]
pub(super) struct Entries<'a>(pub(super) Vec<Entry<'a>>);

#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: Text<'a>,
    pub(super) value: Data<'a>,
    /// Whether a merge brought it, so that the mapping's own key may come after.
    merged: bool,
}

/// The kinds of node that tags tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar,
    List,
    Map,
}

impl<'a> Entries<'a> {
    /// Adds a key of the mapping's own; false when it has it.
    pub(super) fn own(&mut self, key: Text<'a>, value: Data<'a>) -> bool {
        match self.0.iter_mut().find(|entry| *entry.key == *key) {
            Some(entry) if entry.merged => {
                entry.value = value;
                entry.merged = false;
                true
            }
            Some(_) => false,
            None => {
                self.0.push(Entry { key, value, merged: false });
                true
            }
        }
    }

    /// Adds what another mapping has and this one does not.
    pub(super) fn merge(&mut self, other: &Self) {
        for entry in &other.0 {
            if !self.0.iter().any(|known| *known.key == *entry.key) {
                self.0.push(Entry { key: entry.key.clone(), value: entry.value.clone(), merged: true });
            }
        }
    }
}

impl<'a> Data<'a> {
    pub(super) fn kind(&self) -> Option<Kind> {
        match self {
            Self::Null => None,
            Self::Bool(_) | Self::Number(_) | Self::Date(_) | Self::Bytes(_) | Self::Text(_) => {
                Some(Kind::Scalar)
            }
            Self::List(_) => Some(Kind::List),
            Self::Map(_) => Some(Kind::Map),
        }
    }

    /// Returns the text that stands for the value when it is a key.
    pub(super) fn as_key(&self) -> Text<'a> {
        match self {
            Self::Null => Text::Written("null"),
            Self::Bool(value) => Text::Written(if *value { "true" } else { "false" }),
            Self::Number(value) => Text::Made(number_text(*value).into()),
            Self::Date(text) | Self::Bytes(text) | Self::Text(text) => text.clone(),
            Self::List(items) => {
                let mut key = String::new();
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        key.push(',');
                    }
                    if !matches!(item, Self::Null) {
                        key.push_str(&item.as_key());
                    }
                }
                Text::Made(key.into())
            }
            Self::Map(_) => Text::Written("[object Object]"),
        }
    }

    /// Returns the value as plain data, as far as `budget` values go; aliases may repeat much.
    pub(super) fn plain(&self, budget: &mut usize) -> Option<Value> {
        *budget = budget.checked_sub(1)?;
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            #[expect(clippy::cast_possible_truncation, reason = "the range was looked at")]
            Self::Number(value) if value.fract() == 0.0 && value.abs() < 9e15 => Value::Int(*value as i64),
            Self::Number(value) => Value::Float(*value),
            Self::Date(text) | Self::Bytes(text) | Self::Text(text) => Value::Text(text.to_string()),
            Self::List(items) => {
                Value::List(items.iter().map(|item| item.plain(budget)).collect::<Option<_>>()?)
            }
            Self::Map(entries) => {
                let entries = entries.0.iter();
                let pairs = entries.map(|entry| Some((entry.key.to_string(), entry.value.plain(budget)?)));
                Value::Map(pairs.collect::<Option<_>>()?)
            }
        })
    }
}

/// Returns a number as JavaScript prints it, as far as keys have use for it.
fn number_text(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else {
        format!("{value}")
    }
}
