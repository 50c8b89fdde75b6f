//! The tree that every reader walks: what was written, and where.

use abide_core::source::Span;
use std::borrow::Cow;

/// One YAML node with its place in the file.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    /// Where it was written.
    pub span: Span,
    /// What was written.
    pub content: Content<'a>,
}

/// What a node holds.
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// A single value.
    Scalar(Scalar<'a>),
    /// A list.
    Sequence(Vec<Node<'a>>),
    /// Keys and values, in the order in which they were written; keys are unique.
    Mapping(Vec<(Node<'a>, Node<'a>)>),
}

/// A single value as text.
#[derive(Debug, Clone)]
pub struct Scalar<'a> {
    /// The text after YAML's own unescaping.
    pub text: Cow<'a, str>,
    /// How it was written.
    pub style: Style,
}

/// How a scalar was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: it may be a number, a boolean or nothing.
    Plain,
    /// An unquoted `{{…}}`.
    Template,
    /// `'…'` or `"…"`, or tagged as a string.
    Quoted,
    /// `|`: line by line.
    Literal,
    /// `>`: lines folded into paragraphs.
    Folded,
}

impl Node<'_> {
    /// Returns the text of a scalar, whatever its type.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// Returns the value under `key` of a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.content {
            Content::Mapping(entries) => {
                entries.iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Returns the words that messages use for what stands here.
    pub fn kind(&self) -> &'static str {
        match &self.content {
            Content::Scalar(scalar) => scalar.resolve().kind(),
            Content::Sequence(_) => "a list",
            Content::Mapping(_) => "a mapping",
        }
    }

    /// Returns whether nothing stands here (`key:` with no value, `~` or `null`).
    pub fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar(scalar) if scalar.resolve() == super::Resolved::Null)
    }
}
