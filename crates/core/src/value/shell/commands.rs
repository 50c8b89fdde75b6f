//! Lists of commands: where words begin and end, and which of them are commands, assignments, reserved words.

use super::Dialect;
use super::flow::Evaluates;
use super::frame::{CasePart, Closer, Commands, FrameKind, Open, Position, Redirect, Simple, Word};
use super::program::{Program, is_evaluated, is_run_by_programs, program};
use super::report::{LintKind, RefusalKind};
use super::scan::Scanner;
use super::symbol::Symbol;
use std::ops::Range;

impl Scanner {
    /// Returns the innermost list of commands, which must be the innermost context.
    pub(super) fn list(&mut self) -> &mut Commands {
        match self.frames.last_mut().map(|frame| &mut frame.kind) {
            Some(FrameKind::Commands(commands)) => commands,
            _ => unreachable!("steps of commands are taken only inside commands"),
        }
    }

    /// Returns whether the innermost context is a list of commands.
    pub(super) fn among_commands(&self) -> bool {
        matches!(self.frames.last().map(|frame| &frame.kind), Some(FrameKind::Commands(_)))
    }

    pub(super) fn commands_step(&mut self, symbol: Symbol) {
        let Symbol::Byte(byte) = symbol else {
            if symbol == Symbol::End {
                self.end_word();
                if self.among_commands() {
                    self.end();
                }
            } else {
                self.word_step(symbol);
            }
            return;
        };
        match byte {
            b' ' | b'\t' => {
                self.end_word();
                self.at += 1;
            }
            b'\n' | b';' | b'&' | b'|' => {
                self.end_word();
                // After `[[` the symbol belongs to the condition.
                if self.among_commands() {
                    self.separator(byte);
                }
            }
            b'(' => self.opening(),
            b')' => self.closing(),
            b'<' | b'>' => self.redirection(byte),
            b'#' if self.list().word.is_none() => self.open(self.at, FrameKind::Comment),
            b'=' => {
                self.equals_sign();
                self.literal(b'=');
            }
            b'[' if self.begins_subscript() => {
                if let Some(word) = self.word() {
                    word.literal = false;
                }
                self.arrays = true;
                let (start, why) = (self.at, RefusalKind::Subscript);
                self.at += 1;
                self.open(start, FrameKind::Evaluated { closer: Closer::Bracket, depth: 0, why });
            }
            _ => self.word_step(symbol),
        }
    }

    /// Notes that the word before an unquoted `=` names a variable.
    fn equals_sign(&mut self) {
        let at = self.at;
        let before_subscript = self.word_before_subscript();
        let list = self.list();
        if list.simple.position != Position::Command || list.redirect.is_some() || list.case_part().is_some()
        {
            return;
        }
        let Some(word) = &list.word else { return };
        if word.assigns.is_some() {
            return;
        }
        if word.value && word.start < at {
            let range = word.start..at;
            return self.refuse(range, &RefusalKind::VariableName);
        }
        if let Some(name) = word.assigned_name().map(<[u8]>::to_vec).or(before_subscript) {
            let name = self.flow.name(&name);
            if let Some(word) = &mut self.list().word {
                word.assigns = Some(name);
            }
        }
    }

    /// Returns the name of the array if the current `=` follows its subscript.
    fn word_before_subscript(&mut self) -> Option<Vec<u8>> {
        let before = |distance: usize, byte: u8| {
            self.at.checked_sub(distance).is_some_and(|at| self.script[at] == Symbol::Byte(byte))
        };
        let closed = before(1, b']') || (before(1, b'+') && before(2, b']'));
        let word = self.list().word.as_ref()?;
        (closed && !word.quoted && super::symbol::is_name(&word.text)).then(|| word.text.clone())
    }

    /// Returns whether a `[` begins the subscript of an assignment.
    fn begins_subscript(&mut self) -> bool {
        let list = self.list();
        let assignment = list.simple.position == Position::Command || list.simple.program == Program::Declare;
        assignment
            && list.redirect.is_none()
            && list.case_part().is_none()
            && list.word.as_ref().is_some_and(|word| word.assigns.is_none() && word.assigned_name().is_some())
    }

