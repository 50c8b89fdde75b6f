//! JSON ⇄ data.

use abide_core::value::Value;

/// Parses a JSON text; numbers without a fraction that fit are integers.
pub fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str::<serde_json::Value>(text).map(from_json).map_err(|error| error.to_string())
}

fn from_json(json: serde_json::Value) -> Value {
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
