//! The JSON Schema of every format, generated from the tables of keys.
//!
//! Editors complete and check by these files; `abide` itself checks more (graphs, templates, scripts).

use crate::shape::{ABILITY, AGENT, BUNDLE, CONFIG, Key, Others, Record, STEP_RECORDS, Shape};
use abide_core::value::Value;
use std::collections::BTreeMap;

/// A format that has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `ability.yaml`.
    Ability,
    /// `config.yaml`.
    Config,
    /// The frontmatter of an agent profile.
    Agent,
    /// A capability of a user.
    Capability,
}

impl Format {
    /// Every format, by the name that `abide schema` takes.
    pub const ALL: &[(&str, Format)] = &[
        ("ability", Format::Ability),
        ("config", Format::Config),
        ("agent", Format::Agent),
        ("capability", Format::Capability),
    ];

    /// Returns the table of the format's outermost mapping.
    pub fn record(self) -> &'static Record {
        match self {
            Self::Ability => &ABILITY,
            Self::Config => &CONFIG,
            Self::Agent => &AGENT,
            Self::Capability => &BUNDLE,
        }
    }
}

/// Returns the JSON Schema of a format.
pub fn schema(format: Format) -> Value {
    let mut definitions = BTreeMap::new();
    let record = format.record();
    let mut entries = vec![
        ("$schema".to_owned(), text("http://json-schema.org/draft-07/schema#")),
        ("title".to_owned(), text(record.name)),
    ];
    let Value::Map(own) = object(record, &mut definitions) else { return Value::Null };
    entries.extend(own);
    entries.push(("definitions".to_owned(), Value::Map(definitions.into_iter().collect())));
    Value::Map(entries)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn words(words: &[&str]) -> Value {
    Value::List(words.iter().map(|word| text(word)).collect())
}

type Definitions = BTreeMap<String, Value>;

fn object(record: &'static Record, definitions: &mut Definitions) -> Value {
    let required: Vec<&str> = record.keys().filter(|key| key.required).map(|key| key.name).collect();
    let own_type = STEP_RECORDS.iter().find(|(_, step)| step.name == record.name).map(|(own, _)| own.word());
    let properties = record
        .keys()
        .map(|key| {
            let property = match own_type {
                // A step that says its type is held to the keys of that type.
                Some(own) if key.name == "type" => {
                    map([("description", text(key.doc)), ("const", text(own))])
                }
                _ => property(key, definitions),
            };
            (key.name.to_owned(), property)
        })
        .collect();
    let mut entries = vec![
        ("description".to_owned(), text(record.doc)),
        ("type".to_owned(), text("object")),
        ("properties".to_owned(), Value::Map(properties)),
    ];
    if !required.is_empty() {
        entries.push(("required".to_owned(), words(&required)));
    }
    if record.others == Others::Refused {
        entries.push(("additionalProperties".to_owned(), Value::Bool(false)));
    }
    Value::Map(entries)
}

fn property(key: &Key, definitions: &mut Definitions) -> Value {
    let mut doc = key.doc.to_owned();
    if let Some(default) = key.default {
        doc.push_str(" Default: ");
        doc.push_str(default);
        doc.push('.');
    }
    let Value::Map(mut entries) = of_shape(key.shape, definitions) else { return Value::Null };
    entries.insert(0, ("description".to_owned(), Value::Text(doc)));
    Value::Map(entries)
}

fn reference(record: &'static Record, definitions: &mut Definitions) -> Value {
    let name = record.name.replace(' ', "_");
    if !definitions.contains_key(&name) {
        // Entered first, so that a record which contains itself ends here.
        definitions.insert(name.clone(), Value::Null);
        let object = object(record, definitions);
        definitions.insert(name.clone(), object);
    }
    // Beside `$ref`, draft 7 ignores every other keyword, so it stands inside `allOf`.
    map([("allOf", Value::List(vec![map([("$ref", Value::Text(format!("#/definitions/{name}")))])]))])
}

fn of_shape(shape: Shape, definitions: &mut Definitions) -> Value {
    let scalars = || words(&["string", "number", "boolean"]);
    let any_of = |shapes: Vec<Value>| map([("anyOf", Value::List(shapes))]);
    match shape {
        // A regular expression is not `format: regex`: that is ECMA-262, whose readers refuse `(?i)` and other forms
        // that abide takes.
        Shape::Text | Shape::Template | Shape::Regex => map([("type", scalars())]),
        Shape::Expression => map([("type", words(&["string", "boolean"]))]),
        Shape::Duration => map([
            ("type", text("string")),
            ("pattern", text(r"^(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?$")),
            ("minLength", Value::Int(2)),
        ]),
        // A name that YAML takes for a number is read as it is written.
        Shape::Name(pattern) => map([("type", scalars()), ("pattern", text(pattern))]),
        Shape::Bool => map([("type", text("boolean"))]),
        Shape::Int(least, most) => {
            map([("type", text("integer")), ("minimum", Value::Int(least)), ("maximum", Value::Int(most))])
        }
        Shape::Number => map([("type", text("number"))]),
        Shape::Amount(most) => {
            map([("type", text("number")), ("minimum", Value::Int(0)), ("maximum", Value::Int(most))])
        }
        Shape::Choice(choices) => match choices.split_last() {
            Some((open, fixed)) if open.contains('<') => {
                let prefix = open.split('<').next().unwrap_or_default();
                any_of(vec![
                    map([("enum", words(fixed))]),
                    map([("type", text("string")), ("pattern", Value::Text(format!("^{prefix}.+")))]),
                ])
            }
            _ => map([("enum", words(choices))]),
        },
        Shape::List(item, least) => {
            let items = of_shape(*item, definitions);
            map([
                ("type", text("array")),
                ("items", items),
                ("minItems", Value::Int(i64::try_from(least).unwrap_or(0))),
            ])
        }
        Shape::OneOrMany(item) => {
            let one = of_shape(*item, definitions);
            any_of(vec![one.clone(), map([("type", text("array")), ("items", one)])])
        }
        Shape::Map(pattern, value) => {
            let values = of_shape(*value, definitions);
            map([
                ("type", text("object")),
                ("propertyNames", map([("pattern", text(pattern))])),
                ("additionalProperties", values),
            ])
        }
        Shape::Record(record) => reference(record, definitions),
        Shape::AnyOf(shapes) => any_of(shapes.iter().map(|shape| of_shape(*shape, definitions)).collect()),
        Shape::Nothing => map([("type", text("null"))]),
        Shape::Data => map([]),
        Shape::Schema => map([("type", text("object"))]),
    }
}

/// Writes data as JSON with two spaces of indentation and a final line end.
pub fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, 0);
    out.push('\n');
    out
}

fn write(out: &mut String, value: &Value, depth: usize) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        for _ in 0..depth {
            out.push_str("  ");
        }
    };
    match value {
        Value::Map(entries) if !entries.is_empty() => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                out.push_str(&Value::Text(key.clone()).to_string());
                out.push_str(": ");
                write(out, value, depth + 1);
            }
            line(out, depth);
            out.push('}');
        }
        Value::List(items) if items.iter().any(|item| matches!(item, Value::Map(_) | Value::List(_))) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                write(out, item, depth + 1);
            }
            line(out, depth);
            out.push(']');
        }
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                out.push_str(&item.to_string());
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}