    /// Takes `;`, `&`, `|`, the end of a line, or what begins with them.
    fn separator(&mut self, byte: u8) {
        let part = self.list().case_part();
        let next = self.peek(1);
        match (byte, next, part) {
            (b'\n', _, Some(_)) => self.command_newline(),
            (b'|', _, Some(CasePart::Pattern)) if next != Symbol::Byte(b'|') => self.at += 1,
            (_, _, Some(_)) => self.lose("a `case` is not followed by what belongs there"),
            (b'&', Symbol::Byte(b'>'), _) => {
                if self.dialect == Dialect::Sh {
                    return self.lose("`&>` is not understood by every sh");
                }
                self.at += 2;
                if self.sees(0, b'>') {
                    self.at += 1;
                }
                self.list().redirect = Some(Redirect::Data);
            }
            (b';', Symbol::Byte(second @ (b';' | b'&')), _) => {
                if (second == b'&' || self.sees(2, b'&')) && self.dialect == Dialect::Sh {
                    return self.lose("`;&` is not understood by every sh");
                }
                self.at += if second == b';' && self.sees(2, b'&') { 3 } else { 2 };
                let start = self.at;
                let list = self.list();
                let Some(Open::Case(part)) = list.open.last_mut() else {
                    return self.lose("a `;;` stands outside `case`");
                };
                *part = CasePart::Branch;
                list.simple = Simple::new(start, Position::Command);
            }
            (b'\n', _, None) => {
                self.end_command(true);
                self.command_newline();
            }
            _ => {
                self.at += if next == Symbol::Byte(byte) || (byte == b'|' && next == Symbol::Byte(b'&')) {
                    2
                } else {
                    1
                };
                self.end_command(false);
            }
        }
    }

    /// Ends the simple command being read.
    pub(super) fn end_command(&mut self, line: bool) {
        let start = self.at;
        let list = self.list();
        if list.redirect.take().is_some() {
            return self.lose("a redirection has no target");
        }
        match list.simple.position {
            // `in` may stand on the next line.
            Position::ForIn(_) if line => {}
            Position::ForIn(name) => {
                list.simple = Simple::new(start, Position::Command);
                self.flow.fill(name);
            }
            Position::FunctionName | Position::ForName => {
                self.lose("a name is missing after `for` or `function`");
            }
            _ => list.simple = Simple::new(start, Position::Command),
        }
    }

    /// Takes `<` or `>` and what belongs to it.
    fn redirection(&mut self, byte: u8) {
        if self.list().case_part().is_some() {
            return self.lose("a redirection stands in a `case` pattern");
        }
        if self.sees(1, b'(') {
            if self.dialect == Dialect::Sh {
                return self.lose("process substitution is not understood by every sh");
            }
            let start = self.at;
            self.expands();
            self.at += 2;
            return self.open(start, FrameKind::Commands(Box::new(Commands::new(self.at))));
        }
        // The number or `{name}` directly before belongs to the redirection and is no argument.
        let is_descriptor = |word: &Word| {
            let braced = word.text.starts_with(b"{") && word.text.ends_with(b"}");
            word.literal && (braced || word.text.iter().all(u8::is_ascii_digit))
        };
        if self.list().word.as_ref().is_some_and(is_descriptor) {
            self.list().word = None;
        } else {
            self.end_word();
            if !self.among_commands() {
                return;
            }
        }
        if self.list().redirect.is_some() {
            return self.lose("a redirection has no target");
        }
        let (second, third) = (self.peek(1), self.peek(2));
        let redirect = match (byte, second, third) {
            (b'<', Symbol::Byte(b'<'), Symbol::Byte(b'<')) => {
                if self.dialect == Dialect::Sh {
                    return self.lose("`<<<` is not understood by every sh");
                }
                self.at += 3;
                Redirect::Data
            }
            (b'<', Symbol::Byte(b'<'), _) => return self.heredoc(),
            (_, Symbol::Byte(b'&'), _) => {
                self.at += 2;
                Redirect::Descriptor
            }
            (_, Symbol::Byte(b'>' | b'|'), _) => {
                self.at += 2;
                Redirect::Data
            }
            _ => {
                self.at += 1;
                Redirect::Data
            }
        };
        self.list().redirect = Some(redirect);
    }

