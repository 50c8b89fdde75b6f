//! The arguments of commands that do more with them than take them as data.

use super::flow::Evaluates;
use super::frame::{Expect, Position, Simple, Word};
use super::program::{Code, Program, interpreter, is_evaluated, program, takes_code_late};
use super::report::RefusalKind;
use super::scan::Scanner;
use super::symbol::{Symbol, is_name};
use std::ops::Range;

impl Scanner {
    fn simple(&mut self) -> &mut Simple {
        &mut self.list().simple
    }

    /// Decides what an argument means to its command.
    pub(super) fn argument(&mut self, word: &Word, range: Range<usize>) {
        self.simple().arguments += 1;
        self.call(range.clone());
        let expect = std::mem::replace(&mut self.simple().expect, Expect::Any);
        match expect {
            Expect::Data(more) => {
                if more > 1 {
                    self.simple().expect = Expect::Data(more - 1);
                }
                return;
            }
            Expect::Name => {
                self.receives(&word.text);
                return self.sink(range, Evaluates::Expansions, RefusalKind::VariableName);
            }
            Expect::Code => {
                self.simple().coded = true;
                return self.reinterpreted(range);
            }
            Expect::Format => return self.printf_format(word, range),
            Expect::Any => {}
        }
        match self.simple().program {
            Program::Ordinary => self.ordinary_argument(word),
            Program::Chosen => self.sink(range, Evaluates::Expansions, RefusalKind::ChosenCommand),
            Program::Variable => {
                if !word.literal
                    && let Some(command) = &self.simple().command
                {
                    let command = command.start..range.start;
                    self.sink(command, Evaluates::Expansions, RefusalKind::ChosenCommand);
                    // Said once, so that many arguments do not make the scan slow.
                    self.simple().program = Program::Ordinary;
                }
            }
            // These are read as command words, so that no argument is left.
            Program::Wrapper | Program::Launcher | Program::Command => {
                self.simple().position = Position::Command;
            }
            Program::Let => self.sink(range, Evaluates::Names, RefusalKind::Arithmetic),
            Program::Names => self.sink(range, Evaluates::Expansions, RefusalKind::Builtin),
            Program::Read => {
                if word.literal && is_name(&word.text) {
                    self.receives(&word.text);
                } else {
                    self.arrays |= word.text.starts_with(b"-") && word.text.contains(&b'a');
                    self.sink(range, Evaluates::Expansions, RefusalKind::VariableName);
                }
            }
            Program::Declare => self.declaration(word, range),
            Program::Printf => self.printf_argument(word, range),
            Program::Test => self.test_argument(word, range),
            Program::Set => {
                if self.simple().options && word.could_be_option() {
                    self.sink(range.clone(), Evaluates::Expansions, RefusalKind::OptionPosition);
                }
                self.simple().options &= word.literal && word.text.starts_with(b"-") && !word.is("--");
                self.flow.assign_positional(range);
            }
            Program::Alias => {
                self.reinterpreted(range);
                self.lose("an alias can change how the text after it is read");
            }
            Program::Eval(code) => {
                self.evaluated_argument(&range);
                self.code_argument(code, word, range);
            }
            Program::Interpreter(code) => self.code_argument(code, word, range),
        }
    }

    /// Notes that a command stores in this variable whatever it gets.
    fn receives(&mut self, text: &[u8]) {
        let name = self.flow.name(text);
        self.flow.fill(name);
        if is_evaluated(text) {
            self.refuse_everything(RefusalKind::SpecialVariable);
        }
    }

    /// Notes the argument, in case the command is a function.
    fn call(&mut self, range: Range<usize>) {
        let Some(command) = &self.simple().command else { return };
        if command.literal {
            let command = command.text.clone();
            let command = self.flow.name(&command);
            self.flow.call(command, range);
        } else {
            self.flow.assign_positional(range);
        }
    }

    fn ordinary_argument(&mut self, word: &Word) {
        // `find -exec sh -c …`, `docker exec x bash -c …`
        let base = word.text.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        if word.literal
            && let Some(code @ Code::After(_)) = std::str::from_utf8(base).ok().and_then(interpreter)
        {
            let simple = self.simple();
            simple.program = Program::Interpreter(code);
            simple.coded = false;
        }
    }

    /// Refuses values in `eval '… $((X)) …'`: the text is read by this very shell, where variables hold them.
    fn evaluated_argument(&mut self, range: &Range<usize>) {
        let text: Vec<u8> = self.script[range.clone()]
            .iter()
            .map(|symbol| if let Symbol::Byte(byte) = symbol { *byte } else { 0 })
            .collect();
        let words = text.split(|byte| !byte.is_ascii_alphanumeric());
        let builtin = |word: &[u8]| {
            matches!(
                program(word),
                Program::Let | Program::Names | Program::Read | Program::Declare | Program::Eval(_)
            ) || word == b"printf"
                || word == b"test"
        };
        let evaluates = text.windows(2).any(|pair| matches!(pair, b"((" | b"$[" | b"[[" | b"{!" | b"@P"))
            || text.contains(&b'[')
            || words.into_iter().any(builtin);
        if evaluates {
            for part in self.text_between_placeholders(range) {
                self.sink(part, Evaluates::Names, RefusalKind::Builtin);
            }
        }
    }

