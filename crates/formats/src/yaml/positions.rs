//! From an offset in a scalar's text back to the offset in the file.
//!
//! The text of a scalar is not the bytes of the file: block scalars lose their indentation, quoted ones
//! their escapes. Positions are needed only for messages, so they are computed when one is written.

use super::{Node, Style};

/// How the text of one scalar lies in its file.
#[derive(Debug)]
pub enum Positions<'a> {
    /// The text is written as it is, from this offset on.
    Plain(usize),
    /// Line by line: where each line starts in the text, and where in the file.
    Lines(Vec<(usize, usize)>),
    /// The file has more than the text: escapes, or line ends that were folded.
    Aligned {
        /// Where the scalar starts.
        start: usize,
        /// The scalar as the file has it.
        written: &'a str,
        /// What it means.
        text: &'a str,
    },
}

impl Node<'_> {
    /// Returns the file offset of byte `offset` of this scalar's text.
    ///
    /// Exact for every style but folded and escaped text, where it is the nearest place that reads the same.
    pub fn position(&self, source: &str, offset: usize) -> usize {
        self.positions(source).at(offset)
    }

    /// Returns how this scalar's text lies in the file, to look up several offsets.
    pub fn positions<'a>(&'a self, source: &'a str) -> Positions<'a> {
        let start = self.span.start as usize;
        let end = self.span.end as usize;
        let (Some(written), super::Content::Scalar(scalar)) = (source.get(start..end), &self.content) else {
            return Positions::Aligned { start, written: "", text: "" };
        };
        let text: &str = &scalar.text;
        match scalar.style {
            Style::Plain | Style::Template if written == text => Positions::Plain(start),
            Style::Quoted if written.len() == text.len() + 2 && &written[1..=text.len()] == text => {
                Positions::Plain(start + 1)
            }
            Style::Literal => Positions::Lines(lines(source, start, written, text)),
            _ => Positions::Aligned { start, written, text },
        }
    }
}

impl Positions<'_> {
    /// Returns the file offset of a byte of the text.
    pub fn at(&self, offset: usize) -> usize {
        match self {
            Self::Plain(start) => start + offset,
            Self::Lines(lines) => {
                let line = lines.partition_point(|(in_text, _)| *in_text <= offset).saturating_sub(1);
                lines.get(line).map_or(0, |(in_text, in_file)| in_file + offset - in_text)
            }
            Self::Aligned { start, written, text } => {
                start + aligned(written, &text.as_bytes()[..offset.min(text.len())])
            }
        }
    }
}

/// Pairs the lines of a literal block with those of the file, each being indented as the first one is.
fn lines(source: &str, start: usize, written: &str, text: &str) -> Vec<(usize, usize)> {
    let indent = start - source[..start].rfind('\n').map_or(0, |found| found + 1);
    let ends = |text: &str| text.match_indices('\n').map(|(found, _)| found + 1).collect::<Vec<_>>();
    let in_file = ends(written).into_iter().map(|line| start + (line + indent).min(written.len()));
    let end = start + written.len();
    let rest = ends(text).into_iter().zip(in_file.chain(std::iter::repeat(end)));
    std::iter::once((0, start)).chain(rest).collect()
}

/// Maps an offset by reading both texts side by side and skipping what only the file has.
fn aligned(written: &str, before: &[u8]) -> usize {
    let written = written.as_bytes();
    let mut position = usize::from(matches!(written.first(), Some(b'"' | b'\'')));
    for wanted in before {
        match written[position.min(written.len())..].iter().take(64).position(|byte| byte == wanted) {
            Some(skipped) => position += skipped + 1,
            None => position += 1,
        }
    }
    position.min(written.len())
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
            assert_eq!(node.position(source, offset), source.find(name).unwrap(), "{name}");
        }
    }
}
