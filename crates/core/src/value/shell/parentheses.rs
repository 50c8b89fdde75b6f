//! Parentheses among commands: subshells, arithmetic, functions, arrays, and the patterns of `case`.

use super::Dialect;
use super::frame::{CasePart, Closer, DEEPEST, FrameKind, Open, Position, Simple, Word};
use super::program::Program;
use super::report::RefusalKind;
use super::scan::Scanner;
use super::symbol::Symbol;

impl Scanner {
    /// Opens a compound command whose end the scanner must recognise.
    pub(super) fn open_compound(&mut self, open: Open) {
        let start = self.at;
        let list = self.list();
        if list.open.len() >= DEEPEST {
            return self.lose("it nests too deep");
        }
        list.open.push(open);
        list.simple = Simple::new(start, Position::Command);
    }

    /// Takes a `(` among commands.
    pub(super) fn opening(&mut self) {
        if self.array() {
            return;
        }
        self.end_word();
        if !self.among_commands() {
            return;
        }
        let start = self.at;
        let list = self.list();
        if list.redirect.is_some() {
            return self.lose("a `(` stands where a redirection expects its target");
        }
        match list.case_part() {
            Some(CasePart::Branch) => {
                if let Some(Open::Case(part)) = list.open.last_mut() {
                    *part = CasePart::Pattern;
                }
                self.at += 1;
                return;
            }
            Some(_) => return self.lose("a `(` stands in a `case` pattern"),
            None => {}
        }
        let (position, arguments) = (list.simple.position, list.simple.arguments);
        match position {
            Position::Command | Position::ForName if self.sees(1, b'(') => {
                if self.dialect == Dialect::Sh {
                    return self.lose("`((` is read differently by different shells");
                }
                self.list().simple.position = Position::After;
                self.at += 2;
                let why = RefusalKind::Arithmetic;
                self.open(start, FrameKind::Evaluated { closer: Closer::Parentheses, depth: 0, why });
            }
            // After `function name`.
            Position::Command if self.sees(1, b')') => self.at += 2,
            Position::Command => {
                self.at += 1;
                self.open_compound(Open::Subshell);
            }
            Position::Argument if arguments == 0 => self.function(),
            _ => self.lose("a `(` stands where no subshell, function or array can begin"),
        }
    }

    /// Takes the `()` of a function definition.
    fn function(&mut self) {
        self.at += 1;
        while self.sees(0, b' ') || self.sees(0, b'\t') {
            self.at += 1;
        }
        if !self.sees(0, b')') {
            return self.lose("a `(` follows a word but begins no function");
        }
        self.at += 1;
        let start = self.at;
        if let Some(command) = self.list().simple.command.take() {
            self.refuse(command.start..start, &RefusalKind::FunctionName);
            self.flow.define(&command.text);
        }
        self.list().simple = Simple::new(start, Position::Command);
    }

    /// Takes the `(` of an array assignment, if it is one.
    fn array(&mut self) -> bool {
        let list = self.list();
        let declares = list.simple.program == Program::Declare && list.simple.position == Position::Argument;
        let Some(word) = &mut list.word else { return false };
        let name = word.text.strip_suffix(b"=").map(|name| name.strip_suffix(b"+").unwrap_or(name));
        let Some(name) = name.filter(|name| word.literal && !word.quoted && super::symbol::is_name(name))
        else {
            return false;
        };
        if word.assigns.is_none() && !declares {
            return false;
        }
        let name = name.to_vec();
        word.literal = false;
        if self.dialect == Dialect::Sh {
            self.lose("arrays are not understood by every sh");
            return true;
        }
        self.arrays = true;
        let name = self.flow.name(&name);
        let start = self.at;
        self.at += 1;
        self.open(start, FrameKind::Array { name, word: None });
        true
    }

    /// Takes a `)` among commands.
    pub(super) fn closing(&mut self) {
        self.end_word();
        if !self.among_commands() {
            return;
        }
        let level = self.frames.len();
        let list = self.list();
        if list.redirect.is_some() {
            return self.lose("a redirection has no target");
        }
        match list.open.last_mut() {
            Some(Open::Case(part @ CasePart::Pattern)) => {
                *part = CasePart::Body;
                self.at += 1;
                let start = self.at;
                self.list().simple = Simple::new(start, Position::Command);
            }
            Some(Open::Case(_)) => self.lose("a `)` stands inside `case` but ends no pattern"),
            Some(Open::Subshell) => {
                list.open.pop();
                list.simple.position = Position::After;
                self.at += 1;
            }
            None if level > 1 => {
                if self.heredocs.iter().any(|(begun, _)| *begun == level) {
                    return self.lose("a here-document is still open at a `)`");
                }
                self.at += 1;
                self.close();
            }
            None => self.lose("a `)` stands without its `(`"),
        }
    }

    /// Takes a word of a `case` that is no command.
    pub(super) fn case_word(&mut self, part: CasePart, word: &Word) {
        let list = self.list();
        let next = match part {
            CasePart::Subject => CasePart::In,
            CasePart::In if word.reserved() == b"in" => CasePart::Branch,
            CasePart::Branch if word.reserved() == b"esac" => {
                list.open.pop();
                list.simple.position = Position::After;
                return;
            }
            CasePart::Branch | CasePart::Pattern => CasePart::Pattern,
            CasePart::In | CasePart::Body => return self.lose("a `case` is not followed by `in`"),
        };
        if let Some(Open::Case(part)) = list.open.last_mut() {
            *part = next;
        }
    }

    /// Takes a step inside `NAME=( … )`.
    pub(super) fn array_step(&mut self, symbol: Symbol) {
        let at = self.at;
        let Some(FrameKind::Array { word, .. }) = self.frames.last_mut().map(|frame| &mut frame.kind) else {
            return;
        };
        match symbol {
            Symbol::Byte(b' ' | b'\t' | b'\n') => {
                *word = None;
                if symbol == Symbol::Byte(b'\n') {
                    self.quoted_newline();
                    self.array_word_ends();
                } else {
                    self.at += 1;
                }
            }
            Symbol::Byte(b')') => {
                self.at += 1;
                self.close();
            }
            Symbol::Byte(b'#') if word.is_none() => self.open(at, FrameKind::Comment),
            Symbol::Byte(b'[') if word.is_none() => {
                *word = Some(Word::new(at));
                self.at += 1;
                let why = RefusalKind::Subscript;
                self.open(at, FrameKind::Evaluated { closer: Closer::Bracket, depth: 0, why });
            }
            Symbol::Byte(b'(' | b';' | b'&' | b'|' | b'<' | b'>') => {
                self.lose("an operator stands inside an array");
            }
            _ => self.word_step(symbol),
        }
    }

    fn array_word_ends(&mut self) {
        if let Some(FrameKind::Array { word, .. }) = self.frames.last_mut().map(|frame| &mut frame.kind) {
            *word = None;
        }
    }
}
