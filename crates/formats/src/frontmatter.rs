//! Markdown with YAML on top: where the frontmatter ends and the body begins.
//!
//! The files are shared with other tools, so reading is lenient: values with colons that YAML refuses are
//! repaired, but only after a real failure, so that nothing which parsed is ever changed.

use crate::yaml::{self, Document};
use abide_core::diagnostic::{Code, Diagnostic};
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
///
/// Spans of the result do not point into the file.
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

/// Parses the frontmatter; the second value tells whether it had to be repaired.
pub(crate) fn parse<'a>(head: &'a str, buffer: &'a mut String) -> (Document<'a>, bool) {
    let document = yaml::parse(head);
    if document.root.is_some() {
        return (document, false);
    }
    match repaired(head) {
        Some(text) => {
            *buffer = text;
            let again = yaml::parse(buffer);
            if again.root.is_some() { (again, true) } else { (document, false) }
        }
        None => (document, false),
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
        let (document, repaired) = parse("---\nname: a\ndescription: Use when: always\n", &mut buffer);
        assert!(repaired);
        assert_eq!(document.root.unwrap().get("description").unwrap().text(), Some("Use when: always"));
        let mut buffer = String::new();
        let (document, repaired) = parse("---\nname: a\ndescription: see http://x\n", &mut buffer);
        assert!(!repaired);
        assert_eq!(document.root.unwrap().get("description").unwrap().text(), Some("see http://x"));
    }
}
