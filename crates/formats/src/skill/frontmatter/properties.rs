//! What may stand before a value: its tag, its anchor; and the alias that stands for one.

use super::data::{Data, Kind, Text};
use super::resolve;
use super::scan::{Failure, Scanner, is_flow, is_space};
use std::rc::Rc;

/// A tag, as far as it matters.
#[derive(Clone, PartialEq)]
pub(super) enum Tag<'a> {
    /// `!`: a text, whatever it looks like.
    Plain,
    /// `!!name` or `!<tag:yaml.org,2002:name>`.
    Core(&'a str),
    Unknown(&'a str),
}

impl<'a> Scanner<'a> {
    pub(super) fn tag(&mut self, tag: &mut Option<Tag<'a>>) -> Result<bool, Failure> {
        if self.here() != b'!' {
            return Ok(false);
        }
        if tag.is_some() {
            return self.fail("a value has two tags");
        }
        let start = self.position;
        let text: &'a str = self.text;
        if self.at(start + 1) == b'<' {
            let Some(length) = text[start..].find('>') else { return self.fail("a tag is not closed") };
            self.position = start + length + 1;
            let name = &text[start + 2..start + length];
            *tag = Some(match name.strip_prefix("tag:yaml.org,2002:") {
                Some(core) => Tag::Core(core),
                None if name == "!" => Tag::Plain,
                None => Tag::Unknown(name),
            });
            return Ok(true);
        }
        while self.position < text.len() && !is_space(self.here()) {
            self.position += 1;
        }
        let written = &text[start..self.position];
        if written.bytes().any(is_flow) {
            return self.fail("a tag has brackets or commas in it");
        }
        *tag = Some(match written.strip_prefix("!!") {
            _ if written == "!" => Tag::Plain,
            Some(core) if !core.contains('!') => Tag::Core(core),
            _ => Tag::Unknown(written),
        });
        Ok(true)
    }

    pub(super) fn anchor(&mut self, anchor: &mut Option<&'a str>) -> Result<bool, Failure> {
        if self.here() != b'&' {
            return Ok(false);
        }
        if anchor.is_some() {
            return self.fail("a value has two anchors");
        }
        *anchor = Some(self.word_after_mark("an anchor has no name")?);
        Ok(true)
    }

    pub(super) fn alias(&mut self) -> Result<Option<Data<'a>>, Failure> {
        if self.here() != b'*' {
            return Ok(None);
        }
        let name = self.word_after_mark("an alias has no name")?;
        let Some(data) = self.anchors.get(name).cloned() else {
            return self.fail(format!("the alias `*{name}` has no anchor"));
        };
        self.separation(true)?;
        Ok(Some(data))
    }

    fn word_after_mark(&mut self, missing: &str) -> Result<&'a str, Failure> {
        self.position += 1;
        let start = self.position;
        while self.position < self.text.len() && !is_space(self.here()) && !is_flow(self.here()) {
            self.position += 1;
        }
        if self.position == start {
            return self.fail(missing);
        }
        let text: &'a str = self.text;
        Ok(&text[start..self.position])
    }

    /// Returns what an explicit tag makes of a value, and whether it asks for a merge.
    pub(super) fn tagged(&self, tag: &Tag<'a>, data: Data<'a>) -> Result<(Data<'a>, bool), Failure> {
        let name = match tag {
            Tag::Plain => return Ok((data, false)),
            Tag::Core(name) => *name,
            Tag::Unknown(name) => return self.fail(format!("the tag `{name}` is not known")),
        };
        let wanted = match name {
            "str" | "null" | "bool" | "int" | "float" | "timestamp" | "binary" | "merge" => Kind::Scalar,
            "seq" | "omap" | "pairs" => Kind::List,
            "map" | "set" => Kind::Map,
            _ => return self.fail(format!("the tag `!!{name}` is not known")),
        };
        if data.kind().is_some_and(|kind| kind != wanted) {
            return self.fail(format!("the tag `!!{name}` does not fit its value"));
        }
        let text = match &data {
            Data::Text(text) => Some(text),
            _ => None,
        };
        let made = match name {
            "str" if matches!(data, Data::Null) => Some(Data::Text(Text::Written(""))),
            "seq" | "omap" | "pairs" if matches!(data, Data::Null) => Some(Data::List(Rc::default())),
            "map" | "set" if matches!(data, Data::Null) => Some(Data::Map(Rc::default())),
            "str" | "seq" | "map" | "omap" | "pairs" | "set" => Some(data.clone()),
            "null" => match text {
                None => Some(Data::Null),
                Some(text) => resolve::is_null(text).then_some(Data::Null),
            },
            "bool" => text.and_then(|text| resolve::boolean(text)).map(Data::Bool),
            "int" => text.and_then(|text| resolve::integer(text)).map(Data::Number),
            "float" => text.and_then(|text| resolve::float(text)).map(Data::Number),
            "timestamp" => {
                text.filter(|text| resolve::is_timestamp(text)).map(|text| Data::Date(text.clone()))
            }
            "merge" => text.is_none_or(|text| &**text == "<<").then(|| data.clone()),
            _ => text.filter(|text| is_base64(text)).map(|text| Data::Bytes(text.clone())),
        };
        match made {
            Some(made) => Ok((made, name == "merge")),
            None => self.fail(format!("the tag `!!{name}` does not fit its value")),
        }
    }
}

fn is_base64(text: &str) -> bool {
    let letters = text.bytes().filter(|byte| !matches!(byte, b'=' | b'\n' | b'\r'));
    let mut count = 0_usize;
    for letter in letters {
        if !(letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'/')) {
            return false;
        }
        count += 1;
    }
    let padding = text.bytes().filter(|byte| *byte == b'=').count();
    ((count + padding) * 6).is_multiple_of(8)
}
