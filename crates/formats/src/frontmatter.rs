//! Markdown with YAML on top: where the frontmatter ends and the body begins.
//!
//! The files are shared with other tools, so reading is lenient: values with colons that YAML refuses are
//! repaired, but only after a real failure, so that nothing which parsed is ever changed.

use crate::yaml::{self, Content, Document, Node};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::source::Span;
use std::borrow::Cow;

/// A Markdown file, taken apart.
pub(crate) struct Split<'a> {
    /// Everything up to the closing fence, with the opening one: YAML reads it as a document start.
    pub(crate) head: &'a str,
    /// Everything after the closing fence.
    pub(crate) body: &'a str,
}

/// Takes a file apart, or returns `None` when it has no frontmatter.
///
/// Text behind the opening fence names a language in other tools, some of which evaluate it: such a file has
/// no frontmatter for us.
pub(crate) fn split(source: &str) -> Option<Split<'_>> {
    let first_end = source.find('\n')?;
    if source[..first_end].trim_end() != "---" {
        return None;
    }
    let rest = &source[first_end..];
    match rest.find("\n---") {
        Some(close) => {
            let head_end = first_end + close + 1;
            let after = &source[head_end + 3..];
            let body = after.find('\n').map_or("", |line_end| &after[line_end + 1..]);
            Some(Split { head: &source[..head_end], body })
        }
        None => Some(Split { head: source, body: "" }),
    }
}

/// Rewrites top-level `key: value: more` lines as quoted text, as a last resort.
pub(crate) fn repaired(head: &str) -> Option<String> {
    let mut changed = false;
    let lines: Vec<Cow<'_, str>> = head
        .lines()
        .map(|line| {
            let Some((key, value)) = line.split_once(':') else { return line.into() };
            let value = value.trim();
            let is_key = !key.is_empty()
                && key
                    .chars()
                    .all(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-'));
            let is_structured =
                value.is_empty() || value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*']);
            if !is_key || is_structured || !value.contains([':', '#']) {
                return line.into();
            }
            changed = true;
            format!("{key}: \"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")).into()
        })
        .collect();
    changed.then(|| lines.join("\n"))
}

/// Parses the frontmatter; every span points into `head`, even if it had to be repaired.
pub(crate) fn parse<'a>(head: &'a str, buffer: &'a mut String) -> Document<'a> {
    let document = yaml::parse(head);
    if document.root.is_some() {
        return document;
    }
    let Some(text) = repaired(head) else { return document };
    *buffer = text;
    let mut again = yaml::parse(buffer);
    let Some(root) = &mut again.root else { return document };
    let places = Places { head, repaired: buffer, lines: lines(buffer).zip(lines(head)).collect() };
    places.move_node(root);
    for problem in &mut again.problems {
        // A fix would replace text that the file does not have.
        problem.fix = None;
        problem.at = problem.at.map(|at| places.of(at));
        for related in &mut problem.related {
            related.at = places.of(related.at);
        }
    }
    again
}

/// Returns where each line starts.
fn lines(text: &str) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(found, _)| found + 1))
}

/// The way from a repaired text back to the file: line by line, as far into the line.
struct Places<'a> {
    head: &'a str,
    repaired: &'a str,
    /// Where each line starts, in the repaired text and in the file.
    lines: Vec<(usize, usize)>,
}

impl Places<'_> {
    fn of(&self, span: Span) -> Span {
        let place = |offset: u32| {
            let offset = (offset as usize).min(self.repaired.len());
            let line = self.lines.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
            let (repaired, written) = self.lines[line];
            let rest = &self.head[written..];
            let length = rest.find('\n').unwrap_or(rest.len());
            self.head.floor_char_boundary(written + (offset - repaired).min(length))
        };
        Span::new(place(span.start), place(span.end))
    }

    fn move_node(&self, node: &mut Node<'_>) {
        node.span = self.of(node.span);
        match &mut node.content {
            Content::Scalar(_) => {}
            Content::Sequence(items) => items.iter_mut().for_each(|item| self.move_node(item)),
            Content::Mapping(entries) => {
                for (key, value) in entries {
                    self.move_node(key);
                    self.move_node(value);
                }
            }
        }
    }
}

/// Returns the problem of a file that should have frontmatter and has none.
pub(crate) fn missing() -> Diagnostic {
    Diagnostic::whole_file(Code::NoFrontmatter, "the file has no frontmatter")
        .help("start it with a line `---`, then `description: …`, then another line `---`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_apart_at_its_fences() {
        let split = split("---\r\nname: a\r\n---\r\n\r\nBody\r\n").unwrap();
        assert_eq!((split.head, split.body), ("---\r\nname: a\r\n", "\r\nBody\r\n"));
        assert!(super::split("---js\nx\n---\n").is_none());
        assert!(super::split("# Title\n").is_none());
        let open = super::split("---\nname: a\n").unwrap();
        assert_eq!((open.head, open.body), ("---\nname: a\n", ""));
    }

    #[test]
    fn only_what_fails_is_repaired() {
        let mut buffer = String::new();
        let head = "---\nname: a\ndescription: Use when: always\nmodel: [x]\n";
        let root = parse(head, &mut buffer).root.unwrap();
        assert_eq!(root.get("description").unwrap().text(), Some("Use when: always"));
        assert_eq!(&head[root.get("model").unwrap().span.range()], "[x]");
        let mut buffer = String::new();
        let document = parse("---\nname: a\ndescription: see http://x\n", &mut buffer);
        assert_eq!(document.root.unwrap().get("description").unwrap().text(), Some("see http://x"));
        assert_eq!(buffer, "");
    }
}
