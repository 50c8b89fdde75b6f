//! The inputs of an ability.

use crate::read::{Reader, data};
use crate::shape;
use crate::yaml::{Content, Node, Resolved};
use abide_core::definition::{Input, InputName, InputType};
use abide_core::source::Spanned;
use abide_core::value::Value;

pub(super) fn read(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<Input> {
    reader
        .entries(node, "a mapping from input names to their rules")
        .iter()
        .filter_map(|(key, value)| {
            let name = reader.name(key, InputName::parse)?;
            Some(input(reader, name, value))
        })
        .collect()
}

fn input(reader: &mut Reader<'_>, name: Spanned<InputName>, node: &Node<'_>) -> Input {
    let mut input = Input::named(name);
    // `version:` with nothing behind it is an input without rules.
    if node.is_null() {
        return input;
    }
    let Some(mut fields) = reader.fields(node, &shape::INPUT, |_| None) else { return input };
    input.input_type =
        fields.take(reader, "type").and_then(|node| reader.choice(node, InputType::WORDS, InputType::parse));
    let input_type = input.input_type();
    input.required = fields.take(reader, "required").and_then(|node| reader.boolean(node));
    input.default =
        fields.take(reader, "default").map(|node| Spanned::new(typed(node, input_type), node.span));
    input.description = fields.take(reader, "description").and_then(|node| reader.text(node));
    input.pattern = fields.take(reader, "pattern").and_then(|node| reader.regex(node));
    if let Some(node) = fields.take(reader, "enum") {
        input.choices = reader
            .list(node, "a list of values", |_, node| Some(Spanned::new(typed(node, input_type), node.span)));
    }
    input.min = fields.take(reader, "min").and_then(|node| reader.number(node));
    input.max = fields.take(reader, "max").and_then(|node| reader.number(node));
    input.min_length = fields.take(reader, "minLength").and_then(|node| reader.count(node, 0, 1_000_000));
    input.max_length = fields.take(reader, "maxLength").and_then(|node| reader.count(node, 0, 1_000_000));
    input.secret = fields.take(reader, "secret").and_then(|node| reader.boolean(node));
    fields.finish();
    input
}

/// Returns a value as its input's type reads it: for a string, `1.10` and `true` are taken as written.
fn typed(node: &Node<'_>, input_type: InputType) -> Value {
    match &node.content {
        Content::Scalar(scalar) if input_type == InputType::String && scalar.resolve() != Resolved::Null => {
            Value::Text(scalar.text.clone().into_owned())
        }
        _ => data(node),
    }
}
