//! From an offset in a scalar's text back to the offset in the file.
//!
//! The text of a scalar is not the bytes of the file: block scalars lose their indentation, quoted ones
//! their escapes. Positions are needed only for messages, so they are computed when one is written.

use super::{Node, Style};

impl Node<'_> {
    /// Returns the file offset of byte `offset` of this scalar's text.
    ///
    /// Exact for every style but folded and escaped text, where it is the nearest place that reads the same.
    pub fn position(&self, source: &str, offset: usize) -> usize {
        let start = self.span.start as usize;
        let end = self.span.end as usize;
        let (Some(written), super::Content::Scalar(scalar)) = (source.get(start..end), &self.content) else {
            return start;
        };
        let text: &str = &scalar.text;
        let offset = offset.min(text.len());
        match scalar.style {
            Style::Plain | Style::Template if written == text => start + offset,
            Style::Quoted if written.len() == text.len() + 2 && &written[1..=text.len()] == text => {
                start + 1 + offset
            }
            Style::Literal => start + in_block(source, start, written, &text.as_bytes()[..offset]),
            _ => start + aligned(written, &text.as_bytes()[..offset]),
        }
    }
}

/// Maps an offset in a literal block: line by line, each written line being indented as the first one is.
fn in_block(source: &str, start: usize, written: &str, before: &[u8]) -> usize {
    let line = before.iter().filter(|byte| **byte == b'\n').count();
    let column = before.len() - before.iter().rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
    let indent = start - source[..start].rfind('\n').map_or(0, |found| found + 1);
    let line_start = match line {
        0 => return column,
        _ => written.match_indices('\n').nth(line - 1).map_or(written.len(), |(found, _)| found + 1),
    };
    (line_start + indent + column).min(written.len())
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
