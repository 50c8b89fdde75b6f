//! The tables of keys, the readers and the JSON Schema say the same about every key and every kind of value.
//!
//! From the tables come documents: each key of each record, with values of every kind. What the table
//! means by a shape is written once more here ([`fits`]); reader and schema are held against it, and debug
//! assertions in the readers prove that each key is taken.
//!
//! The schema is knowingly looser where JSON Schema cannot look: inside templates, expressions and regular
//! expressions, at names that are written as bare numbers, and between the parts of a definition.

#[path = "shapes/documents.rs"]
mod documents;

use abide_core::diagnostic::Code;
use abide_core::value::Value;
use abide_formats::schema::{Format, schema};
use abide_formats::shape::{Key, Others, Record, Shape};
use documents::{CONTEXTS, Context, json, minimal, samples};
use jsonschema::Validator;
use std::collections::BTreeSet;

fn validators() -> Vec<(Format, Validator)> {
    let validator = |(_, format): &(&str, Format)| {
        let schema = json(&schema(*format));
        jsonschema::draft7::meta::validate(&schema).unwrap();
        (*format, jsonschema::draft7::new(&schema).unwrap())
    };
    Format::ALL.iter().map(validator).collect()
}

/// Returns whether the table means the value to be accepted.
#[expect(clippy::match_same_arms, reason = "one line per shape reads as the table that it is")]
fn fits(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Data, _) | (Shape::Nothing, Value::Null) => true,
        (
            Shape::Text | Shape::Template,
            Value::Text(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_),
        ) => true,
        (Shape::Regex, Value::Text(text)) => text != "??",
        (Shape::Regex, Value::Int(_) | Value::Float(_) | Value::Bool(_)) => true,
        (Shape::Expression, Value::Text(_) | Value::Bool(_)) => true,
        (Shape::Duration, Value::Text(text)) => text == "5m",
        (Shape::Name(_), Value::Text(text)) => !text.contains('?'),
        (Shape::Bool, Value::Bool(_)) | (Shape::Number, Value::Int(_) | Value::Float(_)) => true,
        (Shape::Amount(most), Value::Int(number)) => (0..=*most).contains(number),
        (Shape::Amount(_), Value::Float(number)) => *number >= 0.0,
        (Shape::Int(least, most), Value::Int(number)) => (least..=most).contains(&number),
        (Shape::Choice(words), Value::Text(text)) => words.contains(&text.as_str()) || text == "acp:x",
        (Shape::List(item, least), Value::List(items)) => {
            items.len() >= *least && items.iter().all(|value| fits(item, value))
        }
        (Shape::OneOrMany(item), Value::List(items)) => items.iter().all(|value| fits(item, value)),
        (Shape::OneOrMany(item), value) => fits(item, value),
        (Shape::Map(_, shape), Value::Map(entries)) => entries.iter().all(|(_, value)| fits(shape, value)),
        (Shape::Record(record), Value::Map(entries)) => {
            record.keys().all(|key| !key.required || entries.iter().any(|(name, _)| name == key.name))
                && entries.iter().all(|(name, value)| match record.keys().find(|key| key.name == name) {
                    Some(key) => fits(&key.shape, value),
                    None => record.others == Others::Foreign,
                })
        }
        (Shape::AnyOf(shapes), value) => shapes.iter().any(|shape| fits(shape, value)),
        (Shape::Schema, Value::Map(_)) => true,
        _ => false,
    }
}

/// Values of every kind, right for some shapes and wrong for others.
fn kinds() -> Vec<Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    vec![
        Value::Null,
        Value::Bool(true),
        Value::Int(-5),
        Value::Int(9_000_000),
        Value::Float(1.5),
        text("??"),
        Value::List(vec![]),
        Value::List(vec![Value::Null]),
        Value::List(vec![Value::List(vec![])]),
        Value::List(vec![text("a"), Value::Map(vec![])]),
        Value::Map(vec![]),
        Value::Map(vec![("A".to_owned(), Value::List(vec![]))]),
        Value::Map(vec![("A".to_owned(), Value::Null)]),
    ]
}

