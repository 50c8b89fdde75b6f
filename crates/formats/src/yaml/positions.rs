//! From an offset in a scalar's text back to the offset in the file.
//!
//! The text of a scalar is not the bytes of the file: block scalars lose their indentation, quoted ones
//! their escapes. A template asks for the place of each of its names, so what answers is prepared once:
//! however long the text is, an answer takes the same time.

use super::{Content, Node, Style};
use std::cell::OnceCell;

/// How far apart the places are that are remembered of a text with escapes.
const STRIDE: usize = 64;

/// The way from a scalar's text to the file.
pub struct Positions<'n> {
    source: &'n str,
    start: usize,
    written: &'n str,
    text: &'n str,
    style: Style,
    /// Computed when the first place is asked for, because most texts have no placeholder.
    way: OnceCell<Way>,
}

enum Way {
    /// Byte for byte, from here on.
    Same(usize),
    /// Where each line starts, in the text and in the file.
    Lines(Vec<(usize, usize)>),
    /// Where every [`STRIDE`]th byte stands in the file.
    Marks(Vec<usize>),
}

impl Node<'_> {
    /// Returns the way from this scalar's text to its place in the file.
    pub fn positions<'t>(&'t self, source: &'t str) -> Positions<'t> {
        let start = source.floor_char_boundary(self.span.start as usize);
        let written = source.get(start..self.span.end as usize).unwrap_or_default();
        let (text, style): (&str, _) = match &self.content {
            Content::Scalar(scalar) => (&scalar.text, scalar.style),
            _ => ("", Style::Plain),
        };
        Positions { source, start, written, text, style, way: OnceCell::new() }
    }
}

impl Positions<'_> {
    /// Returns the file offset of byte `offset` of the text.
    ///
    /// Exact for every style but folded and escaped text, where it is the nearest place that reads the same.
    /// It is always the start of a character within the scalar, or its end.
    pub fn of(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        let inside = match self.way.get_or_init(|| self.find_way()) {
            Way::Same(first) => first + offset,
            Way::Lines(lines) => {
                let line = lines.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
                lines.get(line).map_or(0, |(start, written)| written + (offset - start))
            }
            Way::Marks(marks) => {
                let mark = offset / STRIDE;
                let from = mark * STRIDE;
                self.follow(marks.get(mark).copied().unwrap_or(0), &self.text.as_bytes()[from..offset])
            }
        };
        self.source.floor_char_boundary(self.start + inside.min(self.written.len()))
    }

    fn find_way(&self) -> Way {
        let (written, text) = (self.written, self.text);
        if written == text {
            return Way::Same(0);
        }
        if self.style == Style::Quoted && written.get(1..=text.len()) == Some(text) {
            return Way::Same(1);
        }
        if self.style == Style::Literal {
            return Way::Lines(self.lines());
        }
        let mut position = usize::from(written.starts_with(['"', '\'']));
        let mut marks = Vec::with_capacity(text.len() / STRIDE + 1);
        for chunk in text.as_bytes().chunks(STRIDE) {
            marks.push(position);
            position = self.follow(position, chunk);
        }
        marks.push(position);
        Way::Marks(marks)
    }

    /// Pairs the lines of a literal block, each written line being indented as the first one is.
    fn lines(&self) -> Vec<(usize, usize)> {
        let indent = self.start - self.source[..self.start].rfind('\n').map_or(0, |found| found + 1);
        let after = |(found, _): (usize, &str)| found + 1;
        let starts = self.text.match_indices('\n').map(after);
        let written = self.written.match_indices('\n').map(|found| after(found) + indent);
        std::iter::once((0, 0)).chain(starts.zip(written)).collect()
    }

    /// Reads both texts side by side and skips what only the file has.
    fn follow(&self, mut position: usize, text: &[u8]) -> usize {
        let written = self.written.as_bytes();
        for wanted in text {
            let rest = written.get(position..).unwrap_or_default();
            position += match rest.iter().take(STRIDE).position(|byte| byte == wanted) {
                Some(skipped) => skipped + 1,
                None => 1,
            };
        }
        position.min(written.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::yaml::parse;

    #[test]
    fn every_style_maps_back_to_the_file() {
        let source = "a: x {{ONE}}\nb: 'y {{TWO}}'\nc: |\n  first\n    {{THREE}}\n\n  {{FOUR}}\nd: >-\n  one\n  {{FIVE}}\ne: \"q\\t\\\"{{SIX}}\"\nf: {{SEVEN}}\n";
        let document = parse(source);
        for (key, name) in [
            ("a", "ONE"),
            ("b", "TWO"),
            ("c", "THREE"),
            ("c", "FOUR"),
            ("d", "FIVE"),
            ("e", "SIX"),
            ("f", "SEVEN"),
        ] {
            let node = document.root.as_ref().unwrap().get(key).unwrap();
            let offset = node.text().unwrap().find(name).unwrap();
            assert_eq!(node.positions(source).of(offset), source.find(name).unwrap(), "{name}");
        }
    }

    #[test]
    fn places_are_starts_of_characters_even_where_the_texts_differ() {
        for source in
            ["!!str éa\n  b", "\"\\u00e9é\\té\"", "|\n  é\n\n    é\n", ">\n é\n é\n\n é\n", "é\n\n é"]
        {
            let document = parse(source);
            let node = document.root.as_ref().unwrap();
            let positions = node.positions(source);
            for offset in 0..=node.text().unwrap().len() + 1 {
                let place = positions.of(offset);
                assert!(source.is_char_boundary(place), "{source:?} {offset}");
            }
        }
    }
}
