//! Expansions: variables, parameters and what is substituted by the output of commands.

use super::reader::Reader;
use super::words::{Word, is_name};
use super::{ANY, Blind, MANY};

impl Reader<'_> {
    /// Takes `$` and what belongs to it.
    pub(super) fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Blind> {
        self.at += 1;
        match self.peek(0) {
            Some('(') => {
                self.at += 1;
                self.substitution()?;
                word.unknown(quoted);
            }
            Some('{') => {
                self.at += 1;
                self.parameter(word, quoted)?;
            }
            Some('[') => return Err(Blind::Syntax("old arithmetic")),
            Some('\'') if !quoted => {
                self.at += 1;
                word.plain = false;
                self.ansi(word)?;
            }
            Some('"') if !quoted => {
                self.at += 1;
                word.plain = false;
                self.double(word, Some('"'))?;
            }
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let mut name = String::new();
                while let Some(next) =
                    self.peek(0).filter(|next| next.is_ascii_alphanumeric() || *next == '_')
                {
                    name.push(next);
                    self.at += 1;
                }
                self.variable(word, &name, quoted);
            }
            Some('0'..='9' | '@' | '*' | '#' | '?' | '-' | '$' | '!') => {
                self.at += 1;
                word.unknown(quoted);
            }
            _ => {
                word.plain = false;
                word.push('$');
            }
        }
        Ok(())
    }

    fn variable(&mut self, word: &mut Word, name: &str, quoted: bool) {
        let values = self.world.values(name);
        // Between quotes nothing is split.
        let values: Vec<String> = if quoted {
            values.iter().map(|value| value.replace(MANY, &ANY.to_string())).collect()
        } else {
            word.splits = true;
            values
        };
        word.extend(&values);
    }

    /// Takes `${…}`: the value of a plain name, and anything at all with an operator.
    fn parameter(&mut self, word: &mut Word, quoted: bool) -> Result<(), Blind> {
        let mut name = String::new();
        while let Some(next) = self.peek(0).filter(|next| next.is_ascii_alphanumeric() || *next == '_') {
            name.push(next);
            self.at += 1;
        }
        if self.peek(0) == Some('}') && is_name(&name) {
            self.at += 1;
            self.variable(word, &name, quoted);
            return Ok(());
        }
        // `${X:=…}` assigns, and `${!X}` is another variable.
        if is_name(&name) && (self.peek(0) == Some('=') || self.peek(1) == Some('=')) {
            self.world.assign(&name, &MANY.to_string());
        }
        let mut inside = Word::new();
        loop {
            match self.peek(0) {
                None => return Err(Blind::Syntax("a `${` is not closed")),
                Some('}') => {
                    self.at += 1;
                    break;
                }
                Some('\\') => self.at += 2,
                Some('\'') if !quoted => {
                    self.at += 1;
                    self.single(&mut inside)?;
                }
                Some('"') => {
                    self.at += 1;
                    self.double(&mut inside, Some('"'))?;
                }
                Some('$') => self.dollar(&mut inside, quoted)?,
                Some('`') => self.backticks(&mut inside, quoted)?,
                Some(_) => self.at += 1,
            }
        }
        word.unknown(quoted);
        Ok(())
    }

    /// Reads the commands of `$(…)`; for `$((…))` they are nonsense that is read all the same.
    pub(super) fn substitution(&mut self) -> Result<(), Blind> {
        if self.peek(0) == Some('(') {
            return self.arithmetic();
        }
        self.subshell()
    }

    pub(super) fn backticks(&mut self, word: &mut Word, quoted: bool) -> Result<(), Blind> {
        self.at += 1;
        let mut code = String::new();
        loop {
            match self.take() {
                None => return Err(Blind::Syntax("a backtick is not closed")),
                Some('`') => break,
                Some('\\') => match self.take() {
                    Some(character @ ('`' | '\\' | '$')) => code.push(character),
                    Some('"') if quoted => code.push('"'),
                    Some(character) => {
                        code.push('\\');
                        code.push(character);
                    }
                    None => {}
                },
                Some(character) => code.push(character),
            }
        }
        let origin = self.origin;
        self.world.code_apart(&code, origin);
        word.unknown(quoted);
        Ok(())
    }
}
