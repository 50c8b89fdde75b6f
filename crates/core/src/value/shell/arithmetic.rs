//! Text that a shell evaluates or unescapes: arithmetic, subscripts, offsets, backticks.
//!
//! Every placeholder in it is refused, so all that matters is where it ends, and that dash and bash agree.

use super::Dialect;
use super::frame::{Closer, FrameKind, Quoting, Reference};
use super::scan::Scanner;
use super::symbol::Symbol;

impl Scanner {
    pub(super) fn evaluated_step(&mut self, symbol: Symbol, closer: Closer, depth: usize) {
        let (opening, closing) = match closer {
            Closer::Parentheses => (b'(', b')'),
            Closer::Bracket => (b'[', b']'),
            Closer::Brace => (0, b'}'),
        };
        match symbol {
            Symbol::Byte(byte) if byte == closing && depth == 0 => self.end_evaluated(closer),
            Symbol::Byte(byte) if byte == opening || byte == closing => {
                if let Some(FrameKind::Evaluated { depth, .. }) =
                    self.frames.last_mut().map(|frame| &mut frame.kind)
                {
                    *depth = if byte == opening { *depth + 1 } else { *depth - 1 };
                }
                self.at += 1;
            }
            Symbol::Byte(b'$') => self.dollar(Quoting::Doubtful),
            Symbol::Byte(b'`') => self.backticks(),
            Symbol::Byte(quote @ (b'\'' | b'"')) => self.evaluated_quotes(quote),
            Symbol::Byte(b'\\') => self.lose("a `\\` stands in arithmetic or a subscript"),
            Symbol::Byte(b'#') if self.at > 0 && b" \t\n(;".contains(&self.byte_before()) => {
                self.lose("a `#` stands in arithmetic");
            }
            Symbol::Byte(b'\n') => self.quoted_newline(),
            Symbol::Byte(b' ' | b'\t' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
                if closer == Closer::Bracket && self.dialect == Dialect::Sh =>
            {
                self.lose("array subscripts are not understood by every sh");
            }
            Symbol::Byte(_) => self.at += 1,
            Symbol::Value | Symbol::Raw => self.placeholder(symbol, Reference::Quoted),
            Symbol::End => self.end(),
        }
    }

    fn byte_before(&self) -> u8 {
        match self.script.get(self.at - 1) {
            Some(Symbol::Byte(byte)) => *byte,
            _ => 0,
        }
    }

    fn end_evaluated(&mut self, closer: Closer) {
        match closer {
            Closer::Parentheses if self.sees(1, b')') => self.at += 2,
            Closer::Parentheses => {
                return self.lose("`((` is closed as something else; write `( (` for nested subshells");
            }
            Closer::Bracket => self.at += 1,
            // The `}` belongs to the parameter expansion around it.
            Closer::Brace => {}
        }
        self.close();
    }

    /// Takes plain quotes; anything in them that shells could read differently ends the scan.
    fn evaluated_quotes(&mut self, quote: u8) {
        self.at += 1;
        loop {
            match self.peek(0) {
                Symbol::Byte(byte) if byte == quote => {
                    self.at += 1;
                    return;
                }
                Symbol::Byte(
                    b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'\\' | b'`' | b'\'' | b'"' | b'\n',
                )
                | Symbol::End => return self.lose("quotes stand in arithmetic or a subscript"),
                Symbol::Byte(_) => self.at += 1,
                symbol @ (Symbol::Value | Symbol::Raw) => self.placeholder(symbol, Reference::Quoted),
            }
        }
    }

    pub(super) fn backticks(&mut self) {
        let start = self.at;
        self.expands();
        self.at += 1;
        self.open(start, FrameKind::Backticks);
    }

    pub(super) fn backticks_step(&mut self, symbol: Symbol) {
        match symbol {
            Symbol::Byte(b'`') => {
                self.at += 1;
                self.close();
            }
            Symbol::Byte(b'\\') if matches!(self.peek(1), Symbol::Byte(byte) if byte != b'\n') => {
                self.at += 2;
            }
            Symbol::Byte(b'\n') => self.quoted_newline(),
            Symbol::Byte(b'<') if self.sees(1, b'<') => {
                self.lose("a here-document begins inside backticks");
            }
            Symbol::Byte(_) => self.at += 1,
            Symbol::Value | Symbol::Raw => self.placeholder(symbol, Reference::Plain),
            Symbol::End => self.end(),
        }
    }
}
