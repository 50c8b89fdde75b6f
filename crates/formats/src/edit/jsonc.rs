//! JSON as people keep it in configuration files: with comments and trailing commas, and every part with its place.
//!
//! Nothing is thrown away, because the tree only points into the text. Start at [`parse`].

use super::Problem;
use serde_json::Value;
use std::ops::Range;

/// How deep a document may be nested; no configuration file is, and a parser must not run out of stack.
const DEEPEST: usize = 128;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// From its first byte to behind its last.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A text, a number, `true`, `false` or `null`.
    Scalar,
    /// A list.
    Array(Vec<Item>),
    /// Keys and values.
    Object(Vec<Item>),
}

/// An element of a list, or a member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Empty in a list.
    pub key: String,
    /// Where it starts: its key, or its value in a list.
    pub start: usize,
    /// The value.
    pub value: Node,
    /// Where the comma behind it stands, if there is one.
    pub comma: Option<usize>,
}

impl Node {
    /// Returns the members of an object, or the elements of a list.
    pub fn items(&self) -> &[Item] {
        match &self.kind {
            Kind::Scalar => &[],
            Kind::Array(items) | Kind::Object(items) => items,
        }
    }

    /// Returns the member of a key; of two with one key the last counts, as for the programs that read the file.
    pub fn member(&self, key: &str) -> Option<&Item> {
        match &self.kind {
            Kind::Object(items) => items.iter().rev().find(|item| item.key == key),
            Kind::Scalar | Kind::Array(_) => None,
        }
    }

    /// Returns what stands at the end of some keys.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.member(key).map(|item| &item.value))
    }

    /// Returns the data of this part of the text.
    pub fn value(&self, text: &str) -> Value {
        match &self.kind {
            // It was read once while parsing, so it can be read again.
            Kind::Scalar => serde_json::from_str(&text[self.span.clone()]).unwrap_or(Value::Null),
            Kind::Array(items) => items.iter().map(|item| item.value.value(text)).collect(),
            Kind::Object(items) => {
                Value::Object(items.iter().map(|item| (item.key.clone(), item.value.value(text))).collect())
            }
        }
    }
}

/// Reads a document; one that holds nothing but spaces and comments has no root.
pub fn parse(text: &str) -> Result<Option<Node>, Problem> {
    let mut parser = Parser { text, at: 0 };
    if text.starts_with('\u{feff}') {
        parser.at = '\u{feff}'.len_utf8();
    }
    parser.skip()?;
    if parser.peek().is_none() {
        return Ok(None);
    }
    let root = parser.node(0)?;
    parser.skip()?;
    match parser.peek() {
        None => Ok(Some(root)),
        Some(_) => Err(parser.problem("something follows the end of the document")),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn problem(&self, what: impl Into<String>) -> Problem {
        Problem::at(self.text, self.at, what)
    }

    fn skip(&mut self) -> Result<(), Problem> {
        loop {
            let rest = &self.text[self.at..];
            if let Some(comment) = rest.strip_prefix("/*") {
                let end = comment.find("*/").ok_or_else(|| self.problem("this comment does not end"))?;
                self.at += end + 4;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with([' ', '\t', '\r', '\n']) {
                self.at += 1;
            } else {
                return Ok(());
            }
        }
    }

    fn node(&mut self, depth: usize) -> Result<Node, Problem> {
        if depth > DEEPEST {
            return Err(self.problem("nested too deeply"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.items(b'}', depth)?),
            Some(b'[') => Kind::Array(self.items(b']', depth)?),
            Some(_) => {
                self.scalar()?;
                Kind::Scalar
            }
            None => return Err(self.problem("a value is missing")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn items(&mut self, close: u8, depth: usize) -> Result<Vec<Item>, Problem> {
        self.at += 1;
        let mut items: Vec<Item> = Vec::new();
        loop {
            self.skip()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(items);
            }
            if items.last().is_some_and(|item| item.comma.is_none()) {
                return Err(self.problem(format!("expected `,` or `{}`", char::from(close))));
            }
            let start = self.at;
            let key = if close == b'}' { self.key()? } else { String::new() };
            let value = self.node(depth + 1)?;
            self.skip()?;
            let comma = (self.peek() == Some(b',')).then_some(self.at);
            self.at += usize::from(comma.is_some());
            items.push(Item { key, start, value, comma });
        }
    }

    fn key(&mut self) -> Result<String, Problem> {
        if self.peek() != Some(b'"') {
            return Err(self.problem("expected a key in double quotes"));
        }
        let Value::String(key) = self.scalar()? else {
            return Err(self.problem("expected a key in double quotes"));
        };
        self.skip()?;
        if self.peek() != Some(b':') {
            return Err(self.problem("expected `:`"));
        }
        self.at += 1;
        self.skip()?;
        Ok(key)
    }

    fn scalar(&mut self) -> Result<Value, Problem> {
        let rest = &self.text[self.at..];
        let length = if rest.starts_with('"') {
            let mut escaped = false;
            let end = rest.bytes().skip(1).position(|byte| {
                let ends = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                ends
            });
            end.ok_or_else(|| self.problem("this text does not end"))? + 2
        } else {
            rest.find(|each: char| !each.is_ascii_alphanumeric() && !"+-.".contains(each))
                .unwrap_or(rest.len())
        };
        let value = serde_json::from_str(&rest[..length]);
        let value = value.map_err(|_| self.problem("this is not a JSON value"))?;
        self.at += length;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_read() {
        let text = "\u{feff}// top\r\n{ /* a */ \"a\\\"\": [1, -2.5e3, \"ü\\u00e9\", null,], // b\n \"b\": { }, \"b\": true, }\n// end";
        let root = parse(text).unwrap().unwrap();
        assert_eq!(root.value(text), json!({ "a\"": [1, -2500.0, "üé", null], "b": true }));
        assert_eq!(root.at(&["b"]).unwrap().value(text), json!(true), "the last of two counts");
    }

    #[test]
    fn nothing_has_no_root() {
        for text in ["", " \n", "// only a comment", "/**/\n"] {
            assert_eq!(parse(text), Ok(None), "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, place) in [
            ("{", "line 1, column 2: expected a key in double quotes"),
            ("{\n  \"ä\" 1}", "line 2, column 7: expected `:`"),
            ("{\"a\":1 \"b\":2}", "line 1, column 8: expected `,` or `}`"),
            ("[1,,2]", "line 1, column 4: this is not a JSON value"),
            ("{\"a\": tru}", "line 1, column 7: this is not a JSON value"),
            ("{\"a\": 'x'}", "line 1, column 7: this is not a JSON value"),
            ("{\"a\": \"x}", "line 1, column 7: this text does not end"),
            ("{} /* x", "line 1, column 4: this comment does not end"),
            ("{} {}", "line 1, column 4: something follows the end of the document"),
            ("{\"a\":", "line 1, column 6: a value is missing"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), place, "{text:?}");
        }
        assert!(parse(&"[".repeat(100_000)).unwrap_err().to_string().ends_with("nested too deeply"));
    }
}
