//! Compound commands: their keywords are stepped over, and what stands between them is read as it comes.

use super::mentions::substitutes;
use super::reader::{End, Reader};
use super::words::Word;
use super::{Blind, MANY};

/// What a word is at the beginning of a command.
pub(super) enum Keyword {
    /// No keyword.
    None,
    /// One after which a command begins.
    Begins,
    /// One that ends a compound command.
    Ends,
    /// `esac`
    Esac,
}

impl Reader<'_> {
    pub(super) fn keyword(&mut self, word: &Word) -> Result<Keyword, Blind> {
        if !word.plain || word.assigns.is_some() {
            return Ok(Keyword::None);
        }
        Ok(match word.values[0].as_str() {
            "if" | "then" | "else" | "elif" | "{" | "!" | "time" => {
                self.time_option(word);
                Keyword::Begins
            }
            "while" | "until" | "do" | "coproc" => {
                self.world.repeats = true;
                Keyword::Begins
            }
            "fi" | "done" | "}" => Keyword::Ends,
            "esac" => Keyword::Esac,
            "for" | "select" => {
                self.world.repeats = true;
                self.for_each()?;
                Keyword::Begins
            }
            "case" => {
                self.case()?;
                Keyword::Ends
            }
            "function" => {
                self.world.repeats = true;
                self.blanks();
                self.word()?;
                self.blanks();
                if self.peek(0) == Some('(') {
                    self.at += 1;
                    self.blanks();
                    if self.peek(0) != Some(')') {
                        return Err(Blind::Syntax("a function"));
                    }
                    self.at += 1;
                }
                Keyword::Begins
            }
            "[[" => {
                self.condition()?;
                Keyword::Ends
            }
            _ => Keyword::None,
        })
    }

    /// Steps over `time -p`.
    fn time_option(&mut self, word: &Word) {
        self.blanks();
        if word.is("time") && self.peek(0) == Some('-') && self.peek(1) == Some('p') {
            self.at += 2;
        }
    }

    fn lines(&mut self) -> Result<(), Blind> {
        loop {
            self.blanks();
            match self.peek(0) {
                Some('\n') => self.newline()?,
                Some('#') => self.comment(),
                _ => return Ok(()),
            }
        }
    }

    /// Reads `NAME in WORDS`, or `((…))`.
    fn for_each(&mut self) -> Result<(), Blind> {
        self.blanks();
        if self.peek(0) == Some('(') && self.peek(1) == Some('(') {
            self.at += 1;
            if !self.is_arithmetic() {
                return Err(Blind::Syntax("a `for`"));
            }
            return self.arithmetic();
        }
        let name = self.word()?.values.swap_remove(0);
        self.lines()?;
        let here = self.at;
        let next = self.word()?;
        if !next.is("in") {
            self.at = here;
            self.world.assign(&name, &MANY.to_string());
            return Ok(());
        }
        loop {
            self.blanks();
            match self.peek(0) {
                None | Some('\n' | ';' | '#') => return Ok(()),
                Some('&' | '|' | '(' | ')' | '<' | '>') => return Err(Blind::Syntax("a `for`")),
                Some(_) => {
                    let item = self.word()?;
                    for value in item.values {
                        if item.splits && value.contains(char::is_whitespace) {
                            value.split_whitespace().for_each(|part| self.assigned(&name, part));
                        } else {
                            self.assigned(&name, &value);
                        }
                    }
                }
            }
        }
    }

    /// Reads `WORD in PATTERN) … ;; esac`.
    fn case(&mut self) -> Result<(), Blind> {
        const BROKEN: Blind = Blind::Syntax("a `case`");
        if self.world.depth >= super::DEEPEST {
            return Err(Blind::TooMuch);
        }
        self.world.depth += 1;
        self.blanks();
        self.word()?;
        self.lines()?;
        if !self.word()?.is("in") {
            return Err(BROKEN);
        }
        loop {
            self.lines()?;
            if self.peek(0) == Some('(') {
                self.at += 1;
                self.blanks();
            } else {
                let here = self.at;
                if self.word()?.is("esac") {
                    break;
                }
                self.at = here;
            }
            loop {
                self.blanks();
                match self.peek(0) {
                    Some(')') => {
                        self.at += 1;
                        break;
                    }
                    Some('|') => self.at += 1,
                    None | Some('\n' | ';' | '&' | '(' | '<' | '>') => return Err(BROKEN),
                    Some(_) => {
                        self.word()?;
                    }
                }
            }
            match self.list()? {
                End::Branch => {
                    self.at += 2;
                    if self.peek(0) == Some('&') {
                        self.at += 1;
                    }
                }
                End::Esac => break,
                End::Text | End::Parenthesis => return Err(BROKEN),
            }
        }
        self.world.depth -= 1;
        Ok(())
    }

    /// Reads up to `]]`; operators are words there, but what is substituted runs.
    fn condition(&mut self) -> Result<(), Blind> {
        loop {
            match self.peek(0) {
                None => return Err(Blind::Syntax("a `[[` is not closed")),
                Some('<' | '>') if self.peek(1) == Some('(') => {
                    self.word()?;
                }
                Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>') => self.at += 1,
                Some(_) => {
                    let here = self.at;
                    let word = self.word()?;
                    if word.is("]]") {
                        return Ok(());
                    }
                    // `-v` and `-eq` evaluate what stands beside them, quoted or not.
                    for value in word.values.iter().filter(|value| substitutes(value)) {
                        self.mention(value);
                    }
                    if self.at == here {
                        self.at += 1;
                    }
                }
            }
        }
    }

    /// Returns whether what begins at the second `(` is arithmetic: closed by `))`, and nothing but a formula.
    pub(super) fn is_arithmetic(&self) -> bool {
        self.formula().is_some()
    }

    /// Steps over the formula and its `))`.
    pub(super) fn arithmetic(&mut self) -> Result<(), Blind> {
        match self.formula() {
            Some(end) => {
                self.at = end;
                Ok(())
            }
            // `$((a) …)` is a subshell in a substitution.
            None => self.subshell(),
        }
    }

    /// Returns where the formula that begins at the second `(` ends.
    fn formula(&self) -> Option<usize> {
        let mut depth = 1;
        let mut end = self.at + 1;
        let mut previous = ' ';
        loop {
            let character = *self.text.get(end)?;
            match character {
                '(' if previous == '$' => return None,
                '(' => depth += 1,
                ')' => depth -= 1,
                ' ' | '\t' | '\n' => {
                    // Two names side by side are a command.
                    let next =
                        self.text[end..].iter().find(|next| !next.is_whitespace()).copied().unwrap_or(' ');
                    let joins =
                        |character: char| character.is_ascii_alphanumeric() || "_$".contains(character);
                    if joins(previous) && joins(next) {
                        return None;
                    }
                }
                _ if character.is_ascii_alphanumeric() || "_+-*/%<>=!&|^~?:,;${}".contains(character) => {}
                _ => return None,
            }
            end += 1;
            if depth == 0 {
                return (self.text.get(end) == Some(&')')).then_some(end + 1);
            }
            if !character.is_whitespace() {
                previous = character;
            }
        }
    }
}
