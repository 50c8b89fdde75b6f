//! Data of a definition as JSON.

use abide_core::value::Value;
use serde_json::Value as Json;
use std::path::Path;

/// Returns the same data as a JSON value; numbers that JSON cannot write become null.
pub fn from_value(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::from(*value),
        Value::Int(value) => Json::from(*value),
        Value::Float(value) => Json::from(*value),
        Value::Text(value) => Json::from(value.as_str()),
        Value::List(items) => items.iter().map(from_value).collect(),
        Value::Map(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), from_value(value))).collect())
        }
    }
}

/// Returns a path; bytes that are not text are replaced, because JSON has no place for them.
pub fn from_path(path: &Path) -> Json {
    Json::from(path.to_string_lossy())
}
