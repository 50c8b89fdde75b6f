//! Quotes, escapes, `$` and comments, which are the same in every kind of command.

use super::Dialect;
use super::frame::{Closer, Commands, FrameKind, Quoting, Reference};
use super::report::RefusalKind;
use super::scan::Scanner;
use super::symbol::{Symbol, continues_name};

impl Scanner {
    /// Takes what can be part of any unquoted word: quotes, escapes, expansions, plain bytes, placeholders.
    pub(super) fn word_step(&mut self, symbol: Symbol) {
        match symbol {
            Symbol::Value | Symbol::Raw => self.placeholder(symbol, Reference::Quoted),
            Symbol::Byte(b'\'' | b'"') => {
                let start = self.at;
                if let Some(word) = self.word() {
                    word.quoted = true;
                }
                self.at += 1;
                let single = symbol == Symbol::Byte(b'\'');
                self.open(
                    start,
                    if single { FrameKind::Single } else { FrameKind::Double { nested: false } },
                );
            }
            Symbol::Byte(b'\\') => self.escape(true),
            Symbol::Byte(b'$') => self.dollar(Quoting::Bare),
            Symbol::Byte(b'`') => self.backticks(),
            Symbol::Byte(byte) => self.literal(byte),
            Symbol::End => self.end(),
        }
    }

    /// Takes a `\` and what it escapes.
    pub(super) fn escape(&mut self, bare: bool) {
        let before = self.at.checked_sub(1).map(|before| self.script[before]);
        match self.peek(1) {
            Symbol::Byte(b'\n') => {
                let joins = |symbol: Option<Symbol>| match symbol {
                    Some(Symbol::Byte(byte)) => continues_name(byte),
                    _ => false,
                };
                let splits_name = joins(before) && joins(self.script.get(self.at + 2).copied());
                let blank_follows = matches!(self.peek(2), Symbol::Byte(b' ' | b'\t' | b'\n'));
                let operator = !blank_follows
                    && matches!(before, Some(Symbol::Byte(b'$' | b'<' | b'>' | b'&' | b'|' | b';' | b'(')));
                if splits_name || operator {
                    return self.lose("a `\\` at the end of a line splits a name or an operator");
                }
                self.at += 2;
                if !self.heredocs.is_empty() {
                    self.lose("a here-document begins on a line that a `\\` continues");
                }
            }
            symbol @ (Symbol::Value | Symbol::Raw) => {
                let at = self.at + 1;
                if symbol == Symbol::Value {
                    self.refuse(at..at + 1, &RefusalKind::AfterBackslash);
                }
                self.at += 1;
                self.placeholder(symbol, Reference::Quoted);
            }
            Symbol::Byte(byte) => {
                self.at += 1;
                if let Some(word) = self.word() {
                    if bare {
                        word.quoted = true;
                    } else if !b"$`\"\\".contains(&byte) {
                        word.push(b'\\');
                    }
                }
                self.literal(byte);
            }
            Symbol::End => {
                self.at += 1;
            }
        }
    }

    /// Takes a `$` and decides what it begins.
    pub(super) fn dollar(&mut self, quoting: Quoting) {
        let start = self.at;
        self.expands();
        match self.peek(1) {
            Symbol::Byte(b'(') if self.sees(2, b'(') => {
                self.at += 3;
                let why = RefusalKind::Arithmetic;
                self.open(start, FrameKind::Evaluated { closer: Closer::Parentheses, depth: 0, why });
            }
            Symbol::Byte(b'(') => {
                self.at += 2;
                self.open(start, FrameKind::Commands(Box::new(Commands::new(self.at))));
            }
            Symbol::Byte(b'{') => self.parameter(quoting),
            Symbol::Byte(b'[') => {
                if self.dialect == Dialect::Sh {
                    return self.lose("`$[` is not understood by every sh");
                }
                self.at += 2;
                let why = RefusalKind::Arithmetic;
                self.open(start, FrameKind::Evaluated { closer: Closer::Bracket, depth: 0, why });
            }
            Symbol::Byte(b'\'') if quoting == Quoting::Bare => {
                self.at += 2;
                self.open(start, FrameKind::Ansi);
            }
            Symbol::Value => {
                self.refuse(start + 1..start + 2, &RefusalKind::AfterDollar);
                self.at += 1;
            }
            // `$"…"`, `$NAME`, `$?`, `$$` or just a dollar sign: what follows is read on its own. The second
            // byte of `$$` and `$#` must not be taken for the beginning of something.
            Symbol::Byte(b'$' | b'#' | b'!' | b'?' | b'-' | b'@' | b'*') => self.at += 2,
            _ => self.at += 1,
        }
    }