    /// Returns the parts of a range that contain no placeholder, since those in an `eval` are a lint.
    fn text_between_placeholders(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut start = range.start;
        for at in &self.flow.placeholders()[self.flow.placeholders_in(range)] {
            parts.push(start..*at);
            start = at + 1;
        }
        parts.push(start..range.end);
        parts
    }

    fn code_argument(&mut self, code: Code, word: &Word, range: Range<usize>) {
        let option = word.text.starts_with(b"-") && word.text.len() > 1;
        match code {
            Code::All => self.reinterpreted(range),
            Code::After(letters) => self.code_after(letters, word, range),
            Code::First { code, data } => {
                let options = self.simple().options;
                let joined = |(data, _): &(&str, usize)| word.text.starts_with(data.as_bytes());
                if options && word.is("--") {
                    self.simple().options = false;
                } else if let Some((_, count)) = data.iter().find(|(data, _)| word.is(data)) {
                    self.simple().expect = Expect::Data(*count);
                } else if code.iter().any(|code| word.is(code)) {
                    self.simple().expect = Expect::Code;
                } else if option && !word.literal && !data.iter().any(joined) {
                    self.reinterpreted(range);
                } else if !(option && options || self.simple().coded || word.is("")) {
                    self.simple().coded = true;
                    self.reinterpreted(range);
                }
            }
        }
    }

    /// Looks for the code of `sh -c …`: what follows it are arguments, and so it is without `-c`.
    fn code_after(&mut self, letters: &str, word: &Word, range: Range<usize>) {
        let simple = self.simple();
        let late = simple.command.as_ref().is_some_and(|command| takes_code_late(&command.text));
        if simple.coded && !late {
            return;
        }
        let long = word.text.starts_with(b"--");
        let short = !long && word.text.starts_with(b"-") && word.text.len() > 1;
        let is_code = word.text.iter().any(|byte| letters.as_bytes().contains(byte));
        if !word.literal {
            // A value that begins with `-c` brings its own code.
            if long || word.could_be_option() {
                self.reinterpreted(range);
            }
        } else if (short && is_code)
            || ["--eval", "--print", "--command", "--execute", "eval"].iter().any(|code| word.is(code))
        {
            simple.expect = Expect::Code;
        } else if short && matches!(word.text.last(), Some(b'o' | b'O' | b'W' | b'X')) {
            simple.expect = Expect::Data(1);
        } else if !short && !long && !word.text.starts_with(b"+") {
            // The script file: what follows are its arguments.
            simple.coded = true;
        }
    }

    fn declaration(&mut self, word: &Word, range: Range<usize>) {
        let name = word.text.split(|byte| *byte == b'=').next().unwrap_or_default();
        let name = name.strip_suffix(b"+").unwrap_or(name);
        let assigns = word.text.len() > name.len();
        if word.text.starts_with(b"-") || word.text.starts_with(b"+") {
            let letters = &word.text[1..];
            let simple = self.simple();
            simple.evaluating |= !word.literal || letters.iter().any(|letter| b"inaAI".contains(letter));
            let arrays = letters.iter().any(|letter| b"aA".contains(letter));
            self.arrays |= arrays;
            self.sink(range, Evaluates::Expansions, RefusalKind::OptionPosition);
        } else if !assigns || !is_name(name) {
            // `declare NAME` alone, a subscript, or a name that a value is part of.
            if self.simple().evaluating {
                self.sink(range.clone(), Evaluates::Names, RefusalKind::VariableName);
            }
            self.sink(range, Evaluates::Expansions, RefusalKind::VariableName);
        } else {
            if self.simple().evaluating {
                self.sink(range.clone(), Evaluates::Names, RefusalKind::ArrayDeclaration);
            }
            self.declarations.push(range.clone());
            let (text, name) = (name.to_vec(), self.flow.name(name));
            self.assignment(name, &text, range);
        }
    }

    fn printf_argument(&mut self, word: &Word, range: Range<usize>) {
        let options = self.simple().options;
        if !options {
            if self.simple().format {
                self.sink(range, Evaluates::Expansions, RefusalKind::FormatArgument);
            }
            return;
        }
        if word.could_be_option() {
            self.sink(range.clone(), Evaluates::Expansions, RefusalKind::OptionPosition);
        }
        if word.is("-v") {
            self.simple().expect = Expect::Name;
        } else if word.is("--") {
            self.simple().options = false;
            self.simple().expect = Expect::Format;
        } else if word.literal && word.text.starts_with(b"-v") {
            self.receives(&word.text[2..]);
        } else {
            self.simple().options = false;
            self.printf_format(word, range);
        }
    }

    fn printf_format(&mut self, word: &Word, range: Range<usize>) {
        let counts = word.text.windows(2).any(|pair| pair == b"%n");
        self.simple().format = word.value || counts;
        if word.value {
            self.reinterpreted(range);
        }
    }

    fn test_argument(&mut self, word: &Word, range: Range<usize>) {
        // `[ -v NAME ]` evaluates a subscript in the name, and an operator may come from a value as well;
        // unquoted, a single variable can bring both.
        if (self.simple().operator && !word.literal) || word.splits {
            self.sink(range, Evaluates::Expansions, RefusalKind::TestOperator);
        }
        self.simple().operator = word.is("-v") || word.is("-R") || word.could_be_option();
    }
}
