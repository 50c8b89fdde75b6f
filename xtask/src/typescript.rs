//! The types of `sdk-typescript`, made from the `OpenAPI` document.
//!
//! Types and nothing else, laid out as the TypeScript compiler lays out declarations: what is checked in as its output is the same text,
//! so a new route needs no compiler, and `./test sdk` still compares both. Start at [`module`].

use std::fmt::Write as _;

use anyhow::{Context, bail};
use serde_json::{Map, Value};

const METHODS: &[&str] = &["get", "put", "post", "delete", "patch"];

/// Returns the module with a type for every schema and every operation of a document.
///
/// # Errors
/// If the document has something for which there is no type yet.
pub fn module(document: &Value) -> anyhow::Result<String> {
    let mut out = String::from(
        "/** What the server is sent and answers, made from schema/openapi.json by `cargo xtask generated`. */\n",
    );
    let schemas = document["components"]["schemas"].as_object().context("there are no schemas")?;
    for (name, schema) in schemas {
        if let Some(about) = schema["description"].as_str() {
            let _ = writeln!(out, "/** {} */", comment(about));
        }
        let text = shape(schema, 0).with_context(|| format!("the schema {name}"))?;
        // An interface can be extended and is named in messages; it must be an object of known fields.
        if text.starts_with('{') {
            let _ = writeln!(out, "export interface {name} {text}");
        } else {
            let _ = writeln!(out, "export type {name} = {text};");
        }
    }
    out.push_str("/** Every operation by its method and address. */\nexport interface Operations {\n");
    let paths = document["paths"].as_object().context("there are no paths")?;
    for (path, methods) in paths {
        for method in METHODS {
            let operation = &methods[*method];
            if operation.is_object() {
                let text = self::operation(operation).with_context(|| format!("{method} {path}"))?;
                let about = comment(operation["summary"].as_str().unwrap_or_default());
                let _ =
                    writeln!(out, "    /** {about} */\n    \"{} {path}\": {text};", method.to_uppercase());
            }
        }
    }
    out.push_str("}\n");
    Ok(out)
}

fn operation(operation: &Value) -> anyhow::Result<String> {
    let mut text = String::from("{\n");
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    for place in ["path", "query"] {
        let mut fields = String::new();
        for parameter in parameters.iter().filter(|parameter| parameter["in"] == place) {
            let name = parameter["name"].as_str().context("a parameter without a name")?;
            let about = parameter["description"].as_str();
            let optional = parameter["required"] != true;
            field(&mut fields, 3, name, optional, about, &shape(&parameter["schema"], 3)?);
        }
        if !fields.is_empty() {
            // A query as a whole may be left out, too.
            let _ = writeln!(text, "        {place}: {{\n{fields}        }};");
        }
    }
    if let Some(content) = operation["requestBody"]["content"].as_object() {
        let _ = writeln!(text, "        body: {};", kind(content, 2)?);
    }
    let responses = operation["responses"].as_object().context("no responses")?;
    let done = responses.iter().find(|(status, _)| status.starts_with('2')).context("no answer")?.1;
    let answer = match done["content"].as_object() {
        Some(content) => kind(content, 2)?,
        None => "undefined".to_owned(),
    };
    let _ = writeln!(text, "        answer: {answer};");
    text.push_str("    }");
    Ok(text)
}

/// Returns the type of a body: its JSON where it can be JSON.
fn kind(content: &Map<String, Value>, depth: usize) -> anyhow::Result<String> {
    if let Some(json) = content.get("application/json") {
        return shape(&json["schema"], depth);
    }
    Ok(if content.keys().all(|kind| kind.starts_with("text/")) { "string" } else { "Uint8Array" }.to_owned())
}

/// Returns the type of a schema, for a place that is so deep inside of others.
fn shape(schema: &Value, depth: usize) -> anyhow::Result<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/components/schemas/");
        return Ok(name.with_context(|| format!("a reference to {reference}"))?.to_owned());
    }
    for several in ["oneOf", "anyOf"] {
        if let Some(variants) = schema[several].as_array() {
            let variants: anyhow::Result<Vec<String>> =
                variants.iter().map(|variant| shape(variant, depth)).collect();
            return Ok(union(variants?));
        }
    }
    if !schema["allOf"].is_null() {
        bail!("`allOf` has no type yet");
    }
    if let Some(values) = schema["enum"].as_array() {
        return Ok(union(values.iter().map(ToString::to_string).collect()));
    }
    if !schema["const"].is_null() {
        return Ok(schema["const"].to_string());
    }
    match &schema["type"] {
        Value::Null => Ok("unknown".to_owned()),
        Value::String(one) => typed(one, schema, depth),
        Value::Array(several) => {
            let each = several.iter().map(|one| typed(one.as_str().unwrap_or_default(), schema, depth));
            Ok(union(each.collect::<anyhow::Result<_>>()?))
        }
        other => bail!("`type` is {other}"),
    }
}

