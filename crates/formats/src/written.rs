//! JSON that is written as it comes, into one text: events and snapshots are written with every step of a run, and to make a
//! [`Value`] of them first takes several times as long.

use abide_core::value::Value;
use abide_core::value::data::push_json_characters;
use std::fmt::{Display, Write};

/// Something that can be written as JSON.
pub(crate) trait Json {
    fn write(self, to: &mut String);
}

/// Returns the text of a mapping.
pub(crate) fn mapping(fill: impl FnOnce(&mut Map<'_>)) -> String {
    let mut text = String::with_capacity(128);
    map(fill).write(&mut text);
    text
}

/// A mapping under construction; what has its default is left out.
pub(crate) struct Map<'a> {
    text: &'a mut String,
    is_empty: bool,
}

impl Map<'_> {
    /// Adds a value, unless it is nothing, `false` or empty; a text is there also when it is empty. A name has no character that JSON
    /// would escape.
    pub(crate) fn with(&mut self, name: &str, value: impl Json) -> &mut Self {
        let before = self.text.len();
        let start = self.name(name);
        value.write(self.text);
        if matches!(&self.text[start..], "null" | "false" | "[]" | "{}") {
            self.text.truncate(before);
        } else {
            self.is_empty = false;
        }
        self
    }

    /// Adds a value that must come back as it is, also when it is empty.
    pub(crate) fn exactly(&mut self, name: &str, value: impl Json) -> &mut Self {
        self.name(name);
        value.write(self.text);
        self.is_empty = false;
        self
    }

    /// Writes a name and returns where its value begins.
    fn name(&mut self, name: &str) -> usize {
        self.text.push_str(if self.is_empty { "\"" } else { ",\"" });
        self.text.push_str(name);
        self.text.push_str("\":");
        self.text.len()
    }
}

/// A mapping inside another.
pub(crate) fn map<F: FnOnce(&mut Map<'_>)>(fill: F) -> impl Json {
    Mapping(fill)
}

struct Mapping<F>(F);

impl<F: FnOnce(&mut Map<'_>)> Json for Mapping<F> {
    fn write(self, to: &mut String) {
        to.push('{');
        (self.0)(&mut Map { text: to, is_empty: true });
        to.push('}');
    }
}

/// Something that is written as its text.
pub(crate) fn text<T: Display + ?Sized>(value: &T) -> Text<'_, T> {
    Text(value)
}

/// The same, where it is there.
pub(crate) fn maybe<T: Display + ?Sized>(value: Option<&T>) -> Option<Text<'_, T>> {
    value.map(Text)
}

pub(crate) struct Text<'a, T: ?Sized>(&'a T);

impl<T: Display + ?Sized> Json for Text<'_, T> {
    fn write(self, to: &mut String) {
        to.push('"');
        // A string takes everything.
        let _ = write!(Escaped(to), "{}", self.0);
        to.push('"');
    }
}

/// Escapes what a JSON text cannot hold as it is.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        push_json_characters(self.0, piece)
    }
}

pub(crate) fn int(value: impl Into<i64>) -> i64 {
    value.into()
}

impl Json for i64 {
    fn write(self, to: &mut String) {
        let _ = write!(to, "{self}");
    }
}

impl Json for bool {
    fn write(self, to: &mut String) {
        to.push_str(if self { "true" } else { "false" });
    }
}

impl Json for String {
    fn write(self, to: &mut String) {
        text(&self).write(to);
    }
}

impl Json for &Value {
    fn write(self, to: &mut String) {
        self.push_json(to);
    }
}

impl<T: Json> Json for Option<T> {
    fn write(self, to: &mut String) {
        match self {
            Some(value) => value.write(to),
            None => to.push_str("null"),
        }
    }
}

/// Two values in a list.
impl<A: Json, B: Json> Json for (A, B) {
    fn write(self, to: &mut String) {
        to.push('[');
        self.0.write(to);
        to.push(',');
        self.1.write(to);
        to.push(']');
    }
}

/// Values in a list.
pub(crate) fn list<I: IntoIterator<Item: Json>>(items: I) -> impl Json {
    List(items)
}

struct List<I>(I);

impl<I: IntoIterator<Item: Json>> Json for List<I> {
    fn write(self, to: &mut String) {
        to.push('[');
        for (index, item) in self.0.into_iter().enumerate() {
            if index > 0 {
                to.push(',');
            }
            item.write(to);
        }
        to.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_its_default_is_left_out_and_what_must_come_back_is_not() {
        let nothing = || {
            map(|map| {
                map.with("a", false).with("b", None::<i64>);
            })
        };
        let written = mapping(|map| {
            map.with("off", false)
                .with("none", None::<i64>)
                .with("list", list([0_i64; 0]))
                .with("map", nothing())
                .with("text", text(""))
                .with("one", int(1))
                .with("pair", (text("a\"\n\u{1}é"), true))
                .exactly("exactly", nothing())
                .with("deep", list([Some(int(7)), None]));
        });
        let expected = r#"{"text":"","one":1,"pair":["a\"\n\u0001é",true],"exactly":{},"deep":[7,null]}"#;
        assert_eq!(written, expected);
        assert!(crate::json::parse(&written).is_ok());
    }
}
