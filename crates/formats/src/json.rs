//! JSON ⇄ data.

use abide_core::value::Value;
use serde::{Serialize, Serializer};

/// Parses a JSON text; numbers without a fraction that fit are integers.
pub fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str::<serde_json::Value>(text).map(from_json).map_err(|error| error.to_string())
}

/// Returns the same data as a value; numbers without a fraction that fit are integers.
pub fn from_json(json: serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(value),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(value) => Value::Int(value),
            None => number.as_f64().map_or(Value::Null, Value::Float),
        },
        serde_json::Value::String(text) => Value::Text(text),
        serde_json::Value::Array(items) => Value::List(items.into_iter().map(from_json).collect()),
        serde_json::Value::Object(entries) => {
            Value::Map(entries.into_iter().map(|(key, value)| (key, from_json(value))).collect())
        }
    }
}

/// Data as a serializer writes it, without a copy of it; numbers that JSON cannot write become null.
pub struct Written<'a>(pub &'a Value);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => to.serialize_unit(),
            Value::Bool(value) => to.serialize_bool(*value),
            Value::Int(value) => to.serialize_i64(*value),
            Value::Float(value) => to.serialize_f64(*value),
            Value::Text(text) => to.serialize_str(text),
            Value::List(items) => to.collect_seq(items.iter().map(Written)),
            Value::Map(entries) => to.collect_map(entries.iter().map(|(key, value)| (key, Written(value)))),
        }
    }
}

/// Returns the same data as JSON; numbers that JSON cannot write become null.
pub fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) => (*value).into(),
        Value::Text(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::Map(entries) => serde_json::Value::Object(
            entries.iter().map(|(key, value)| (key.clone(), to_json(value))).collect(),
        ),
    }
}
