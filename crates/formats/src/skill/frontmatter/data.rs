//! What frontmatter holds, with the types that other clients give it.

use abide_core::value::Value;
use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
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

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text<'_> {}

impl Hash for Text<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        self
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
pub(super) struct Entries<'a> {
    list: Vec<Entry<'a>>,
    /// Where each key stands, once there are many.
    places: HashMap<Text<'a>, usize>,
}

/// From how many entries on a table finds them faster than looking at each.
const MANY: usize = 32;

#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: Text<'a>,
    pub(super) value: Data<'a>,
    /// Whether a merge brought it, so that the mapping's own key may come after.
    merged: bool,
}

/// How much of what is written is kept: what aliases repeat would have no end.
pub(super) struct Budget {
    /// How many values.
    pub(super) values: usize,
    /// How many bytes of text.
    pub(super) bytes: usize,
}

impl Budget {
    /// Returns a text as one of its own, if there is room for it.
    pub(super) fn text(&mut self, text: &str) -> Option<String> {
        self.bytes = self.bytes.checked_sub(text.len())?;
        Some(text.to_owned())
    }
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
        match self.place(&key) {
            Some(place) if self.list[place].merged => {
                self.list[place] = Entry { key, value, merged: false };
                true
            }
            Some(_) => false,
            None => {
                self.push(Entry { key, value, merged: false });
                true
            }
        }
    }

    /// Returns the entries in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<'a>> {
        self.list.iter()
    }

    /// Returns how many entries there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    fn place(&self, key: &str) -> Option<usize> {
        match self.list.len() {
            ..MANY => self.list.iter().position(|entry| *entry.key == *key),
            _ => self.places.get(key).copied(),
        }
    }

    fn push(&mut self, entry: Entry<'a>) {
        self.list.push(entry);
        // Those that came before there were many are put into the table together.
        let new = match self.list.len() {
            ..MANY => return,
            MANY => 0,
            more => more - 1,
        };
        let places = self.list.iter().enumerate().skip(new).map(|(place, entry)| (entry.key.clone(), place));
        self.places.extend(places);
    }

    /// Adds what another mapping has and this one does not.
    pub(super) fn merge(&mut self, other: &Self) {
        for entry in &other.list {
            if self.place(&entry.key).is_none() {
                self.push(Entry { key: entry.key.clone(), value: entry.value.clone(), merged: true });
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

    /// Returns the value as plain data, as far as the budget goes; aliases may repeat much.
    pub(super) fn plain(&self, budget: &mut Budget) -> Option<Value> {
        budget.values = budget.values.checked_sub(1)?;
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            #[expect(clippy::cast_possible_truncation, reason = "the range was looked at")]
            Self::Number(value) if value.fract() == 0.0 && value.abs() < 9e15 => Value::Int(*value as i64),
            Self::Number(value) => Value::Float(*value),
            Self::Date(text) | Self::Bytes(text) | Self::Text(text) => Value::Text(budget.text(text)?),
            Self::List(items) => {
                Value::List(items.iter().map(|item| item.plain(budget)).collect::<Option<_>>()?)
            }
            Self::Map(entries) => {
                let pairs =
                    entries.iter().map(|entry| Some((budget.text(&entry.key)?, entry.value.plain(budget)?)));
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
    } else if value.abs() >= 1e21 || (value != 0.0 && value.abs() < 1e-6) {
        let text = format!("{value:e}");
        if text.contains("e-") { text } else { text.replace('e', "e+") }
    } else {
        format!("{value}")
    }
}
