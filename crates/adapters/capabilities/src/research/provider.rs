//! Searching by a tool of somebody else's: of an MCP server that the user has chosen for it.

use abide_engine::port::{Tool, ToolContext, ToolError};
use abide_engine::toolbox::CheckedTool;
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A tool that searches. It is named first, and found when its server is connected.
#[derive(Clone)]
pub struct SearchTool {
    name: Arc<str>,
    found: Arc<OnceLock<Result<CheckedTool, String>>>,
}

/// What an argument for the words may be called, the likeliest first.
const WORDS: [&str; 6] = ["query", "q", "search_query", "search", "keywords", "text"];

impl SearchTool {
    /// Names a tool, as `ID__TOOL`.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), found: Arc::default() }
    }

    /// Returns the id of the server that has it.
    pub fn server(&self) -> &str {
        self.name.split_once("__").map_or("", |(id, _)| id)
    }

    /// Finds it among the tools of its server, or notes why there is none; only the first time counts.
    pub fn find_in(&self, tools: Result<&[Arc<dyn Tool>], String>) {
        let found = tools.and_then(|tools| {
            let named = tools.iter().find(|tool| tool.spec().name.as_str() == &*self.name);
            let named = named.ok_or_else(|| format!("its server has no tool `{}`", self.name))?;
            CheckedTool::new(Arc::clone(named)).map_err(|error| error.to_string())
        });
        let _ = self.found.set(found);
    }

    /// Searches; returns what the tool says.
    pub(super) async fn search(&self, words: &str, context: ToolContext) -> Result<String, ToolError> {
        let refused =
            |why: &str| ToolError::Refused(format!("`{}` cannot be searched with: {why}", self.name));
        let tool = match self.found.get() {
            Some(Ok(tool)) => tool,
            Some(Err(why)) => return Err(refused(why)),
            None => return Err(refused("its server is not there")),
        };
        let Some(argument) = argument_for_words(&tool.spec().arguments) else {
            return Err(refused("it has no argument that takes words"));
        };
        let arguments = Value::Object(Map::from_iter([(argument, json!(words))]));
        let answer = tool.call(arguments, context).await?;
        Ok(answer.for_model())
    }
}

/// Returns the argument of a schema that takes what is searched for.
fn argument_for_words(schema: &Value) -> Option<String> {
    let properties = schema.get("properties")?.as_object()?;
    let is_text = |name: &str| {
        let kind = properties.get(name).and_then(|property| property.get("type"));
        kind.is_none_or(|kind| {
            kind == "string" || kind.as_array().is_some_and(|all| all.contains(&json!("string")))
        })
    };
    let known = WORDS.iter().find(|name| properties.contains_key(**name) && is_text(name));
    let required = || {
        let required: Vec<&str> =
            schema.get("required")?.as_array()?.iter().filter_map(Value::as_str).collect();
        match required.as_slice() {
            [only] if is_text(only) => Some((*only).to_owned()),
            _ => None,
        }
    };
    known.map(|name| (*name).to_owned()).or_else(required)
}

impl fmt::Debug for SearchTool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("SearchTool").field(&self.name).finish()
    }
}

impl PartialEq for SearchTool {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for SearchTool {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_for_the_words_is_found_by_its_name_or_because_it_is_the_only_one() {
        let found = |schema: Value| argument_for_words(&schema);
        let text = json!({ "type": "string" });
        assert_eq!(
            found(json!({ "properties": { "count": { "type": "integer" }, "q": text, "query": text } }))
                .as_deref(),
            Some("query")
        );
        assert_eq!(
            found(json!({ "properties": { "what": text, "count": {} }, "required": ["what"] })).as_deref(),
            Some("what")
        );
        assert_eq!(found(json!({ "properties": { "query": { "type": "integer" } } })), None);
        assert_eq!(found(json!({ "properties": { "a": text, "b": text }, "required": ["a", "b"] })), None);
        assert_eq!(found(json!({ "type": "object" })), None);
    }
}
