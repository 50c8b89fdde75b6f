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
        match self {
            Self::Bool(value) => write!(out, "{value}"),
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
                    write!(out, "{item}")?;
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
                    write!(out, ":{value}")?;
                }
                out.write_str("}")
            }
        }
    }
}

fn write_json_string(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    out.write_str("\"")?;
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
    out.write_str(rest)?;
    out.write_str("\"")
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
    }
}
