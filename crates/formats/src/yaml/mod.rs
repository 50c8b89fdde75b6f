//! Text → nodes: YAML 1.2 with a span for every node, every duplicate key found, and hard bounds.
//!
//! The parser is `granit-parser`; this module builds a tree of its events. It resolves aliases within a
//! budget, applies `<<` merges, refuses tags that would build other types, and reads an unquoted `{{…}}`
//! as the template that it looks like (YAML itself sees a mapping inside a mapping there).

mod emit;
mod mapping;
mod node;
mod parse;
mod positions;
mod scalar;

pub use emit::emit;
pub use node::{Content, Node, Scalar, Style};
pub use parse::{Document, parse};
pub use positions::Positions;
pub use scalar::Resolved;

use abide_core::value::Value;

/// Reads a YAML or JSON mapping as plain data; what is written under a key that takes text stays as it is written.
///
/// `version: 1.10` is a number to YAML, and a version to whoever takes text.
pub fn entries(source: &str, takes_text: impl Fn(&str) -> bool) -> Result<Value, String> {
    let document = parse(source);
    if let Some(problem) = document.problems.into_iter().find(abide_core::diagnostic::Diagnostic::is_error) {
        return Err(problem.message);
    }
    let root = document.root.ok_or_else(|| "it is empty".to_owned())?;
    let Content::Mapping(entries) = &root.content else { return Ok(crate::read::data(&root)) };
    let entry = |(key, node): &(Node<'_>, Node<'_>)| {
        let key = key.text().unwrap_or_default();
        let value = match &node.content {
            Content::Scalar(scalar) if takes_text(key) && scalar.resolve() != Resolved::Null => {
                Value::Text(scalar.text.clone().into_owned())
            }
            _ => crate::read::data(node),
        };
        (key.to_owned(), value)
    };
    Ok(Value::Map(entries.iter().map(entry).collect()))
}

/// Reads a YAML or JSON text as plain data; the first problem is the answer when it cannot be read.
pub fn data(source: &str) -> Result<Value, String> {
    let document = parse(source);
    match (document.root, document.problems.into_iter().find(abide_core::diagnostic::Diagnostic::is_error)) {
        (Some(root), None) => Ok(crate::read::data(&root)),
        (_, Some(problem)) => Err(problem.message),
        (None, None) => Err("it is empty".to_owned()),
    }
}
