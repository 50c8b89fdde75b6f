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

/// Reads a YAML or JSON text as plain data; the first problem is the answer when it cannot be read.
pub fn data(source: &str) -> Result<Value, String> {
    let document = parse(source);
    match (document.root, document.problems.into_iter().find(abide_core::diagnostic::Diagnostic::is_error)) {
        (Some(root), None) => Ok(crate::read::data(&root)),
        (_, Some(problem)) => Err(problem.message),
        (None, None) => Err("it is empty".to_owned()),
    }
}