fn typed(name: &str, schema: &Value, depth: usize) -> anyhow::Result<String> {
    Ok(match name {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => {
            let item = shape(&schema["items"], depth)?;
            if item.contains(" | ") && !item.ends_with('}') {
                format!("({item})[]")
            } else {
                format!("{item}[]")
            }
        }
        "object" => object(schema, depth)?,
        other => bail!("the type `{other}` is unknown"),
    })
}

fn object(schema: &Value, depth: usize) -> anyhow::Result<String> {
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let more = match &schema["additionalProperties"] {
        Value::Bool(false) => None,
        Value::Null | Value::Bool(true) => Some("unknown".to_owned()),
        one => Some(shape(one, depth)?),
    };
    if properties.is_empty() {
        return Ok(match more {
            Some(value) => format!("Record<string, {value}>"),
            None => "Record<string, never>".to_owned(),
        });
    }
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text = String::from("{\n");
    for (name, property) in properties {
        let optional = !required.iter().any(|required| required == name);
        let about = property["description"].as_str();
        field(&mut text, depth + 1, name, optional, about, &shape(property, depth + 1)?);
    }
    if more.is_some() {
        // Known fields must fit it as well, so it can be no narrower.
        let _ = writeln!(text, "{}[name: string]: unknown;", indent(depth + 1));
    }
    let _ = write!(text, "{}}}", indent(depth));
    Ok(text)
}

fn field(out: &mut String, depth: usize, name: &str, optional: bool, about: Option<&str>, shape: &str) {
    let indent = indent(depth);
    if let Some(about) = about {
        let _ = writeln!(out, "{indent}/** {} */", comment(about));
    }
    let plain = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let name = if plain { name.to_owned() } else { format!("\"{name}\"") };
    let mark = if optional { "?" } else { "" };
    let _ = writeln!(out, "{indent}{name}{mark}: {shape};");
}

fn union(mut variants: Vec<String>) -> String {
    variants.dedup();
    variants.join(" | ")
}

fn indent(depth: usize) -> String {
    "    ".repeat(depth)
}

/// A text in a comment must not end it.
fn comment(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "*\u{200b}/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(schema: &Value) -> String {
        shape(schema, 0).unwrap()
    }

    #[test]
    fn schemas_become_the_types_that_a_reader_expects() {
        assert_eq!(of(&json!({ "type": ["string", "null"] })), "string | null");
        assert_eq!(of(&json!({ "type": ["string", "null"], "enum": ["a", null] })), "\"a\" | null");
        assert_eq!(of(&json!({ "type": "array", "items": { "enum": ["a", "b"] } })), "(\"a\" | \"b\")[]");
        assert_eq!(of(&json!({ "$ref": "#/components/schemas/Run" })), "Run");
        assert_eq!(of(&json!({})), "unknown");
        assert_eq!(of(&json!({ "type": "object" })), "Record<string, unknown>");
        let counts = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
        assert_eq!(of(&counts), "Record<string, number>");
        let step = json!({
            "type": "object", "additionalProperties": false, "required": ["id"],
            "properties": { "id": { "type": "string" }, "a-b": { "type": "integer", "description": "x */ y" } },
        });
        let expected = "{\n    /** x *\u{200b}/ y */\n    \"a-b\"?: number;\n    id: string;\n}";
        assert_eq!(of(&step), expected);
    }

    #[test]
    fn what_has_no_type_is_named_and_not_guessed() {
        let document = json!({ "components": { "schemas": { "Odd": { "type": "tuple" } } }, "paths": {} });
        let error = format!("{:#}", module(&document).unwrap_err());
        assert_eq!(error, "the schema Odd: the type `tuple` is unknown");
        assert!(shape(&json!({ "allOf": [] }), 0).is_err());
    }

    #[test]
    fn an_operation_has_what_is_sent_and_what_is_answered() {
        let document = json!({
            "components": { "schemas": {} },
            "paths": { "/v1/runs/{run}": { "post": {
                "summary": "Goes on",
                "parameters": [
                    { "name": "run", "in": "path", "required": true, "schema": { "type": "string" } },
                    { "name": "limit", "in": "query", "required": false, "schema": { "type": "integer" } },
                ],
                "requestBody": { "content": { "application/json": { "schema": { "type": "string" } } } },
                "responses": { "200": { "content": { "text/plain": {} } }, "404": {} },
            } } },
        });
        let text = module(&document).unwrap();
        let expected = "export interface Operations {\n    /** Goes on */\n    \"POST /v1/runs/{run}\": {\n        path: {\n            run: string;\n        };\n        query: {\n            limit?: number;\n        };\n        body: string;\n        answer: string;\n    };\n}\n";
        assert!(text.ends_with(expected), "{text}");
    }
}
