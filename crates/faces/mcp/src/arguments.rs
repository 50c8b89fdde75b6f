//! The arguments of a call, read strictly: every problem at once, each with the name that it is about.
//!
//! A model that misspells an argument is told so; nothing that it wrote is ignored.

use crate::tools::{Argument, Own, Takes};
use abide_core::diagnostic::nearest;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Arguments that fit their tool, under the names of [`Own::arguments`].
#[derive(Debug, PartialEq)]
pub(crate) struct Arguments(Map<String, Value>);

/// How many problems are told; more help nobody.
const MOST_PROBLEMS: usize = 10;
/// How much of a name that somebody made up is repeated.
const MOST_OF_A_NAME: usize = 80;

impl Arguments {
    /// Reads the arguments of a call; what is wrong comes back as a text for the model.
    pub(crate) fn read(tool: Own, given: &Map<String, Value>) -> Result<Self, String> {
        let known = tool.arguments();
        let mut found: Map<String, Value> = Map::new();
        let mut problems = Vec::new();
        for (key, value) in given {
            let Some(argument) = known.iter().find(|each| each.name == key || each.alias == Some(key)) else {
                problems.push(unknown(known, key));
                continue;
            };
            // `null` is how some clients leave an argument out.
            if value.is_null() && !(argument.required && argument.takes == Takes::Anything) {
                continue;
            }
            let fits = match argument.takes {
                Takes::Text => value.is_string(),
                Takes::Object => value.is_object(),
                Takes::Anything => true,
            };
            if !fits {
                problems.push(format!("`{key}` must be {}, not {}", noun(argument.takes), kind(value)));
            } else if found.insert(argument.name.to_owned(), value.clone()).is_some() {
                problems.push(format!(
                    "`{key}` and `{}` are the same argument: give one of them",
                    other(argument, key)
                ));
            }
        }
        for argument in known.iter().filter(|each| each.required) {
            let given = given.contains_key(argument.name)
                || argument.alias.is_some_and(|name| given.contains_key(name));
            match found.get(argument.name) {
                Some(Value::String(text)) if text.trim().is_empty() && argument.takes == Takes::Text => {
                    problems.push(format!("`{}` is empty", argument.name));
                }
                // One of a wrong type has been told already.
                None if !given || problems.is_empty() => {
                    problems.push(format!("`{}` is missing", argument.name));
                }
                _ => {}
            }
        }
        if problems.is_empty() { Ok(Self(found)) } else { Err(told(tool, &problems)) }
    }

    /// Takes a text; an empty one counts as none.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text),
            _ => None,
        }
    }

    /// Takes an object; none is an empty one.
    pub(crate) fn object(&mut self, name: &str) -> Map<String, Value> {
        match self.0.remove(name) {
            Some(Value::Object(object)) => object,
            _ => Map::new(),
        }
    }

    /// Takes a value of any type.
    pub(crate) fn value(&mut self, name: &str) -> Value {
        self.0.remove(name).unwrap_or_default()
    }
}

fn unknown(known: &[Argument], key: &str) -> String {
    let shown: String = key.chars().take(MOST_OF_A_NAME).collect();
    match nearest(key, known.iter().map(|each| each.name)) {
        Some(meant) => format!("`{shown}` is no argument of it; did you mean `{meant}`?"),
        None => format!("`{shown}` is no argument of it"),
    }
}

fn other<'a>(argument: &'a Argument, key: &str) -> &'a str {
    if argument.name == key { argument.alias.unwrap_or_default() } else { argument.name }
}

fn told(tool: Own, problems: &[String]) -> String {
    let mut text = format!("`{}` was not called, because of its arguments:", tool.name());
    for problem in problems.iter().take(MOST_PROBLEMS) {
        text.push_str("\n- ");
        text.push_str(problem);
    }
    if problems.len() > MOST_PROBLEMS {
        let _ = write!(text, "\n- and {} more", problems.len() - MOST_PROBLEMS);
    }
    let takes: Vec<String> = tool
        .arguments()
        .iter()
        .map(|each| {
            format!("`{}` ({}{})", each.name, noun(each.takes), if each.required { "" } else { ", optional" })
        })
        .collect();
    let takes = if takes.is_empty() { "none".to_owned() } else { takes.join(", ") };
    let _ = write!(text, "\nIt takes {takes}.");
    text
}