    /// Ends the word being read, if there is one, and decides what it was.
    pub(super) fn end_word(&mut self) {
        let Some(word) = self.list().word.take() else { return };
        let range = word.start..self.at;
        match self.list().redirect.take() {
            None => {}
            Some(redirect) => {
                self.list().simple.reserved = false;
                if redirect == Redirect::Descriptor {
                    self.sink(range, Evaluates::Expansions, RefusalKind::Descriptor);
                }
                return;
            }
        }
        if let Some(part) = self.list().case_part() {
            return self.case_word(part, &word);
        }
        match self.list().simple.position {
            Position::Command => self.command_word(word, range),
            Position::Argument => self.argument(&word, range),
            Position::After => {
                if is_reserved(word.reserved()) {
                    self.list().simple = Simple::new(word.start, Position::Command);
                    self.command_word(word, range);
                } else {
                    self.lose("a word follows the end of a compound command");
                }
            }
            Position::ForName => {
                self.refuse(range.clone(), &RefusalKind::VariableName);
                let name = self.flow.name(&word.text);
                if is_evaluated(&word.text) {
                    self.refuse_everything(RefusalKind::SpecialVariable);
                }
                self.list().simple.position = Position::ForIn(name);
            }
            Position::ForIn(name) => match word.reserved() {
                b"in" => self.list().simple.position = Position::ForItem(name),
                b"do" | b"{" => {
                    self.flow.fill(name);
                    self.list().simple = Simple::new(word.start, Position::Command);
                }
                _ => self.lose("a `for` is not followed by `in` or `do`"),
            },
            Position::ForItem(name) => self.flow.assign(name, range),
            Position::FunctionName => {
                self.refuse(range, &RefusalKind::FunctionName);
                self.flow.define(&word.text);
                self.list().simple = Simple::new(self.at, Position::Command);
            }
        }
    }

    fn command_word(&mut self, word: Word, range: Range<usize>) {
        if let Some(name) = word.assigns {
            let text = word.text.split(|byte| matches!(byte, b'=' | b'+')).next().unwrap_or_default();
            self.list().simple.reserved = false;
            return self.assignment(name, text, range);
        }
        let start = self.at;
        match if self.list().simple.reserved { word.reserved() } else { b"" } {
            b"if" | b"then" | b"else" | b"elif" | b"do" | b"while" | b"until" | b"{" | b"!" | b"time"
            | b"coproc" => {
                self.list().simple = Simple::new(start, Position::Command);
            }
            b"fi" | b"done" | b"}" => self.list().simple.position = Position::After,
            b"esac" => {
                let list = self.list();
                list.simple.position = Position::After;
                if !matches!(list.open.pop(), Some(Open::Case(_))) {
                    self.lose("an `esac` stands without its `case`");
                }
            }
            b"case" => self.open_compound(Open::Case(CasePart::Subject)),
            b"for" | b"select" => self.list().simple.position = Position::ForName,
            b"function" => self.list().simple.position = Position::FunctionName,
            b"[[" => {
                if self.dialect == Dialect::Sh {
                    return self.lose("`[[` is not understood by every sh");
                }
                self.list().simple.position = Position::After;
                self.open(range.start, FrameKind::Condition(Box::default()));
            }
            _ => self.program_word(word, range),
        }
    }

    /// Takes the word that says which command runs, or an option of a wrapper before it.
    fn program_word(&mut self, word: Word, range: Range<usize>) {
        let simple = &mut self.list().simple;
        let wrapper = simple.program;
        simple.reserved = false;
        if simple.command.is_some() && word.literal && word.text.starts_with(b"-") {
            if wrapper == Program::Command && word.text.iter().any(|letter| b"vV".contains(letter)) {
                simple.program = Program::Ordinary;
                simple.position = Position::Argument;
            }
            return;
        }
        simple.position = Position::Argument;
        simple.program = match () {
            () if word.literal => program(&word.text),
            // `sudo -u {{user}} ls`: the value may be the option's, and only a program can be run.
            () if wrapper == Program::Launcher => Program::Ordinary,
            () if word.value => Program::Chosen,
            () => Program::Variable,
        };
        if matches!(simple.program, Program::Wrapper | Program::Launcher | Program::Command) {
            simple.position = Position::Command;
        }
        if word.splits {
            // The content of the variable becomes a whole command line.
            self.sink(range.clone(), Evaluates::Expansions, RefusalKind::ChosenCommand);
        }
        self.lint(&range, LintKind::CommandWord);
        self.arrays |= word.is("mapfile") || word.is("readarray");
        self.list().simple.command = Some(word);
    }

    /// Notes that what stands in a range is assigned to a variable.
    pub(super) fn assignment(&mut self, name: super::flow::Name, text: &[u8], range: Range<usize>) {
        if is_evaluated(text) {
            self.sink(range.clone(), Evaluates::Names, RefusalKind::SpecialVariable);
        }
        if is_run_by_programs(text) {
            self.reinterpreted(range.clone());
        }
        self.flow.assign(name, range);
    }
}

fn is_reserved(word: &[u8]) -> bool {
    matches!(
        word,
        b"if"
            | b"then"
            | b"else"
            | b"elif"
            | b"fi"
            | b"do"
            | b"done"
            | b"while"
            | b"until"
            | b"{"
            | b"}"
            | b"esac"
            | b"!"
    )
}
