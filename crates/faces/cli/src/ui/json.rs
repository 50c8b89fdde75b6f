//! Data of a definition as JSON.

pub use abide_formats::json::to_json as from_value;
use serde_json::Value as Json;
use std::path::Path;

/// Returns a path; bytes that are not text are replaced, because JSON has no place for them.
pub fn from_path(path: &Path) -> Json {
    Json::from(path.to_string_lossy())
}
