//! Words: quotes taken off, expansions followed as far as they can be.

use super::reader::Reader;
use super::{ANY, Blind, MANY};

/// How many values one word may have before it counts as unknown.
const MOST: usize = 8;

/// A word of which nothing can be told.
const LOST: u8 = 3;

/// A word as it was read.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// What it can be.
    pub(super) values: Vec<String>,
    /// Whether it was written without quotes and expansions, so that it can be a keyword.
    pub(super) plain: bool,
    /// Whether an unquoted expansion is part of it, so that the shell splits it.
    pub(super) splits: bool,
    /// The variable that it assigns to, whose value the rest is.
    pub(super) assigns: Option<String>,
    /// What was seen of an unquoted `{`, then `,` or `..`, then `}`; [`LOST`] when it can be any words.
    brace: u8,
}

impl Word {
    pub(super) fn new() -> Self {
        Self { values: vec![String::new()], plain: true, splits: false, assigns: None, brace: 0 }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.plain && self.values[0] == text
    }

    /// Adds a character as it is.
    pub(super) fn push(&mut self, character: char) {
        self.values.iter_mut().for_each(|value| value.push(character));
    }

    /// Adds one of several texts.
    pub(super) fn extend(&mut self, texts: &[String]) {
        self.plain = false;
        if self.values.len() * texts.len() > MOST {
            return self.push(MANY);
        }
        let values =
            self.values.iter().flat_map(|value| texts.iter().map(move |text| format!("{value}{text}")));
        self.values = values.collect();
    }

    pub(super) fn unknown(&mut self, quoted: bool) {
        self.plain = false;
        self.push(if quoted { ANY } else { MANY });
        self.splits |= !quoted;
    }
}

