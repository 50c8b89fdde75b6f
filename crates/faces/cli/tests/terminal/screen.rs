//! What a person sees: the few controls that abide uses, played on a grid that remembers everything.

use unicode_width::UnicodeWidthChar as _;

/// A screen without a height: what scrolled away can still be looked at.
#[derive(Debug)]
pub(crate) struct Screen {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    width: usize,
    /// Bytes of a control or a character whose rest has not come.
    partial: Vec<u8>,
}

impl Screen {
    pub(crate) fn new(width: usize) -> Self {
        Self { rows: vec![Vec::new()], row: 0, column: 0, width, partial: Vec::new() }
    }

    pub(crate) fn resize(&mut self, width: usize) {
        self.width = width;
    }

    /// Returns the lines as they stand, without the empty ones at the end.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    /// Takes what was written; a control that is not known is a test that fails.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.partial);
        let whole = match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = std::str::from_utf8(&bytes[..whole]).unwrap();
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            if character == '\u{1b}' {
                let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic()) else { break };
                self.control(&rest[1..=end]);
                rest = &rest[end + 1..];
                continue;
            }
            self.put(character);
            rest = &rest[character.len_utf8()..];
        }
        self.partial = [rest.as_bytes(), &bytes[whole..]].concat();
    }

    fn control(&mut self, control: &str) {
        let (parameters, kind) = control.split_at(control.len() - 1);
        let parameters =
            parameters.strip_prefix('[').unwrap_or_else(|| panic!("unknown control {control:?}"));
        match kind {
            "A" => self.row = self.row.saturating_sub(parameters.parse().unwrap_or(1)),
            "J" if parameters.is_empty() => {
                self.rows[self.row].truncate(self.column);
                self.rows.truncate(self.row + 1);
            }
            "m" => {}
            _ => panic!("unknown control {control:?}"),
        }
    }

    fn put(&mut self, character: char) {
        match character {
            '\r' => self.column = 0,
            '\n' => self.down(),
            '\u{7}' => {}
            _ => {
                let wide = character.width().unwrap_or(0);
                if self.column + wide > self.width {
                    self.column = 0;
                    self.down();
                }
                let row = &mut self.rows[self.row];
                row.resize(row.len().max(self.column + 1), ' ');
                row[self.column] = character;
                self.column += wide;
            }
        }
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Vec::new());
        }
    }
}
