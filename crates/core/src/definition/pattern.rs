//! Regular expressions that a definition carries: checked when read, compiled when used.
//!
//! Compiling costs a hundred times more than checking, and most commands never match anything, so a
//! definition holds the checked text only. The abilities of a project share their patterns (a version, a
//! branch), so each thread remembers the last few that it checked and compiled.

use crate::value::effort::{MOST_CLASSES, classes};
use regex::{Regex, RegexBuilder};
use std::cell::RefCell;
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
/// The memory that one compiled pattern may take.
const LARGEST: usize = 1 << 20;

thread_local! {
    static CHECKED: RefCell<Recent<(), 32>> = const { RefCell::new(Recent::new()) };
    /// Few, because each may take [`LARGEST`] bytes.
    static COMPILED: RefCell<Recent<Regex, 8>> = const { RefCell::new(Recent::new()) };
}

/// What was found out about the last few patterns.
struct Recent<Found, const MOST: usize> {
    found: Vec<(String, Found)>,
    /// The place that the next one takes.
    next: usize,
}

impl<Found, const MOST: usize> Recent<Found, MOST> {
    const fn new() -> Self {
        Self { found: Vec::new(), next: 0 }
    }

    fn get(&self, pattern: &str) -> Option<&Found> {
        self.found.iter().find(|(known, _)| known == pattern).map(|(_, found)| found)
    }

    fn add(&mut self, pattern: &str, found: Found) {
        let entry = (pattern.to_owned(), found);
        match self.found.get_mut(self.next) {
            Some(oldest) => *oldest = entry,
            None => self.found.push(entry),
        }
        self.next = (self.next + 1) % MOST;
    }
}

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
        if CHECKED.with_borrow(|checked| checked.get(text).is_none()) {
            check(text)?;
            CHECKED.with_borrow_mut(|checked| checked.add(text, ()));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns whether a text matches, or `None` when the pattern is too large to be compiled.
    pub fn matches(&self, text: &str) -> Option<bool> {
        COMPILED.with_borrow_mut(|compiled| {
            if let Some(known) = compiled.get(&self.0) {
                return Some(known.is_match(text));
            }
            let new = RegexBuilder::new(&self.0).size_limit(LARGEST).build().ok()?;
            let matches = new.is_match(text);
            compiled.add(&self.0, new);
            Some(matches)
        })
    }

    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check(text: &str) -> Result<(), BadPattern> {
    let ast = regex_syntax::ast::parse::ParserBuilder::new()
        .nest_limit(DEEPEST)
        .build()
        .parse(text)
        .map_err(|error| bad(&error.kind().to_string(), error.span()))?;
    if needs_translation(text) {
        regex_syntax::hir::translate::Translator::new()
            .translate(text, &ast)
            .map_err(|error| bad(&error.kind().to_string(), error.span()))?;
    }
    Ok(())
}

/// Tells whether a pattern that parses can still be refused: only Unicode classes have names that may not
/// exist, and only flags can make a pattern match what is not UTF-8.
fn needs_translation(text: &str) -> bool {
    text.contains(r"\p") || text.contains(r"\P") || text.contains("(?")
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

    #[test]
    fn what_parses_and_means_nothing_is_refused_too() {
        for text in [r"\pX", r"[\p{Nonsense}]", r"\P{Script=Klingon}", r"(?-u:\xff)", r"(?-u)\W"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
        // What is taken without a closer look can be compiled.
        for text in [r"[^\s\S]", r"[a&&b]", r"\xff", r"\bx\B", r"[[:alpha:]]\d{2,}", "^$|a*?", ""] {
            assert!(Pattern::parse(text).is_ok() && Regex::new(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn many_patterns_in_turns_each_answer_for_themselves() {
        for round in 0..3 {
            for number in 0..40 {
                let pattern = Pattern::parse(&format!("^{number}$")).unwrap();
                assert_eq!(pattern.matches(&number.to_string()), Some(true), "{round}");
                assert_eq!(pattern.matches("no"), Some(false));
            }
        }
        assert_eq!(Pattern::parse(r"(\pL{1000}){1000}").unwrap().matches("x"), None);
    }
}
