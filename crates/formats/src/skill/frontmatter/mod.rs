//! Reading the YAML of a `SKILL.md` exactly as leniently as the clients that share these files.
//!
//! They use gray-matter, and so js-yaml 3, whose reading differs from abide's own YAML in a hundred small things: which
//! texts fail and are then repaired, what is a date, where a tab may stand. Whether a skill has a name depends on all of
//! them, so frontmatter of skills has a reader of its own; a test holds it to gray-matter itself. It runs nothing, and
//! aliases are shared, so that no text grows.

mod data;
mod nodes;
mod properties;
mod resolve;
mod scalars;
mod scan;

pub(crate) use scan::Failure;

use abide_core::value::Value;
use data::{Budget, Data};
use scan::Scanner;
use std::borrow::Cow;

/// How many values one key may hold, aliases expanded.
const MOST_VALUES: usize = 10_000;
/// How many bytes more than twice its own length a text may hold, aliases expanded.
const MORE_BYTES: usize = 64 * 1024;

/// One key of frontmatter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    /// The key.
    pub(crate) key: String,
    /// What it holds.
    pub(crate) value: Held,
}

/// What a key holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Held {
    /// A text.
    Text(String),
    /// A date or bytes, which look like a text and are none.
    NoText(String),
    /// Anything else.
    Other(Value),
    /// More than is kept.
    TooMuch,
}

/// Reads the text between the fences; `None` when it is no mapping.
pub(crate) fn parse(text: &str) -> Result<Option<Vec<Field>>, Failure> {
    if let Some(at) = text.find('\0') {
        return Err(Failure { at, message: "the frontmatter holds a NUL character".to_owned() });
    }
    // The last block of lines keeps its line break, where there is none as well.
    let text: Cow<'_, str> =
        if text.ends_with(['\n', '\r']) { text.into() } else { format!("{text}\n").into() };
    let mut scanner = Scanner::new(&text);
    let entries = match scanner.document()? {
        Some(Data::Map(entries)) => entries,
        None | Some(Data::Null) => return Ok(Some(Vec::new())),
        Some(_) => return Ok(None),
    };
    // An escape can be longer than it is written, by half.
    let mut budget = Budget { values: 0, bytes: 2 * text.len() + MORE_BYTES };
    let fields = entries.iter().map(|entry| {
        budget.values = MOST_VALUES;
        let value = match &entry.value {
            Data::Text(text) => budget.text(text).map_or(Held::TooMuch, Held::Text),
            Data::Date(text) | Data::Bytes(text) => budget.text(text).map_or(Held::TooMuch, Held::NoText),
            other => other.plain(&mut budget).map_or(Held::TooMuch, Held::Other),
        };
        Field { key: entry.key.to_string(), value }
    });
    Ok(Some(fields.collect()))
}
