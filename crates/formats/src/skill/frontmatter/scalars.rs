//! Single values of frontmatter: plain, quoted, and blocks of lines.

use super::scan::{Failure, Scanner, fold, is_blank, is_break, is_flow, is_space};
use std::borrow::Cow;

/// What happens to the line breaks at the end of a block.
#[derive(PartialEq)]
enum Chomping {
    Clip,
    Strip,
    Keep,
}

impl<'a> Scanner<'a> {
    /// Reads a value without quotes, over several lines if they are indented enough.
    pub(super) fn plain_scalar(
        &mut self,
        indent: i32,
        in_flow: bool,
    ) -> Result<Option<Cow<'a, str>>, Failure> {
        let first = self.here();
        if first == 0
            || is_space(first)
            || is_flow(first)
            || matches!(first, b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"' | b'%' | b'@' | b'`')
        {
            return Ok(None);
        }
        let separates = |following: u8| is_space(following) || (in_flow && is_flow(following));
        if matches!(first, b'?' | b'-') && separates(self.at(self.position + 1)) {
            return Ok(None);
        }
        let mut text: Cow<'a, str> = Cow::default();
        let (mut start, mut end) = (self.position, self.position);
        let mut pending = None;
        while self.position < self.text.len() {
            let byte = self.here();
            if byte == b':' {
                if separates(self.at(self.position + 1)) {
                    break;
                }
            } else if byte == b'#' {
                if is_space(self.at(self.position - 1)) {
                    break;
                }
            } else if (self.position == self.line_start && self.at_separator()) || (in_flow && is_flow(byte))
            {
                break;
            } else if is_break(byte) {
                let (line, line_start, line_indent) = (self.line, self.line_start, self.line_indent);
                self.separation(false)?;
                if self.line_indent >= indent {
                    pending = Some(line);
                    continue;
                }
                self.position = end;
                (self.line, self.line_start, self.line_indent) = (line, line_start, line_indent);
                break;
            }
            if let Some(line) = pending.take() {
                self.take(&mut text, start, end, false)?;
                fold(&mut text, self.line - line);
                (start, end) = (self.position, self.position);
            }
            if !is_blank(byte) {
                end = self.position + 1;
            }
            self.position += 1;
            // Inside a word nothing can end the text.
            let rest = &self.text.as_bytes()[self.position..];
            let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            if word > 0 {
                self.position += word;
                end = self.position;
            }
        }
        self.take(&mut text, start, end, false)?;
        Ok((!text.is_empty()).then_some(text))
    }