impl Reader<'_> {
    /// Reads one word; the next character begins it.
    pub(super) fn word(&mut self) -> Result<Word, Blind> {
        let mut word = Word::new();
        if self.peek(0) == Some('~') {
            self.tilde(&mut word);
        }
        while let Some(character) = self.peek(0) {
            match character {
                '<' | '>' if self.peek(1) == Some('(') && word.values == [""] => {
                    self.at += 2;
                    self.substitution()?;
                    word.unknown(true);
                }
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\\' => {
                    self.at += 1;
                    match self.take() {
                        Some('\n') | None => {}
                        Some(character) => {
                            word.plain = false;
                            word.push(character);
                        }
                    }
                }
                '\'' => {
                    word.plain = false;
                    self.at += 1;
                    self.single(&mut word)?;
                }
                '"' => {
                    word.plain = false;
                    self.at += 1;
                    self.double(&mut word, Some('"'))?;
                }
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backticks(&mut word, false)?,
                '*' | '?' => {
                    self.at += 1;
                    word.unknown(false);
                }
                '[' => self.bracket(&mut word),
                '=' if word.assigns.is_none() && word.plain => {
                    self.at += 1;
                    self.equals(&mut word)?;
                }
                _ => {
                    self.at += 1;
                    match (character, word.brace) {
                        ('{', 0) => word.brace = 1,
                        (',', 1) => word.brace = 2,
                        ('.', 1) if self.peek(0) == Some('.') => word.brace = 2,
                        ('}', 2) => word.brace = LOST,
                        _ => {}
                    }
                    word.push(character);
                }
            }
        }
        if word.brace == LOST {
            // `{git,push}` becomes several words.
            word.values = vec![MANY.to_string()];
            word.plain = false;
            word.splits = true;
        }
        Ok(word)
    }

    fn tilde(&mut self, word: &mut Word) {
        self.at += 1;
        word.plain = false;
        match self.peek(0) {
            None | Some('/' | ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' | ':') => {
                let home = self.world.values("HOME");
                word.extend(&home);
            }
            Some(_) => {
                // `~user`, `~+`: another folder, whose name is not part of the path.
                let ends = |next: char| "/ \t\n;&|()<>:'\"\\$`".contains(next);
                while self.peek(0).is_some_and(|next| !ends(next)) {
                    self.at += 1;
                }
                word.push(ANY);
            }
        }
    }

    /// Takes an unquoted `=`, which may make the word an assignment.
    fn equals(&mut self, word: &mut Word) -> Result<(), Blind> {
        let text = word.values[0].clone();
        let name = text.strip_suffix('+').unwrap_or(&text);
        if !is_name(name) {
            word.push('=');
            return Ok(());
        }
        word.assigns = Some(name.to_owned());
        // What is appended is not followed.
        word.values = vec![if name.len() < text.len() { MANY.to_string() } else { String::new() }];
        if self.peek(0) == Some('(') {
            self.at += 1;
            self.array()?;
            word.unknown(false);
        } else if self.peek(0) == Some('~') {
            self.tilde(word);
        }
        Ok(())
    }

    /// Reads the items of `NAME=( … )`.
    fn array(&mut self) -> Result<(), Blind> {
        loop {
            match self.peek(0) {
                None => return Err(Blind::Syntax("an array is not closed")),
                Some(')') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(' ' | '\t' | '\n') => self.at += 1,
                Some('#') => self.comment(),
                Some(';' | '&' | '|' | '(' | '<' | '>') => {
                    return Err(Blind::Syntax("an operator in an array"));
                }
                Some(_) => {
                    self.word()?;
                }
            }
        }
    }

    /// Takes `[`: a pattern, the subscript of an assignment, or itself.
    fn bracket(&mut self, word: &mut Word) {
        let rest = &self.text[self.at + 1..];
        let end = rest.iter().position(|character| matches!(character, ']' | ' ' | '\t' | '\n'));
        let Some(end) = end.filter(|end| rest[*end] == ']') else {
            self.at += 1;
            word.push('[');
            return;
        };
        let inner: String = rest[..end].iter().collect();
        if inner.contains(['$', '`', '\'', '"', '\\', ';', '&', '|', '(', ')', '<', '>']) {
            // What is in it is read on, so that no substitution is missed; the word can then be anything.
            self.at += 1;
            word.brace = LOST;
            return;
        }
        self.at += end + 2;
        let assigns = match (self.peek(0), self.peek(1)) {
            (Some('='), _) => 1,
            (Some('+'), Some('=')) => 2,
            _ => 0,
        };
        if assigns > 0 && word.plain && is_name(&word.values[0]) {
            self.at += assigns;
            word.assigns = Some(word.values[0].clone());
            word.values = vec![String::new()];
        }
        word.unknown(false);
    }

    pub(super) fn single(&mut self, word: &mut Word) -> Result<(), Blind> {
        loop {
            match self.take() {
                None => return Err(Blind::Syntax("a quote is not closed")),
                Some('\'') => return Ok(()),
                Some(character) => word.push(character),
            }
        }
    }

    /// Reads up to the closing quote, or to the end for a here-document.
    pub(super) fn double(&mut self, word: &mut Word, end: Option<char>) -> Result<(), Blind> {
        loop {
            match self.peek(0) {
                None if end.is_none() => return Ok(()),
                None => return Err(Blind::Syntax("a quote is not closed")),
                Some(character) if Some(character) == end => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\\') => {
                    self.at += 1;
                    match self.take() {
                        Some('\n') | None => {}
                        Some(character @ ('$' | '`' | '\\')) => word.push(character),
                        Some('"') if end.is_some() => word.push('"'),
                        Some(character) => {
                            word.push('\\');
                            word.push(character);
                        }
                    }
                }
                Some('$') => self.dollar(word, true)?,
                Some('`') => self.backticks(word, true)?,
                Some(character) => {
                    self.at += 1;
                    word.push(character);
                }
            }
        }
    }

    /// Reads `$'…'`.
    pub(super) fn ansi(&mut self, word: &mut Word) -> Result<(), Blind> {
        loop {
            let character = match self.take() {
                None => return Err(Blind::Syntax("a quote is not closed")),
                Some('\'') => return Ok(()),
                Some('\\') => match self.take() {
                    None => return Err(Blind::Syntax("a quote is not closed")),
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some('a') => '\u{7}',
                    Some('b') => '\u{8}',
                    Some('e' | 'E') => '\u{1b}',
                    Some('f') => '\u{c}',
                    Some('v') => '\u{b}',
                    Some('x') => self.escaped(16, 2),
                    Some('u') => self.escaped(16, 4),
                    Some('U') => self.escaped(16, 8),
                    Some('0'..='7') => {
                        self.at -= 1;
                        self.escaped(8, 3)
                    }
                    Some('c') => {
                        self.at += 1;
                        ANY
                    }
                    Some(character) => character,
                },
                Some(character) => character,
            };
            if character == '\0' {
                // The text ends here in some shells.
                word.brace = LOST;
            }
            word.push(character);
        }
    }

    fn escaped(&mut self, base: u32, most: usize) -> char {
        let mut number = 0u32;
        let mut digits = 0;
        while let Some(digit) = self.peek(0).and_then(|digit| digit.to_digit(base)) {
            if digits == most {
                break;
            }
            number = number.wrapping_mul(base).wrapping_add(digit);
            digits += 1;
            self.at += 1;
        }
        // Bytes above 127 are parts of characters, which are not put together here.
        if number > 127 { ANY } else { char::from_u32(number).unwrap_or(ANY) }
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|next| next.is_ascii_alphanumeric() || next == '_')
}
