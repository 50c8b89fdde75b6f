//! Where a reader of frontmatter stands: characters, line breaks, indentation.

use super::data::Data;
use std::borrow::Cow;
use std::collections::HashMap;

/// How deep values may be nested; the others end with their stack.
pub(super) const DEEPEST: usize = 100;
/// How many entries merges may bring, those that are there already included.
pub(super) const MOST_MERGED: usize = 100_000;
/// How long a key may be that is made of a list.
pub(super) const LONGEST_KEY: usize = 64 * 1024;

/// Why a text is not YAML, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The byte at which reading ended.
    pub(crate) at: usize,
    /// What was expected there.
    pub(crate) message: String,
}

/// A text, and how far it has been read.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) position: usize,
    pub(super) line: usize,
    pub(super) line_start: usize,
    /// How many spaces the current line begins with.
    pub(super) line_indent: i32,
    pub(super) anchors: HashMap<&'a str, Data<'a>>,
    pub(super) depth: usize,
    /// How many entries merges have looked at.
    pub(super) merged: usize,
}

pub(super) fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

pub(super) fn is_space(byte: u8) -> bool {
    is_break(byte) || is_blank(byte)
}

pub(super) fn is_flow(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning of a text that holds no NUL, which stands for the end.
    pub(super) fn new(text: &'a str) -> Self {
        let indent = text.bytes().take_while(|byte| *byte == b' ').count();
        Self {
            text,
            position: indent,
            line: 0,
            line_start: 0,
            line_indent: i32::try_from(indent).unwrap_or(i32::MAX),
            anchors: HashMap::new(),
            depth: 0,
            merged: 0,
        }
    }

    /// Returns the byte at a place; zero after the end.
    pub(super) fn at(&self, position: usize) -> u8 {
        self.text.as_bytes().get(position).copied().unwrap_or(0)
    }

    pub(super) fn here(&self) -> u8 {
        self.at(self.position)
    }

    /// Goes one byte on.
    pub(super) fn step(&mut self) -> u8 {
        self.position += 1;
        self.here()
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Result<T, Failure> {
        Err(Failure { at: self.position.min(self.text.len()), message: message.into() })
    }

    /// Returns how far into its line the reader stands, in the units that JavaScript counts.
    pub(super) fn column(&self) -> i32 {
        let before = &self.text[self.line_start.min(self.position)..self.position];
        let width = if before.is_ascii() { before.len() } else { before.encode_utf16().count() };
        i32::try_from(width).unwrap_or(i32::MAX)
    }

    pub(super) fn line_break(&mut self) -> Result<(), Failure> {
        match self.here() {
            b'\n' => self.position += 1,
            b'\r' => self.position += if self.at(self.position + 1) == b'\n' { 2 } else { 1 },
            _ => return self.fail("a line break is expected"),
        }
        self.line += 1;
        self.line_start = self.position;
        Ok(())
    }

    /// Skips blanks, comments and line breaks; returns how many breaks there were.
    pub(super) fn separation(&mut self, comments: bool) -> Result<usize, Failure> {
        let mut breaks = 0;
        loop {
            while is_blank(self.here()) {
                self.position += 1;
            }
            if comments && self.here() == b'#' {
                while !is_break(self.here()) && self.position < self.text.len() {
                    self.position += 1;
                }
            }
            if !is_break(self.here()) {
                return Ok(breaks);
            }
            self.line_break()?;
            breaks += 1;
            self.line_indent = 0;
            while self.here() == b' ' {
                self.line_indent += 1;
                self.position += 1;
            }
        }
    }

    /// Tells whether `---` or `...` stands here alone.
    pub(super) fn at_separator(&self) -> bool {
        let mark = self.here();
        let after = self.at(self.position + 3);
        matches!(mark, b'-' | b'.')
            && mark == self.at(self.position + 1)
            && mark == self.at(self.position + 2)
            && (after == 0 || is_space(after))
    }

    /// Takes a part of the text, unless it has characters that no text has.
    pub(super) fn take(
        &self,
        into: &mut Cow<'a, str>,
        start: usize,
        end: usize,
        quoted: bool,
    ) -> Result<(), Failure> {
        let text: &'a str = self.text;
        let Some(part) = text.get(start..end).filter(|part| !part.is_empty()) else { return Ok(()) };
        let bad = |character: char| {
            if quoted {
                character < ' ' && character != '\t'
            } else {
                matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{84}'
                    | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
            }
        };
        // Most have nothing but what is printed in one byte; all bytes at once, so that many are looked at together.
        let is_plain = part.bytes().fold(true, |plain, byte| plain & (b' '..=b'~').contains(&byte));
        if !is_plain && part.contains(bad) {
            return self.fail("the text holds characters that cannot be printed");
        }
        if into.is_empty() {
            *into = Cow::Borrowed(part);
        } else {
            into.to_mut().push_str(part);
        }
        Ok(())
    }
}

/// Adds what folding makes of line breaks: one is a space, more are one less.
pub(super) fn fold(into: &mut Cow<'_, str>, breaks: usize) {
    match breaks {
        0 => {}
        1 => into.to_mut().push(' '),
        more => into.to_mut().extend(std::iter::repeat_n('\n', more - 1)),
    }
}
