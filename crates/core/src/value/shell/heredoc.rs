//! Here-documents: their delimiters, and their bodies, which begin at the next line.

use super::frame::{FrameKind, Heredoc, Quoting, Reference};
use super::report::RefusalKind;
use super::scan::Scanner;
use super::symbol::Symbol;

impl Scanner {
    /// Takes `<<` or `<<-` and the delimiter after it.
    pub(super) fn heredoc(&mut self) {
        if self.frames.iter().any(|frame| matches!(frame.kind, FrameKind::Heredoc(_))) {
            return self.lose("a here-document begins inside another one");
        }
        self.at += 2;
        let mut heredoc = Heredoc { expands: true, ..Heredoc::default() };
        if self.sees(0, b'-') {
            heredoc.tabs = true;
            self.at += 1;
        }
        while self.sees(0, b' ') || self.sees(0, b'\t') {
            self.at += 1;
        }
        let start = self.at;
        loop {
            match self.peek(0) {
                Symbol::Byte(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
                | Symbol::End => {
                    break;
                }
                Symbol::Byte(quote @ (b'\'' | b'"')) => {
                    heredoc.expands = false;
                    self.at += 1;
                    while !self.sees(0, quote) {
                        match self.peek(0) {
                            Symbol::Byte(b'\\' | b'`' | b'$' | b'\n' | b'\'' | b'"') | Symbol::End => {
                                return self
                                    .lose("the delimiter of a here-document is quoted in a complicated way");
                            }
                            Symbol::Byte(byte) => heredoc.delimiter.push(byte),
                            Symbol::Value | Symbol::Raw => return self.heredoc_delimiter_placeholder(),
                        }
                        self.at += 1;
                    }
                    self.at += 1;
                }
                Symbol::Byte(b'\\') => {
                    heredoc.expands = false;
                    match self.peek(1) {
                        Symbol::Byte(byte) if byte != b'\n' => heredoc.delimiter.push(byte),
                        _ => {
                            return self
                                .lose("the delimiter of a here-document is quoted in a complicated way");
                        }
                    }
                    self.at += 2;
                }
                Symbol::Byte(b'$' | b'`') => {
                    return self.lose("the delimiter of a here-document is not a fixed word");
                }
                Symbol::Byte(byte) => {
                    heredoc.delimiter.push(byte);
                    self.at += 1;
                }
                Symbol::Value | Symbol::Raw => return self.heredoc_delimiter_placeholder(),
            }
        }
        if self.at == start {
            return self.lose("a here-document has no delimiter");
        }
        if heredoc.tabs && heredoc.delimiter.contains(&b'\t') {
            return self.lose("the delimiter of a here-document contains a tab");
        }
        self.heredocs.push((self.frames.len(), heredoc));
    }

    fn heredoc_delimiter_placeholder(&mut self) {
        self.refuse(self.at..self.at + 1, &RefusalKind::HeredocDelimiter);
        self.placeholder(Symbol::Value, Reference::Plain);
        self.lose("the delimiter of a here-document is not a fixed word");
    }

    /// Takes the end of a line among commands, after which the bodies of here-documents begin.
    pub(super) fn command_newline(&mut self) {
        self.at += 1;
        if self.heredoc_delimiter_follows() {
            return self.lose("a here-document ends inside quotes or brackets");
        }
        if self.heredocs.is_empty() {
            return;
        }
        let level = self.frames.len();
        if self.heredocs.iter().any(|(begun, _)| *begun != level) {
            return self.lose("a here-document begins outside brackets that the line leaves open");
        }
        let mut bodies = std::mem::take(&mut self.heredocs);
        // The one whose body comes first is the innermost context.
        while let Some((_, heredoc)) = bodies.pop() {
            self.open(self.at, FrameKind::Heredoc(heredoc));
        }
        self.heredoc_line();
    }

    pub(super) fn heredoc_step(&mut self, symbol: Symbol) {
        let Some(FrameKind::Heredoc(Heredoc { expands, .. })) = self.frames.last().map(|frame| &frame.kind)
        else {
            return;
        };
        match (symbol, *expands) {
            (Symbol::Byte(b'\n'), _) => {
                self.at += 1;
                self.heredoc_line();
            }
            (Symbol::Byte(b'\\'), true) => {
                let splits = self.sees(1, b'\n');
                self.escape(false);
                if splits && self.heredoc_delimiter_follows() {
                    self.lose("a `\\` stands before the line that ends a here-document");
                }
            }
            (Symbol::Byte(b'$'), true) => self.dollar(Quoting::Doubtful),
            (Symbol::Byte(b'`'), true) => self.backticks(),
            (Symbol::Byte(_), _) => self.at += 1,
            (Symbol::Value | Symbol::Raw, expands) => {
                if !expands {
                    self.refuse(self.at..self.at + 1, &RefusalKind::QuotedHeredoc);
                }
                self.placeholder(symbol, Reference::Plain);
            }
            (Symbol::End, _) => self.end(),
        }
    }

    /// At the beginning of a line of a body: ends the body if this line is its delimiter.
    fn heredoc_line(&mut self) {
        while matches!(self.frames.last().map(|frame| &frame.kind), Some(FrameKind::Heredoc(_))) {
            let Some(length) = self.delimiter_line() else { return };
            self.at += length;
            self.close();
            match self.peek(0) {
                Symbol::Byte(_) => self.at += 1,
                // The commands around it see the end of the script themselves.
                _ => return,
            }
        }
    }

    /// Returns whether the next line ends a here-document that the current context stands in.
    pub(super) fn heredoc_delimiter_follows(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame.kind, FrameKind::Heredoc(_)))
            && self.delimiter_line().is_some()
    }

    /// Returns the length of the current line if it is the delimiter of the innermost here-document.
    fn delimiter_line(&self) -> Option<usize> {
        let heredoc = self.frames.iter().rev().find_map(|frame| match &frame.kind {
            FrameKind::Heredoc(heredoc) => Some(heredoc),
            _ => None,
        })?;
        let mut length = 0;
        while heredoc.tabs && self.sees(length, b'\t') {
            length += 1;
        }
        for byte in &heredoc.delimiter {
            if !self.sees(length, *byte) {
                return None;
            }
            length += 1;
        }
        matches!(self.peek(length), Symbol::Byte(b'\n') | Symbol::End).then_some(length)
    }
}