/// Returns whether a name or a pattern stands there as a bare number, or a text has a form of its own.
///
/// There the schema accepts what only the reader can judge.
#[expect(clippy::match_same_arms, reason = "one line per shape reads as the table that it is")]
fn is_looser(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (Shape::Name(_), Value::Int(_) | Value::Float(_) | Value::Bool(_)) => true,
        (
            Shape::Regex | Shape::Expression | Shape::Template | Shape::Text,
            Value::Text(_) | Value::Bool(_),
        ) => true,
        (Shape::List(item, _) | Shape::OneOrMany(item), Value::List(items)) => {
            items.iter().any(|value| is_looser(item, value))
        }
        (Shape::OneOrMany(item), value) => is_looser(item, value),
        (Shape::AnyOf(shapes), value) => shapes.iter().any(|shape| is_looser(shape, value)),
        _ => false,
    }
}

/// Holds reader and schema against what the table means, and returns where they differ.
fn disagreement(
    context: &Context,
    key: &Key,
    value: &Value,
    validators: &[(Format, Validator)],
) -> Option<String> {
    let document = context.document(key.name, Some(value.clone()));
    let expected = fits(&key.shape, value);
    let outcome = context.read(&document, key.name);
    let (_, validator) = validators.iter().find(|(format, _)| *format == context.format)?;
    let valid = validator.is_valid(&json(&document));
    let what = |who: &str, said: &str| {
        Some(format!("{}.{}: {who} {said} {value}; {:?}", context.record.name, key.name, outcome.problems))
    };
    if expected && outcome.is_malformed() {
        return what("the reader refuses", "what the table allows:");
    }
    if !expected && !outcome.at_key && !is_looser(&key.shape, value) {
        return what("the reader accepts", "what the table does not allow, or reports it elsewhere:");
    }
    if expected && !valid {
        return what("the schema refuses", "what the table allows:");
    }
    if !expected && valid && !is_looser(&key.shape, value) {
        return what("the schema accepts", "what the table does not allow:");
    }
    None
}

#[test]
fn table_reader_and_schema_agree_about_every_key_and_every_kind_of_value() {
    let validators = validators();
    let mut found = Vec::new();
    let mut documents = 0;
    for context in CONTEXTS {
        for key in context.record.keys() {
            let values = samples(context.record, key);
            assert!(
                values.iter().all(|value| fits(&key.shape, value)),
                "{}.{}",
                context.record.name,
                key.name
            );
            for value in values.into_iter().chain(kinds()) {
                // That one of several keys has to be there, only the reader knows.
                let is_source = matches!((context.record.name, key.name), (_, "key") | ("webhook", "secret"));
                if is_source && value == Value::Map(Vec::new()) {
                    continue;
                }
                documents += 1;
                found.extend(disagreement(context, key, &value, &validators));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(documents > 1_500, "{documents}");
}

#[test]
fn unknown_and_missing_keys_are_refused_by_reader_and_schema() {
    let validators = validators();
    for context in CONTEXTS {
        let (_, validator) = validators.iter().find(|(format, _)| *format == context.format).unwrap();
        let unknown = context.document("zzz", Some(Value::Int(1)));
        let refused = context.record.others == Others::Refused;
        let outcome = context.read(&unknown, "zzz");
        assert_eq!(outcome.codes.contains(&Code::UnknownKey), refused, "{}", context.record.name);
        assert_eq!(!validator.is_valid(&json(&unknown)), refused, "{}", context.record.name);
        for key in context.record.keys().filter(|key| key.required) {
            let missing = context.document(key.name, None);
            let outcome = context.read(&missing, key.name);
            assert!(outcome.codes.contains(&Code::MissingKey), "{}.{}", context.record.name, key.name);
            assert!(!validator.is_valid(&json(&missing)), "{}.{}", context.record.name, key.name);
        }
    }
}

#[test]
fn every_record_that_a_table_leads_to_is_tested() {
    fn visit(shape: &Shape, seen: &mut BTreeSet<&'static str>) {
        match shape {
            Shape::Record(record) => records(record, seen),
            Shape::List(item, _) | Shape::OneOrMany(item) | Shape::Map(_, item) => visit(item, seen),
            Shape::AnyOf(shapes) => shapes.iter().for_each(|shape| visit(shape, seen)),
            _ => {}
        }
    }
    fn records(record: &'static Record, seen: &mut BTreeSet<&'static str>) {
        if seen.insert(record.name) {
            record.keys().for_each(|key| visit(&key.shape, seen));
        }
    }
    let mut reachable = BTreeSet::new();
    for (_, format) in Format::ALL {
        records(format.record(), &mut reachable);
    }
    let tested: BTreeSet<&str> = CONTEXTS.iter().map(|context| context.record.name).collect();
    assert_eq!(tested, reachable);
    for context in CONTEXTS {
        assert!(fits(&Shape::Record(context.record), &minimal(context.record)), "{}", context.record.name);
    }
}
