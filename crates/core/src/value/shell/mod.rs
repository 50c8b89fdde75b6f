//! Values in shell text: each placeholder becomes a reference to an environment variable, never code.
//!
//! A script arrives as [`Piece`]s. [`analyse`] finds out in which quoting context each placeholder stands and
//! refuses those where a shell would evaluate the value; [`render`] writes the script with a reference that
//! fits each context. The text is its author's and trusted; a value comes from anywhere. What the scanner
//! cannot follow for certain it refuses: a gate never passes by accident.
//!
//! The scanner (`scan`) keeps a stack of `frame`s instead of recursing, reads every symbol once, and notes
//! in `flow` which variables a value travels through, since bash evaluates the *content* of variables in
//! arithmetic, subscripts and names.

mod arguments;
mod arithmetic;
mod commands;
mod condition;
mod flow;
mod frame;
mod heredoc;
mod parameter;
mod parentheses;
mod plain;
mod program;
mod quotes;
mod report;
mod scan;
mod symbol;
#[cfg(test)]
mod tests;

pub use plain::plain_command;
pub use report::{Analysis, Lint, LintKind, Refusal, RefusalKind};

use frame::Reference;
use std::borrow::Cow;

/// A part of a script: text of its author, or a place where a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Shell text, taken as it is.
    Text(&'a str),
    /// A value.
    Placeholder {
        /// Whether the value is inserted as shell text (`| raw`), which its author answers for.
        raw: bool,
    },
}

/// Which shell runs the script.
///
/// `Sh` may be dash, or bash under another name, so it refuses what is dangerous in either and what only one
/// of them understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The system's `sh`.
    Sh,
    /// `bash`.
    Bash,
}

/// Returns what is wrong and what is doubtful about the placeholders of a script.
///
/// A raw placeholder counts as an unknown part of a word; [`render`] looks again with its value in place.
pub fn analyse(pieces: &[Piece<'_>], dialect: Dialect) -> Analysis {
    scan::scan(pieces, dialect).analysis
}

/// Returns the script in which every value is a variable reference that fits its quoting context.
///
/// `variable` names the environment variable that carries the value of a placeholder, `raw_value` returns the
/// text of a raw one; both are asked by the placeholder's index. The script is scanned with the raw values in
/// place, so that such a value cannot move another placeholder into a context that was not looked at.
pub fn render(
    pieces: &[Piece<'_>],
    dialect: Dialect,
    variable: impl Fn(usize) -> String,
    raw_value: impl Fn(usize) -> String,
) -> Result<String, Vec<Refusal>> {
    let mut kept = Vec::new();
    let mut parts: Vec<Cow<'_, str>> = Vec::new();
    let mut placeholders = 0..;
    for piece in pieces {
        match piece {
            Piece::Text(text) => parts.push(Cow::Borrowed(text)),
            Piece::Placeholder { raw } => {
                let index = placeholders.next().unwrap_or(usize::MAX);
                if *raw {
                    parts.push(Cow::Owned(raw_value(index)));
                } else {
                    kept.push((parts.len(), index));
                    parts.push(Cow::Borrowed(""));
                }
            }
        }
    }
    // What is looked for is how values stand in the text: without one, the text is the script.
    if kept.is_empty() {
        return Ok(parts.concat());
    }
    let mut next_kept = kept.iter().map(|(part, _)| *part).peekable();
    let resolved: Vec<Piece<'_>> = parts
        .iter()
        .enumerate()
        .map(|(part, text)| match next_kept.next_if_eq(&part) {
            Some(_) => Piece::Placeholder { raw: false },
            None => Piece::Text(text),
        })
        .collect();
    let scanned = scan::scan(&resolved, dialect);
    if !scanned.analysis.refusals.is_empty() {
        let original = |refusal: Refusal| Refusal { placeholder: kept[refusal.placeholder].1, ..refusal };
        return Err(scanned.analysis.refusals.into_iter().map(original).collect());
    }
    let mut script = String::new();
    let mut references = scanned.references.iter().zip(&kept);
    for piece in resolved {
        match piece {
            Piece::Text(text) => script.push_str(text),
            Piece::Placeholder { .. } => {
                if let Some((reference, (_, index))) = references.next() {
                    script.push_str(&reference.to(&variable(*index)));
                }
            }
        }
    }
    Ok(script)
}

impl Reference {
    /// Returns the text that refers to a variable in this context.
    fn to(self, variable: &str) -> String {
        match self {
            Self::Quoted => format!("\"${{{variable}}}\""),
            Self::Plain => format!("${{{variable}}}"),
            Self::Reopened => format!("'\"${{{variable}}}\"'"),
        }
    }
}