fn noun(takes: Takes) -> &'static str {
    match takes {
        Takes::Text => "a text",
        Takes::Object => "an object",
        Takes::Anything => "any JSON",
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(tool: Own, given: &Value) -> Result<Arguments, String> {
        Arguments::read(tool, given.as_object().unwrap())
    }

    #[test]
    fn every_problem_is_told_with_its_name() {
        let told =
            read(Own::Run, &json!({ "abilty": "x", "inputs": "{}", "inptu": 1, "zzz": null })).unwrap_err();
        assert_eq!(
            told,
            "`ability_run` was not called, because of its arguments:\n\
             - `abilty` is no argument of it; did you mean `ability`?\n\
             - `inptu` is no argument of it; did you mean `input`?\n\
             - `inputs` must be an object, not a text\n\
             - `zzz` is no argument of it\n\
             - `ability` is missing\n\
             It takes `ability` (a text), `inputs` (an object, optional), `input` (a text, optional)."
        );
        let told = read(Own::List, &json!({ "run": "x" })).unwrap_err();
        assert!(told.ends_with("- `run` is no argument of it\nIt takes none."), "{told}");
    }

    #[test]
    fn wrong_types_and_empty_texts_are_refused() {
        for (tool, given, problem) in [
            (Own::Run, json!({ "ability": 1 }), "`ability` must be a text, not a number"),
            (Own::Run, json!({ "ability": ["x"] }), "`ability` must be a text, not a list"),
            (Own::Run, json!({ "ability": " " }), "`ability` is empty"),
            (Own::Run, json!({ "ability": null }), "`ability` is missing"),
            (Own::Run, json!({}), "`ability` is missing"),
            (Own::Run, json!({ "ability": "x", "inputs": [] }), "`inputs` must be an object, not a list"),
            (Own::Run, json!({ "ability": "x", "name": "y" }), "`name` and `ability` are the same argument"),
            (Own::Run, json!({ "ability": "x", "name": "x" }), "`name` and `ability` are the same argument"),
            (Own::Status, json!({ "run": true }), "`run` must be a text, not a boolean"),
            (Own::Submit, json!({ "run": "r", "step": "s" }), "`output` is missing"),
            (Own::Submit, json!({ "step": "s", "output": 1 }), "`run` is missing"),
        ] {
            let told = read(tool, &given).unwrap_err();
            assert!(told.contains(problem), "{given}: {told}");
        }
    }

    #[test]
    fn what_fits_is_taken_as_it_came() {
        let mut run =
            read(Own::Run, &json!({ "name": "deploy", "inputs": { "b": 1 }, "input": null })).unwrap();
        assert_eq!(run.text("ability").as_deref(), Some("deploy"));
        assert_eq!(run.object("inputs"), *json!({ "b": 1 }).as_object().unwrap());
        assert_eq!(run.text("input"), None);
        for output in [json!("done"), json!({ "a": [1] }), json!(null), json!(3)] {
            let mut submit =
                read(Own::Submit, &json!({ "run": "r", "step": "s", "output": output })).unwrap();
            assert_eq!(submit.value("output"), output);
        }
        assert_eq!(read(Own::Status, &json!({ "run": "" })).unwrap().text("run"), None);
    }

    #[test]
    fn a_flood_of_arguments_is_told_in_short() {
        let flood: Map<String, Value> =
            (0..5_000).map(|number| (format!("{number}{}", "x".repeat(500)), Value::Null)).collect();
        let told = Arguments::read(Own::List, &flood).unwrap_err();
        assert!(told.len() < 2_000 && told.contains("- and 4990 more"), "{told}");
    }
}
