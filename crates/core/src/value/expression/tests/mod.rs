//! Tables of the language: what parses, what checks, what evaluates, and how everything else is refused.

mod check;
mod evaluate;
mod parse;
mod properties;

use super::{Expression, Fields, Type};
use crate::value::Value;

/// A run: what inputs and steps hold.
fn values() -> Value {
    map([
        (
            "inputs",
            map([
                ("environment", text("staging")),
                ("version", text("v1.2.3")),
                ("replicas", Value::Int(3)),
                ("ratio", Value::Float(0.5)),
                ("force", Value::Bool(false)),
                ("regions", Value::List(vec![text("eu"), text("us")])),
                ("token", text("hunter2")),
                ("reason", Value::Null),
                ("odd name", text("odd")),
            ]),
        ),
        (
            "steps",
            map([
                ("get-diff", map([("output", text("+ line\n")), ("status", text("completed"))])),
                (
                    "build",
                    map([
                        ("output", map([("count", Value::Int(2)), ("urls", Value::List(vec![text("a")]))])),
                        ("status", text("failed")),
                    ]),
                ),
            ]),
        ),
        ("input", text("ship it")),
    ])
}

/// The types of [`values`], where `steps.build.output` is not known before the run.
fn scope() -> Fields {
    let status = Type::choice(["completed", "failed", "skipped"]);
    let step = |output| Type::record([("output", output), ("status", status.clone())]);
    Fields::from_iter([
        (
            "inputs",
            Type::record([
                ("environment", Type::choice(["production", "staging"])),
                ("version", Type::Text),
                ("replicas", Type::Int),
                ("ratio", Type::Float),
                ("force", Type::Bool),
                ("regions", Type::list(Type::Text)),
                ("token", Type::Text),
                ("reason", Type::Optional(Box::new(Type::Text))),
                ("odd name", Type::Text),
            ]),
        ),
        ("steps", Type::record([("get-diff", step(Type::Text)), ("build", step(Type::Any))])),
        ("input", Type::Text),
    ])
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn parsed(text: &str) -> Expression {
    Expression::parse(text, 0).unwrap_or_else(|problem| panic!("{text}: {problem:?}"))
}
