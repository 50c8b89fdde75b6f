//! The evidence that a step must show.

use crate::read::{Reader, data};
use crate::shape;
use crate::yaml::{Content, Node};
use abide_core::definition::Validation;
use abide_core::diagnostic::{Code, Diagnostic, excerpt};
use abide_core::source::Spanned;
use abide_core::value::Value;

pub(super) fn read(reader: &mut Reader<'_>, node: &Node<'_>) -> Validation {
    let Some(mut fields) = reader.fields(node, &shape::VALIDATION, |_| None) else {
        return Validation::default();
    };
    let many = |reader: &mut Reader<'_>, node: Option<&Node<'_>>| {
        node.map(|node| reader.one_or_many(node, Reader::full_template)).unwrap_or_default()
    };
    let exit_code = match fields.take(reader, "exit_code") {
        Some(node) => reader.one_or_many(node, |reader, node| {
            let code = reader.integer(node, 0, 255)?;
            i32::try_from(code.value).ok().map(|value| Spanned::new(value, code.span))
        }),
        None => Vec::new(),
    };
    let stdout_contains = fields.take(reader, "stdout_contains");
    let stdout_contains = many(reader, stdout_contains);
    let stderr_contains = fields.take(reader, "stderr_contains");
    let stderr_contains = many(reader, stderr_contains);
    let stdout_matches = match fields.take(reader, "stdout_matches") {
        Some(node) => reader.one_or_many(node, Reader::regex),
        None => Vec::new(),
    };
    let file_exists = fields.take(reader, "file_exists");
    let file_exists = many(reader, file_exists);
    let json_schema = fields.take(reader, "json_schema").and_then(|node| schema(reader, node));
    let check = fields.take(reader, "check");
    let check = many(reader, check);
    fields.finish();
    Validation {
        exit_code,
        stdout_contains,
        stderr_contains,
        stdout_matches,
        file_exists,
        json_schema,
        check,
    }
}

/// Reads a JSON Schema that stands in the file.
pub(crate) fn schema(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Spanned<Value>> {
    let Content::Mapping(_) = &node.content else {
        reader.wrong_type(node, "a JSON Schema (a mapping)");
        return None;
    };
    let schema = data(node);
    if let Some(found) = bad_schema(node) {
        reader.report(found);
        return None;
    }
    Some(Spanned::new(schema, node.span))
}

/// The words that `type` takes in a JSON Schema.
const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];
/// The keywords whose value is a schema, a list of schemas, or a mapping of schemas.
const NESTED: &[&str] =
    &["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
const LISTS: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPS: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Finds what no validator could use: a `type` that does not exist, keywords of the wrong form.
fn bad_schema(node: &Node<'_>) -> Option<Diagnostic> {
    let bad = |at: &Node<'_>, message: String| {
        Some(
            Diagnostic::new(Code::BadSchema, at.span, message)
                .help("see json-schema.org for what each keyword takes"),
        )
    };
    let Content::Mapping(entries) = &node.content else {
        return match node.text() {
            Some("true" | "false") => None,
            _ => bad(node, format!("a schema is a mapping or a boolean, not {}", node.kind())),
        };
    };
    for (key, value) in entries {
        let name = key.text().unwrap_or_default();
        let found = match (name, &value.content) {
            ("type", Content::Sequence(types)) => types
                .iter()
                .find(|word| !word.text().is_some_and(|word| TYPES.contains(&word)))
                .map(unknown_type),
            ("type", _) if !value.text().is_some_and(|word| TYPES.contains(&word)) => {
                Some(unknown_type(value))
            }
            ("required" | "enum", Content::Sequence(_)) => None,
            ("required", _) => bad(value, "`required` takes a list of property names".to_owned()),
            ("enum", _) => bad(value, "`enum` takes a list of values".to_owned()),
            ("$ref", _) if !value.text().is_some_and(|target| target.starts_with('#')) => bad(
                value,
                "`$ref` may only point into this schema (`#/$defs/…`); nothing is fetched".to_owned(),
            ),
            _ if NESTED.contains(&name) => match &value.content {
                Content::Sequence(items) if name == "items" => items.iter().find_map(bad_schema),
                _ => bad_schema(value),
            },
            (_, Content::Sequence(items)) if LISTS.contains(&name) => items.iter().find_map(bad_schema),
            (_, Content::Mapping(entries)) if MAPS.contains(&name) => {
                entries.iter().find_map(|(_, value)| bad_schema(value))
            }
            _ if LISTS.contains(&name) => bad(value, format!("`{name}` takes a list of schemas")),
            _ if MAPS.contains(&name) => {
                bad(value, format!("`{name}` takes a mapping from names to schemas"))
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn unknown_type(node: &Node<'_>) -> Diagnostic {
    let word = node.text().unwrap_or("this");
    Diagnostic::new(Code::BadSchema, node.span, format!("`{}` is not a type of JSON Schema", excerpt(word)))
        .did_you_mean(word, TYPES.iter().copied())
        .help(format!("the types are {}", TYPES.join(", ")))
}