    pub(super) fn double_step(&mut self, symbol: Symbol, nested: bool) {
        match symbol {
            Symbol::Byte(b'"') => {
                self.at += 1;
                self.close();
            }
            Symbol::Byte(b'\\') => self.escape(false),
            Symbol::Byte(b'$') => self.dollar(Quoting::Double),
            Symbol::Byte(b'`') => self.backticks(),
            Symbol::Byte(b'}' | b'\'') if nested => {
                self.lose("quotes stand inside a quoted `${…}`, where shells disagree");
            }
            Symbol::Byte(b'\n') => self.quoted_newline(),
            Symbol::Byte(byte) => self.literal(byte),
            Symbol::Value | Symbol::Raw => self.placeholder(symbol, Reference::Plain),
            Symbol::End => self.end(),
        }
    }

    pub(super) fn single_step(&mut self, symbol: Symbol) {
        match symbol {
            Symbol::Byte(b'\'') => {
                self.at += 1;
                self.close();
            }
            Symbol::Byte(b'$') if self.peek(1) == Symbol::Value => {
                self.refuse(self.at + 1..self.at + 2, &RefusalKind::AfterDollar);
                self.literal(b'$');
            }
            Symbol::Byte(b'\n') => self.quoted_newline(),
            Symbol::Byte(byte) => self.literal(byte),
            Symbol::Value | Symbol::Raw => self.placeholder(symbol, Reference::Reopened),
            Symbol::End => self.end(),
        }
    }

    pub(super) fn ansi_step(&mut self, symbol: Symbol) {
        match symbol {
            Symbol::Byte(b'\'') => {
                self.at += 1;
                self.close();
            }
            Symbol::Byte(b'\\') if self.dialect == Dialect::Sh => {
                self.lose("`$'…'` is not understood by every sh");
            }
            Symbol::Byte(b'\\') if !matches!(self.peek(1), Symbol::Value | Symbol::Raw) => self.at += 2,
            Symbol::Byte(b'\n') => self.quoted_newline(),
            Symbol::Byte(_) => self.at += 1,
            Symbol::Value | Symbol::Raw => {
                self.refuse(self.at..self.at + 1, &RefusalKind::AnsiQuotes);
                self.placeholder(symbol, Reference::Plain);
            }
            Symbol::End => self.end(),
        }
    }

    pub(super) fn comment_step(&mut self, symbol: Symbol) {
        match symbol {
            // The commands around it see the end of the line themselves.
            Symbol::Byte(b'\n') | Symbol::End => {
                self.close();
            }
            Symbol::Byte(_) => self.at += 1,
            Symbol::Value | Symbol::Raw => self.placeholder(symbol, Reference::Plain),
        }
    }

    /// Takes the end of a line inside quotes or brackets.
    pub(super) fn quoted_newline(&mut self) {
        if !self.heredocs.is_empty() {
            return self.lose("a here-document begins on a line that quotes continue");
        }
        self.at += 1;
        if self.heredoc_delimiter_follows() {
            return self.lose("a here-document ends inside quotes or brackets");
        }
        if let Some(word) = self.word() {
            word.push(b'\n');
        }
    }
}
