//! From byte offsets to lines and columns, and the texts of other files.

use super::{FileReport, Sources};
use abide_core::source::Span;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// A text and where its lines start; `\n`, `\r\n` and `\r` end a line, as in YAML and in editors.
#[derive(Debug)]
pub(super) struct Text {
    text: Box<str>,
    starts: Vec<usize>,
}

/// A place as people count: from 1, in lines and characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (index, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || (*byte == b'\r' && bytes.get(index + 1) != Some(&b'\n')) {
                starts.push(index + 1);
            }
        }
        Self { text: text.into(), starts }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the span as a range that can be sliced: inside the text, and of whole characters.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        let start = self.text.floor_char_boundary(span.start as usize);
        let end = self.text.ceil_char_boundary(span.end as usize).min(self.text.len());
        start..end.max(start)
    }

    /// Returns the position of the line that holds an offset.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset) - 1
    }

    /// Returns where a line stands, without its end.
    pub(super) fn line(&self, index: usize) -> Range<usize> {
        let start = self.starts[index];
        let end = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        start..start + self.text[start..end].trim_end_matches(['\n', '\r']).len()
    }

    /// Returns the place of an offset on a character boundary.
    pub(super) fn place(&self, offset: usize) -> Place {
        let index = self.line_at(offset);
        let line = self.line(index);
        let before = &self.text[line.start..offset.min(line.end)];
        Place { line: index + 1, column: before.chars().count() + 1 }
    }
}

/// The texts of all files that a report is about, each read and cut into lines once.
pub(super) struct Texts<'a> {
    sources: Sources<'a>,
    known: HashMap<String, Option<Rc<Text>>>,
}

impl<'a> Texts<'a> {
    pub(super) fn new(sources: Sources<'a>) -> Self {
        Self { sources, known: HashMap::new() }
    }

    /// Returns the text of a report's own file.
    pub(super) fn own(&mut self, report: &FileReport<'_>) -> Option<Rc<Text>> {
        let text = report.source.map(|source| Rc::new(Text::new(source)));
        self.known.insert(report.path.to_owned(), text.clone());
        text
    }

    /// Returns the text of another file.
    pub(super) fn other(&mut self, path: &str) -> Option<Rc<Text>> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let text = (self.sources)(path).map(|source| Rc::new(Text::new(&source)));
        self.known.insert(path.to_owned(), text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_end_counts_once() {
        let text = Text::new("a\nb\r\nc\rd");
        let lines: Vec<&str> = (0..4).map(|index| &text.as_str()[text.line(index)]).collect();
        assert_eq!(lines, ["a", "b", "c", "d"]);
        assert_eq!(text.place(7), Place { line: 4, column: 1 });
        // Between `\r` and `\n` is still the end of the line.
        assert_eq!(text.place(4), Place { line: 2, column: 2 });
    }

    #[test]
    fn columns_are_characters_and_offsets_are_forgiven() {
        let text = Text::new("ä漢x");
        assert_eq!(text.place(5), Place { line: 1, column: 3 });
        assert_eq!(text.range(Span::new(1, 3)), 0..5);
        assert_eq!(text.range(Span::new(90, 99)), 6..6);
        assert_eq!(Text::new("").place(0), Place { line: 1, column: 1 });
        assert_eq!(Text::new("a\n").place(2), Place { line: 2, column: 1 });
    }
}