    pub(super) fn single_quoted(&mut self) -> Result<Option<Cow<'a, str>>, Failure> {
        if self.here() != b'\'' {
            return Ok(None);
        }
        self.position += 1;
        let mut text: Cow<'a, str> = Cow::default();
        let (mut start, mut end) = (self.position, self.position);
        while self.position < self.text.len() {
            let byte = self.here();
            if byte == b'\'' {
                self.take(&mut text, start, self.position, true)?;
                if self.step() != b'\'' {
                    return Ok(Some(text));
                }
                start = self.position;
                self.position += 1;
                end = self.position;
            } else if is_break(byte) {
                self.take(&mut text, start, end, true)?;
                let breaks = self.separation(false)?;
                fold(&mut text, breaks);
                (start, end) = (self.position, self.position);
            } else if self.position == self.line_start && self.at_separator() {
                return self.fail("the document ends within a single-quoted text");
            } else {
                self.position += 1;
                end = self.position;
            }
        }
        self.fail("a single-quoted text is not closed")
    }

    pub(super) fn double_quoted(&mut self) -> Result<Option<Cow<'a, str>>, Failure> {
        if self.here() != b'"' {
            return Ok(None);
        }
        self.position += 1;
        let mut text: Cow<'a, str> = Cow::default();
        let (mut start, mut end) = (self.position, self.position);
        while self.position < self.text.len() {
            let byte = self.here();
            if byte == b'"' {
                self.take(&mut text, start, self.position, true)?;
                self.position += 1;
                return Ok(Some(text));
            } else if byte == b'\\' {
                self.take(&mut text, start, self.position, true)?;
                self.position += 1;
                if is_break(self.here()) {
                    self.separation(false)?;
                } else {
                    self.escape(&mut text)?;
                }
                (start, end) = (self.position, self.position);
            } else if is_break(byte) {
                self.take(&mut text, start, end, true)?;
                let breaks = self.separation(false)?;
                fold(&mut text, breaks);
                (start, end) = (self.position, self.position);
            } else if self.position == self.line_start && self.at_separator() {
                return self.fail("the document ends within a double-quoted text");
            } else {
                self.position += 1;
                end = self.position;
            }
        }
        self.fail("a double-quoted text is not closed")
    }

    /// Reads what follows a backslash.
    fn escape(&mut self, text: &mut Cow<'a, str>) -> Result<(), Failure> {
        let simple = match self.here() {
            b'0' => '\0',
            b'a' => '\u{7}',
            b'b' => '\u{8}',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\u{b}',
            b'f' => '\u{c}',
            b'r' => '\r',
            b'e' => '\u{1b}',
            b' ' => ' ',
            b'"' => '"',
            b'/' => '/',
            b'\\' => '\\',
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' | b'u' | b'U' => {
                let number = self.hexadecimal()?;
                // Two escapes may stand for one character, as in JSON.
                let is_first_half = (0xd800..0xdc00).contains(&number);
                if is_first_half && self.here() == b'\\' && self.at(self.position + 1) == b'u' {
                    let back = self.position;
                    self.position += 1;
                    let second = self.hexadecimal()?;
                    if (0xdc00..0xe000).contains(&second) {
                        let whole = 0x1_0000 + ((number - 0xd800) << 10) + (second - 0xdc00);
                        text.to_mut().push(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER));
                        return Ok(());
                    }
                    self.position = back;
                }
                text.to_mut().push(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER));
                return Ok(());
            }
            _ => return self.fail("an escape is not known"),
        };
        text.to_mut().push(simple);
        self.position += 1;
        Ok(())
    }

    /// Reads `x41`, `u0041` or `U00000041`.
    fn hexadecimal(&mut self) -> Result<u32, Failure> {
        let length = match self.here() {
            b'x' => 2,
            b'u' => 4,
            _ => 8,
        };
        let mut number: u32 = 0;
        for _ in 0..length {
            match char::from(self.step()).to_digit(16) {
                Some(digit) => number = (number << 4) | digit,
                None => return self.fail("a hexadecimal digit is expected"),
            }
        }
        self.position += 1;
        Ok(number)
    }

    /// Reads `|` and `>` with the lines below.
    pub(super) fn block_scalar(&mut self, indent: i32) -> Result<Option<Cow<'a, str>>, Failure> {
        let folding = match self.here() {
            b'|' => false,
            b'>' => true,
            _ => return Ok(None),
        };
        let mut chomping = Chomping::Clip;
        let mut text_indent = indent;
        let mut detected = false;
        loop {
            match self.step() {
                _ if self.position >= self.text.len() => break,
                byte @ (b'+' | b'-') => {
                    if chomping != Chomping::Clip {
                        return self.fail("a block says twice what happens to its end");
                    }
                    chomping = if byte == b'+' { Chomping::Keep } else { Chomping::Strip };
                }
                b'0' => return self.fail("the indentation of a block cannot be 0"),
                byte if byte.is_ascii_digit() => {
                    if detected {
                        return self.fail("a block says twice how far it is indented");
                    }
                    text_indent = indent + i32::from(byte - b'0') - 1;
                    detected = true;
                }
                _ => break,
            }
        }
        if is_blank(self.here()) {
            while is_blank(self.here()) {
                self.position += 1;
            }
            if self.here() == b'#' {
                while !is_break(self.here()) && self.position < self.text.len() {
                    self.position += 1;
                }
            }
        }
        let mut text: Cow<'a, str> = Cow::default();
        let (mut has_content, mut more_indented, mut empty_lines) = (false, false, 0_usize);
        while self.position < self.text.len() {
            self.line_break()?;
            self.line_indent = 0;
            while (!detected || self.line_indent < text_indent) && self.here() == b' ' {
                self.line_indent += 1;
                self.position += 1;
            }
            if !detected && self.line_indent > text_indent {
                text_indent = self.line_indent;
            }
            if is_break(self.here()) {
                empty_lines += 1;
                continue;
            }
            let breaks = if has_content { 1 + empty_lines } else { empty_lines };
            if self.line_indent < text_indent {
                match chomping {
                    Chomping::Keep => text.to_mut().extend(std::iter::repeat_n('\n', breaks)),
                    Chomping::Clip if has_content => text.to_mut().push('\n'),
                    Chomping::Clip | Chomping::Strip => {}
                }
                break;
            }
            if !folding {
                text.to_mut().extend(std::iter::repeat_n('\n', breaks));
            } else if is_blank(self.here()) {
                more_indented = true;
                text.to_mut().extend(std::iter::repeat_n('\n', breaks));
            } else if more_indented {
                more_indented = false;
                text.to_mut().extend(std::iter::repeat_n('\n', empty_lines + 1));
            } else if empty_lines > 0 {
                text.to_mut().extend(std::iter::repeat_n('\n', empty_lines));
            } else if has_content {
                text.to_mut().push(' ');
            }
            has_content = true;
            detected = true;
            empty_lines = 0;
            let start = self.position;
            while !is_break(self.here()) && self.position < self.text.len() {
                self.position += 1;
            }
            self.take(&mut text, start, self.position, false)?;
        }
        Ok(Some(text))
    }
}
