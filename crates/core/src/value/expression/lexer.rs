//! Cuts the text of an expression into tokens, on demand and without copying.
//!
//! A `-` directly between two identifier characters belongs to the name, because steps are called
//! `get-diff`; with a space on either side it subtracts.

use super::problem::Problem;
use crate::diagnostic::excerpt;
use crate::source::Span;

/// What a token is; its text is the slice between its offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    Integer,
    Float,
    /// Text in quotes, with escapes.
    Text,
    /// `r'…'`: text in quotes, without escapes.
    RawText,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    Dot,
    Comma,
    Question,
    Colon,
    Bar,
    Or,
    And,
    Not,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    /// A single `=`, which means nothing here but is often written.
    Assign,
    /// `}}`, the end of a placeholder.
    Close,
    End,
}

/// One token and where it stands in the lexed text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Maps an offset in the lexed text to an offset in the file.
pub(crate) type Positions<'a> = &'a dyn Fn(usize) -> usize;

/// A place in the text, and the way from there to its place in the file.
pub(crate) struct Lexer<'a> {
    pub(crate) text: &'a str,
    position: usize,
    positions: Positions<'a>,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, start: usize, positions: Positions<'a>) -> Self {
        Self { text, position: start, positions }
    }

    /// Returns where a part of the text stands in the file.
    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        Span::new((self.positions)(start), (self.positions)(end))
    }

    /// Returns the next token; at the end of the text, `End` again and again.
    pub(crate) fn next(&mut self) -> Result<Token, Problem> {
        self.skip_space();
        let start = self.position;
        let (kind, length) = match self.byte(0) {
            None => (Kind::End, 0),
            Some(b'r') if matches!(self.byte(1), Some(b'\'' | b'"')) => {
                (Kind::RawText, 1 + self.text_length(1, false)?)
            }
            Some(b'\'' | b'"') => (Kind::Text, self.text_length(0, true)?),
            Some(b'0'..=b'9') => self.number()?,
            Some(byte) if is_name_start(byte) => (Kind::Name, self.name_length()),
            Some(byte) => self.symbol(byte)?,
        };
        self.position += length;
        Ok(Token { kind, start, end: self.position })
    }

    /// Returns the name after a `.`, which unlike a first name may start with a digit and be any word.
    pub(crate) fn member(&mut self) -> Option<Token> {
        self.skip_space();
        let start = self.position;
        self.byte(0).filter(|byte| is_name(*byte))?;
        self.position += self.name_length();
        Some(Token { kind: Kind::Name, start, end: self.position })
    }

    fn skip_space(&mut self) {
        while matches!(self.byte(0), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.position + ahead).copied()
    }

    fn name_length(&self) -> usize {
        let mut length = 1;
        loop {
            match self.byte(length) {
                Some(byte) if is_name(byte) => length += 1,
                Some(b'-') if self.byte(length + 1).is_some_and(is_name) => length += 2,
                _ => return length,
            }
        }
    }

    fn number(&self) -> Result<(Kind, usize), Problem> {
        let bytes = &self.text.as_bytes()[self.position..];
        let run = |from: usize, test: fn(&u8) -> bool| {
            bytes.get(from..).unwrap_or_default().iter().take_while(|byte| test(byte)).count()
        };
        let digits = |from: usize| run(from, u8::is_ascii_digit);
        let mut length = digits(0);
        let mut kind = Kind::Integer;
        if self.byte(length) == Some(b'.') && digits(length + 1) > 0 {
            length += 1 + digits(length + 1);
            kind = Kind::Float;
        }
        if matches!(self.byte(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.byte(length + 1), Some(b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
                kind = Kind::Float;
            }
        }
        let glued = run(length, |byte| is_name(*byte) || *byte == b'.');
        if glued > 0 {
            let end = self.position + length + glued;
            let written = excerpt(&self.text[self.position..end]);
            return Err(self
                .problem(self.position, end, format!("`{written}` is not a number"))
                .help(format!("put quotes around text: \"{written}\"")));
        }
        Ok((kind, length))
    }

    /// Returns the length of the quoted text that starts `ahead` of here, with its quotes.
    fn text_length(&self, ahead: usize, escapes: bool) -> Result<usize, Problem> {
        let bytes = &self.text.as_bytes()[self.position + ahead..];
        let quote = bytes[0];
        let mut at = 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if escapes => at += 2,
                _ if byte == quote => return Ok(at + 1),
                _ => at += 1,
            }
        }
        let quote = char::from(quote);
        Err(self
            .problem(self.position, self.position + ahead + 1, "a text has no closing quote")
            .label(format!("`{quote}` opens it here")))
    }

    fn symbol(&self, byte: u8) -> Result<(Kind, usize), Problem> {
        let next = self.byte(1);
        Ok(match (byte, next) {
            (b'|', Some(b'|')) => (Kind::Or, 2),
            (b'&', Some(b'&')) => (Kind::And, 2),
            (b'=', Some(b'=')) => (Kind::Equal, 2),
            (b'!', Some(b'=')) => (Kind::NotEqual, 2),
            (b'<', Some(b'=')) => (Kind::LessOrEqual, 2),
            (b'>', Some(b'=')) => (Kind::GreaterOrEqual, 2),
            (b'}', Some(b'}')) => (Kind::Close, 2),
            (b'|', _) => (Kind::Bar, 1),
            (b'=', _) => (Kind::Assign, 1),
            (b'!', _) => (Kind::Not, 1),
            (b'<', _) => (Kind::Less, 1),
            (b'>', _) => (Kind::Greater, 1),
            (b'(', _) => (Kind::OpenParen, 1),
            (b')', _) => (Kind::CloseParen, 1),
            (b'[', _) => (Kind::OpenBracket, 1),
            (b']', _) => (Kind::CloseBracket, 1),
            (b'.', _) => (Kind::Dot, 1),
            (b',', _) => (Kind::Comma, 1),
            (b'?', _) => (Kind::Question, 1),
            (b':', _) => (Kind::Colon, 1),
            (b'+', _) => (Kind::Plus, 1),
            (b'-', _) => (Kind::Minus, 1),
            (b'*', _) => (Kind::Star, 1),
            (b'/', _) => (Kind::Slash, 1),
            (b'%', _) => (Kind::Percent, 1),
            _ => return Err(self.stray(byte, next)),
        })
    }

    fn stray(&self, byte: u8, next: Option<u8>) -> Problem {
        let here = self.position;
        match (byte, next) {
            (b'&', _) => self
                .problem(here, here + 1, "a single `&` means nothing here")
                .help("use `&&` for “and”")
                .replacement("&&"),
            (b'{', Some(b'{')) => self
                .problem(here, here + 2, "`{{` means nothing inside an expression")
                .help("write the names as they are, without `{{` and `}}`"),
            _ => {
                // Offsets only ever advance past whole tokens, so a character starts here.
                let character = self.text[here..].chars().next().unwrap_or('\u{fffd}');
                let problem = self.problem(
                    here,
                    here + character.len_utf8(),
                    format!("`{}` means nothing here", character.escape_debug()),
                );
                if character.is_alphanumeric() {
                    problem.help("a name outside a-z, A-Z, 0-9, `_` and `-` is written `inputs[\"name\"]`")
                } else {
                    problem
                }
            }
        }
    }

    fn problem(&self, start: usize, end: usize, message: impl Into<String>) -> Problem {
        Problem::new(self.span(start, end), message)
    }

    /// Returns what a quoted text says, with its escapes read.
    pub(crate) fn decode(&self, token: Token) -> Result<String, Problem> {
        let start = token.start + if token.kind == Kind::RawText { 2 } else { 1 };
        let inside = &self.text[start..token.end - 1];
        if token.kind == Kind::RawText || !inside.contains('\\') {
            return Ok(inside.to_owned());
        }
        let mut out = String::with_capacity(inside.len());
        let mut rest = inside;
        while let Some(before) = rest.find('\\') {
            out.push_str(&rest[..before]);
            let at = start + (inside.len() - rest.len()) + before;
            let (character, length) = self.escape(&rest[before..], at)?;
            out.push(character);
            rest = &rest[before + length..];
        }
        out.push_str(rest);
        Ok(out)
    }

    /// Reads one escape at the start of `text`, which stands at offset `at`.
    fn escape(&self, text: &str, at: usize) -> Result<(char, usize), Problem> {
        // The lexer steps over `\` and what follows together, so something follows.
        let letter = text[1..].chars().next().unwrap_or('\\');
        let simple = match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '\\' | '\'' | '"' => letter,
            'u' => return self.unicode_escape(text, at),
            _ => {
                return Err(self
                    .problem(
                        at,
                        at + 1 + letter.len_utf8(),
                        format!("`\\{}` is not an escape", letter.escape_debug()),
                    )
                    .help(format!(
                        "write `\\\\{}` for a backslash, or r'…' for text without escapes",
                        letter.escape_debug()
                    )));
            }
        };
        Ok((simple, 2))
    }

    fn unicode_escape(&self, text: &str, at: usize) -> Result<(char, usize), Problem> {
        let (digits, length) = match text[2..].strip_prefix('{') {
            Some(inside) => match inside.find('}') {
                Some(end) => (&inside[..end], end + 4),
                None => ("", 3),
            },
            None => (text.get(2..6).unwrap_or(""), 6.min(text.len())),
        };
        let number = if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
        } else {
            None
        };
        number.map(|character| (character, length)).ok_or_else(|| {
            self.problem(at, at + 2, "this is not a character").help(
                "write four hexadecimal digits as in `\\u00e9`, or any number of them as in `\\u{1f600}`",
            )
        })
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
