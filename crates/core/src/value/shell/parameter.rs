//! Parameter expansions, `${…}`: where a word may stand in them, and which of those words are data.

use super::Dialect;
use super::flow::Evaluates;
use super::frame::{Closer, FrameKind, Operation, Parameter, Quoting, Reference};
use super::report::RefusalKind;
use super::scan::Scanner;
use super::symbol::{Symbol, begins_name, continues_name};

impl Scanner {
    /// Takes `${`, the name and the operator; what follows is read in a context of its own.
    pub(super) fn parameter(&mut self, quoting: Quoting) {
        let start = self.at;
        self.at += 2;
        let mark = match self.peek(0) {
            Symbol::Byte(mark @ (b'#' | b'!')) if !self.sees(1, b'}') => {
                self.at += 1;
                Some(mark)
            }
            _ => None,
        };
        let name_start = self.at;
        let mut text = Vec::new();
        match self.peek(0) {
            Symbol::Byte(first) if begins_name(first) || first.is_ascii_digit() => {
                while let Symbol::Byte(byte) = self.peek(0)
                    && continues_name(byte)
                {
                    text.push(byte);
                    self.at += 1;
                }
            }
            Symbol::Byte(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => self.at += 1,
            Symbol::Value => return self.parameter_name(),
            _ => return self.lose("a `${` is not followed by a name"),
        }
        if matches!(self.peek(0), Symbol::Value) {
            return self.parameter_name();
        }
        let name = self.flow.name(&text);
        let mut frame = Parameter { quoting, operation: Operation::Other, assigns: None };
        if mark == Some(b'!') {
            self.sink(start..self.at, Evaluates::Expansions, RefusalKind::ParameterName);
        }
        if self.sees(0, b'[') && !text.is_empty() {
            // The subscript is read first; the operator after it is read as an unknown operation.
            self.open(start, FrameKind::Parameter(frame));
            let why = RefusalKind::Subscript;
            let subscript = self.at;
            self.at += 1;
            return self.open(subscript, FrameKind::Evaluated { closer: Closer::Bracket, depth: 0, why });
        }
        let colon = usize::from(self.sees(0, b':'));
        match self.peek(colon) {
            Symbol::Byte(b'}') if colon == 0 => {
                self.at += 1;
                return;
            }
            _ if mark == Some(b'#') => return self.lose("a `${#` is not a length"),
            Symbol::Byte(operator @ (b'-' | b'=' | b'+' | b'?')) => {
                frame.operation = Operation::Default;
                frame.assigns = (operator == b'=').then_some(name);
                self.at += colon + 1;
            }
            Symbol::Byte(operator @ (b'#' | b'%')) if colon == 0 => {
                frame.operation = Operation::Trim;
                self.at += if self.sees(1, operator) { 2 } else { 1 };
            }
            _ if colon == 1 => {
                self.at += 1;
                self.open(start, FrameKind::Parameter(frame));
                let why = RefusalKind::Arithmetic;
                return self.open(self.at, FrameKind::Evaluated { closer: Closer::Brace, depth: 0, why });
            }
            Symbol::Byte(b'@') => {
                // `${X@P}` expands the content of X once more.
                self.sink(name_start - 2..self.at, Evaluates::Names, RefusalKind::ParameterOperation);
            }
            Symbol::Byte(b'/' | b'^' | b',' | b'*') => {}
            _ => return self.lose("a `${…}` has an unknown operator"),
        }
        self.open(start, FrameKind::Parameter(frame));
    }

    fn parameter_name(&mut self) {
        self.refuse(self.at..self.at + 1, &RefusalKind::ParameterName);
        self.placeholder(Symbol::Value, Reference::Plain);
        self.lose("a `${` is not followed by a name");
    }

    pub(super) fn parameter_step(&mut self, symbol: Symbol, parameter: Parameter) {
        let Parameter { quoting, operation, .. } = parameter;
        match symbol {
            Symbol::Byte(b'}') => {
                self.at += 1;
                self.close();
            }
            Symbol::Byte(b'<' | b'>') if self.sees(1, b'(') => {
                self.lose("a process substitution stands inside a `${…}`");
            }
            Symbol::Byte(b'$') => self.dollar(quoting),
            Symbol::Byte(b'`') => self.backticks(),
            Symbol::Byte(b'\'' | b'"' | b'\\')
                if quoting == Quoting::Doubtful
                    || (operation == Operation::Other && self.dialect == Dialect::Sh) =>
            {
                self.lose("quotes stand inside a `${…}` where shells disagree about them");
            }
            Symbol::Byte(b'\'') if quoting == Quoting::Double => {
                self.lose("a single quote stands inside a quoted `${…}`, where shells disagree");
            }
            Symbol::Byte(b'"') if quoting == Quoting::Double => {
                let start = self.at;
                self.at += 1;
                self.open(start, FrameKind::Double { nested: true });
            }
            Symbol::Byte(b'\\') => self.escape(quoting == Quoting::Bare),
            Symbol::Byte(b'\'' | b'"') => self.word_step(symbol),
            Symbol::Byte(b'\n') => self.quoted_newline(),
            Symbol::Byte(_) => self.at += 1,
            Symbol::Value | Symbol::Raw => {
                if quoting == Quoting::Doubtful {
                    self.refuse(self.at..self.at + 1, &RefusalKind::ParameterInHeredoc);
                }
                let plain = quoting == Quoting::Double && operation == Operation::Default;
                self.placeholder(symbol, if plain { Reference::Plain } else { Reference::Quoted });
            }
            Symbol::End => self.end(),
        }
    }
}
