//! The one data type of inputs, outputs and literals: JSON's model with integers kept apart.

use std::fmt;

/// A piece of data: what an input holds, an expression yields, a template renders.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Text(String),
    /// Values in order.
    List(Vec<Value>),
    /// Named values, in the order in which they were written.
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Returns the word that messages use for this kind of value.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }

    /// Returns the value under `key`, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }
}

/// Writes compact JSON, the form in which values appear in messages and in rendered templates
/// (where a top-level string stands without its quotes).
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(out)
    }
}

impl Value {
    /// Returns the value as compact JSON: the same text as its `Display`, for a fraction of the time that it takes to go through
    /// a formatter. Every event and snapshot is written with it.
    pub fn to_json(&self) -> String {
        let mut text = String::new();
        self.push_json(&mut text);
        text
    }

    /// Writes the same at the end of a text.
    pub fn push_json(&self, text: &mut String) {
        // A string takes everything.
        let _ = self.write(text);
    }

    fn write<W: fmt::Write>(&self, out: &mut W) -> fmt::Result {
        match self {
            Self::Bool(true) => out.write_str("true"),
            Self::Bool(false) => out.write_str("false"),
            Self::Int(value) => write!(out, "{value}"),
            Self::Float(value) if value.is_finite() => write!(out, "{value:?}"),
            // JSON has no word for infinities; null is what every JSON writer makes of them.
            Self::Null | Self::Float(_) => out.write_str("null"),
            Self::Text(value) => write_json_string(out, value),
            Self::List(items) => {
                out.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.write_str(",")?;
                    }
                    item.write(out)?;
                }
                out.write_str("]")
            }
            Self::Map(entries) => {
                out.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        out.write_str(",")?;
                    }
                    write_json_string(out, key)?;
                    out.write_str(":")?;
                    value.write(out)?;
                }
                out.write_str("}")
            }
        }
    }
}

fn write_json_string<W: fmt::Write>(out: &mut W, text: &str) -> fmt::Result {
    out.write_str("\"")?;
    push_json_characters(out, text)?;
    out.write_str("\"")
}

/// Writes a text as JSON at the end of another.
pub fn push_json_text(to: &mut String, text: &str) {
    // A string takes everything.
    let _ = write_json_string(to, text);
}

/// Writes the characters of a text as they stand between the quotes of JSON.
pub fn push_json_characters<W: fmt::Write>(out: &mut W, text: &str) -> fmt::Result {
    let mut rest = text;
    // Most text is plain and goes as a whole. What is escaped is ASCII, so cutting there cuts no character.
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\')) {
        out.write_str(&rest[..at])?;
        match rest.as_bytes()[at] {
            b'"' => out.write_str("\\\"")?,
            b'\\' => out.write_str("\\\\")?,
            b'\n' => out.write_str("\\n")?,
            b'\r' => out.write_str("\\r")?,
            b'\t' => out.write_str("\\t")?,
            control => write!(out, "\\u{control:04x}")?,
        }
        rest = &rest[at + 1..];
    }
    out.write_str(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_print_as_json() {
        let value = Value::Map(vec![
            ("a".into(), Value::List(vec![Value::Int(1), Value::Float(2.0), Value::Null])),
            ("b\n".into(), Value::Text("say \"hi\"\u{1}".into())),
        ]);
        assert_eq!(value.to_string(), r#"{"a":[1,2.0,null],"b\n":"say \"hi\"\u0001"}"#);
        assert_eq!(value.to_json(), value.to_string());
    }
}
