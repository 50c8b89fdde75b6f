//! Changing a configuration file that belongs to somebody else.
//!
//! What is added is inserted into the text as it stands, so that comments, spacing and line ends of the rest stay
//! as they are, and what was added can be taken out again to the same bytes. A [`Draft`] is the text with a
//! record of what was inserted; [`json`] and [`toml`] know where to insert, and how to find what is to be removed when the
//! record no longer fits, because somebody changed the file since.

pub mod json;
pub mod jsonc;
pub mod toml;

use std::ops::Range;

/// A text, and which parts of it were inserted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    text: String,
    /// In order, apart from each other.
    added: Vec<Range<usize>>,
}

/// Why a file cannot be edited; it is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It cannot be understood.
    #[error("line {line}, column {column}: {what}")]
    Unreadable {
        /// Counted from one.
        line: usize,
        /// Counted from one, in characters.
        column: usize,
        /// What was found or expected.
        what: String,
    },
    /// Something stands where the new part has to go.
    #[error("line {line}: `{path}` is not {expected}")]
    Shape {
        /// Counted from one.
        line: usize,
        /// The keys, joined by dots.
        path: String,
        /// What it would have to be.
        expected: &'static str,
    },
    /// The same name is taken by something of the user's.
    #[error("`{path}` is already there, and is not abide's")]
    Taken {
        /// The keys, joined by dots.
        path: String,
    },
}

impl Problem {
    fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let (line, column) = position(text, offset);
        Self::Unreadable { line, column, what: what.into() }
    }
}

impl Draft {
    /// Starts with a text in which nothing is new.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), added: Vec::new() }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns which bytes of the text were inserted.
    pub fn added(&self) -> &[Range<usize>] {
        &self.added
    }

    fn insert(&mut self, at: usize, text: &str) {
        self.text.insert_str(at, text);
        let length = text.len();
        let mut inside = false;
        for range in &mut self.added {
            if range.start >= at {
                range.start += length;
                range.end += length;
            } else if range.end >= at {
                range.end += length;
                inside = true;
            }
        }
        if !inside && length > 0 {
            let before = self.added.partition_point(|range| range.start < at);
            self.added.insert(before, at..at + length);
        }
    }
}

/// Returns a text without some of its parts, or nothing when they are not parts of it.
pub fn without(text: &str, parts: &[Range<usize>]) -> Option<String> {
    let mut rest = String::with_capacity(text.len());
    let mut from = 0;
    for part in parts {
        rest.push_str(text.get(from..part.start)?);
        text.get(part.clone())?;
        from = part.end;
    }
    rest.push_str(text.get(from..)?);
    Some(rest)
}

/// Returns the line end that a text uses.
fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_can_be_taken_out() {
        let mut draft = Draft::new("abc");
        draft.insert(3, "!");
        draft.insert(1, "XY");
        draft.insert(2, "-");
        draft.insert(0, "<");
        assert_eq!(draft.text(), "<aX-Ybc!");
        assert_eq!(draft.added(), [0..1, 2..5, 7..8]);
        assert_eq!(without(draft.text(), draft.added()).as_deref(), Some("abc"));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        for parts in [&[(0, 9)][..], &[(2, 1)], &[(1, 2), (0, 1)], &[(1, 2)]] {
            let parts: Vec<Range<usize>> = parts.iter().map(|(start, end)| *start..*end).collect();
            assert_eq!(without("é", &parts), None, "{parts:?}");
        }
    }
}
