//! Regular expressions that a definition carries: checked when read, compiled when used.
//!
//! Compiling costs a hundred times more than checking, and most commands never match anything, so a
//! definition holds the checked text only.

use crate::value::effort::{MOST_CLASSES, classes};
use std::fmt;

/// A regular expression of the `regex` crate's syntax: linear time, no look-around, no back-references.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern(String);

/// Why a text is not a usable regular expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadPattern {
    /// What is wrong.
    pub message: String,
    /// Which bytes of the pattern it is about.
    pub range: std::ops::Range<usize>,
}

/// Longer patterns are data, not rules.
const LONGEST: usize = 4_096;
/// Repetitions nested deeper than this are refused, so that the compiled size stays bounded.
const DEEPEST: u32 = 32;

impl Pattern {
    /// Checks that the text is a regular expression.
    pub fn parse(text: &str) -> Result<Self, BadPattern> {
        if text.len() > LONGEST {
            return Err(BadPattern {
                message: format!("the pattern is longer than {LONGEST} bytes"),
                range: 0..text.len(),
            });
        }
        if classes(text) > MOST_CLASSES {
            return Err(BadPattern {
                message: format!("the pattern has more than {MOST_CLASSES} classes"),
                range: 0..text.len(),
            });
        }
        let parsed = regex_syntax::ast::parse::ParserBuilder::new().nest_limit(DEEPEST).build().parse(text);
        match parsed {
            Ok(ast) => regex_syntax::hir::translate::TranslatorBuilder::new()
                .build()
                .translate(text, &ast)
                .map_or_else(
                    |error| Err(bad(&error.kind().to_string(), error.span())),
                    |_| Ok(Self(text.to_owned())),
                ),
            Err(error) => Err(bad(&error.kind().to_string(), error.span())),
        }
    }

    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn bad(message: &str, span: &regex_syntax::ast::Span) -> BadPattern {
    BadPattern { message: message.to_owned(), range: span.start.offset..span.end.offset }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_checked_when_read() {
        assert!(Pattern::parse(r"^v\d+\.\d+\.\d+$").is_ok());
        let bad = Pattern::parse("a(b").unwrap_err();
        assert_eq!((bad.to_string().as_str(), bad.range), ("unclosed group", 1..2));
        let bad = Pattern::parse("(?=x)").unwrap_err();
        assert_eq!(bad.to_string(), "look-around, including look-ahead and look-behind, is not supported");
        assert!(Pattern::parse(&"(".repeat(5_000)).is_err());
        assert!(Pattern::parse(&"(".repeat(1_000)).is_err());
    }
}
