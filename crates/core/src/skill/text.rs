//! What the body of a skill asks to be filled in: arguments, files (`@path`) and commands (`` !`command` ``).
//!
//! This only finds them. A mark counts at the start of a line or after white space, and never inside a fenced block of
//! code, because most that look like one in public skills are prose or examples.

use std::borrow::Cow;

/// A part of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it stands.
    Text(&'a str),
    /// `@path`.
    File {
        /// The path, without the mark.
        path: &'a str,
    },
    /// `` !`command` ``.
    Command {
        /// The command, without the marks.
        command: &'a str,
    },
}

/// Takes a body apart.
pub fn pieces(body: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut fence: Option<&str> = None;
    let mut line_start = 0;
    for line in body.split_inclusive('\n') {
        let bare = line.trim_start_matches(' ');
        let opens = |mark: &&str| line.len() - bare.len() < 4 && bare.starts_with(*mark);
        match fence {
            Some(mark) if opens(&mark) => fence = None,
            Some(_) => {}
            None => match ["```", "~~~"].into_iter().find(opens) {
                Some(mark) => fence = Some(mark),
                None => marks(body, line_start, line, &mut start, &mut pieces),
            },
        }
        line_start += line.len();
    }
    if start < body.len() {
        pieces.push(Piece::Text(&body[start..]));
    }
    pieces
}

/// Finds the marks of one line; `start` is the beginning of the text that is in no piece yet.
fn marks<'a>(
    body: &'a str,
    line_start: usize,
    line: &'a str,
    start: &mut usize,
    pieces: &mut Vec<Piece<'a>>,
) {
    let mut at = 0;
    let mut previous: Option<char> = None;
    while let Some(character) = line[at..].chars().next() {
        let rest = &line[at..];
        let found = match character {
            '!' if previous.is_none_or(is_space) => {
                command(rest).map(|command| (command.len() + 3, Piece::Command { command }))
            }
            '@' if previous
                .is_none_or(|before| !(before.is_ascii_alphanumeric() || before == '_' || before == '`')) =>
            {
                let path = path(&rest[1..]);
                (!path.is_empty()).then_some((path.len() + 1, Piece::File { path }))
            }
            _ => None,
        };
        let length = match found {
            Some((length, piece)) => {
                if *start < line_start + at {
                    pieces.push(Piece::Text(&body[*start..line_start + at]));
                }
                *start = line_start + at + length;
                pieces.push(piece);
                length
            }
            None => character.len_utf8(),
        };
        previous = line[at..at + length].chars().next_back();
        at += length;
    }
}

/// Returns the command between the backticks that follow the mark.
fn command(rest: &str) -> Option<&str> {
    let inside = rest.strip_prefix("!`")?;
    let command = &inside[..inside.find('`')?];
    (!command.trim().is_empty()).then_some(command)
}

/// Returns the path that follows the mark: dots only between parts that are not empty, and one before the first.
fn path(rest: &str) -> &str {
    let ends = |character: char| is_space(character) || matches!(character, '`' | ',' | '.');
    let part = |from: usize| from + rest[from..].find(ends).unwrap_or(rest.len() - from);
    let mut end = part(usize::from(rest.starts_with('.')));
    while rest[end..].starts_with('.') {
        let next = part(end + 1);
        if next == end + 1 {
            break;
        }
        end = next;
    }
    &rest[..end]
}

/// White space as JavaScript has it.
fn is_space(character: char) -> bool {
    (character.is_whitespace() && character != '\u{85}') || character == '\u{feff}'
}

/// Returns whether a body has commands.
pub fn has_commands(body: &str) -> bool {
    // Most have not even the two characters.
    body.contains("!`") && pieces(body).iter().any(|piece| matches!(piece, Piece::Command { .. }))
}

/// What a skill was called with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arguments {
    /// As they were written.
    pub raw: String,
    /// One by one: in quotes or between blanks.
    pub words: Vec<String>,
}

impl Arguments {
    /// Reads what stands after the name of a skill.
    pub fn read(raw: &str) -> Self {
        let raw = raw.trim();
        let mut words = Vec::new();
        let mut rest = raw;
        while let Some(character) = rest.chars().next() {
            let quoted = match character {
                '"' | '\'' => rest[1..].find(character).map(|end| (&rest[1..=end], end + 2)),
                _ => None,
            };
            let (word, length) = match quoted {
                Some(found) => found,
                None if is_space(character) || matches!(character, '"' | '\'') => {
                    rest = &rest[character.len_utf8()..];
                    continue;
                }
                None => {
                    let end =
                        rest.find(|next| is_space(next) || matches!(next, '"' | '\'')).unwrap_or(rest.len());
                    (&rest[..end], end)
                }
            };
            words.push(word.to_owned());
            rest = &rest[length..];
        }
        Self { raw: raw.to_owned(), words }
    }

    /// Makes arguments of values that are already apart.
    pub fn of(words: Vec<String>) -> Self {
        Self { raw: words.join(" "), words }
    }
}

/// How arguments stand in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// Whether `$ARGUMENTS` or `{{args}}` occurs.
    whole: bool,
    /// The highest number that is used, with every one below it: a lonely `$5` is a price.
    highest: usize,
}

impl Places {
    /// Looks for them in a body.
    pub fn of(body: &str) -> Self {
        let mut numbers = [false; 10];
        for (at, _) in body.match_indices('$') {
            if let Some((number, _)) = number(&body[at + 1..]) {
                numbers[number] = true;
            }
        }
        let highest = (1..10).take_while(|number| numbers[*number]).last().unwrap_or(0);
        let highest = if (highest + 1..10).any(|number| numbers[number]) { 0 } else { highest };
        Self { whole: body.contains("$ARGUMENTS") || body.contains("{{args}}"), highest }
    }

    /// Returns whether the body has a place for arguments.
    pub fn any(self) -> bool {
        self.whole || self.highest > 0
    }

    /// Fills a text in. What is filled in is never looked at again, whatever it holds.
    pub fn fill<'a>(self, text: &'a str, arguments: &Arguments) -> Cow<'a, str> {
        if !self.any() || !text.contains(['$', '{']) {
            return Cow::Borrowed(text);
        }
        let mut filled = String::with_capacity(text.len() + arguments.raw.len());
        let mut rest = text;
        while let Some(at) = rest.find(['$', '{']) {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix("$ARGUMENTS").or_else(|| rest.strip_prefix("{{args}}")) {
                filled.push_str(&arguments.raw);
                rest = after;
            } else if let Some((number, length)) = rest.strip_prefix('$').and_then(number)
                && number <= self.highest
            {
                // The last place takes what is left over.
                let words = arguments.words.get(number - 1..).unwrap_or_default();
                let taken = if number == self.highest { words.len() } else { words.len().min(1) };
                filled.push_str(&words[..taken].join(" "));
                rest = &rest[1 + length..];
            } else {
                filled.push_str(&rest[..1]);
                rest = &rest[1..];
            }
        }
        filled.push_str(rest);
        Cow::Owned(filled)
    }
}

/// Reads the number of a place, 1 to 9, that no other letter, digit or decimal follows.
fn number(rest: &str) -> Option<(usize, usize)> {
    let digit = rest.bytes().next().filter(|byte| (b'1'..=b'9').contains(byte))?;
    let mut after = rest[1..].chars();
    let next = after.next();
    let is_amount = matches!(next, Some('.' | ',')) && after.next().is_some_and(|more| more.is_ascii_digit());
    let is_word = next.is_some_and(|next| next.is_alphanumeric() || next == '_');
    (!is_amount && !is_word).then_some((usize::from(digit - b'0'), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> Vec<String> {
        pieces(body)
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => format!("{text:?}"),
                Piece::File { path } => format!("@{path}"),
                Piece::Command { command } => format!("!{command}"),
            })
            .collect()
    }

    #[test]
    fn marks_count_at_the_start_of_a_line_or_after_white_space() {
        assert_eq!(
            shown("!`git status`\nsee: !`date` x"),
            ["!git status", "\"\\nsee: \"", "!date", "\" x\""]
        );
        for prose in ["a!`b`", "(!`b`)", "`!`b``", "!b`", "!``", "! `b`", "wow!` `"] {
            assert_eq!(shown(prose), [format!("{prose:?}")], "{prose}");
        }
        assert!(!has_commands("```\n!`rm -rf /`\n```\n"));
        assert!(!has_commands("!`a\nb`"));
        assert!(has_commands("```\nx\n```\n!`ls`\n"));
        assert!(has_commands("~~~\n```\n~~~\n !`ls`"));
    }

    #[test]
    fn paths_end_where_the_other_clients_end_them() {
        for (body, path) in [
            ("@a.md", "a.md"),
            ("@a.", "a"),
            ("@./a/b.c.d, x", "./a/b.c.d"),
            ("@x..y", "x"),
            ("@.../x", "."),
            ("@.env", ".env"),
            ("@a)b\"c", "a)b\"c"),
            ("é@x", "x"),
            ("(@/etc/passwd", "/etc/passwd"),
        ] {
            let found = pieces(body).into_iter().find_map(|piece| match piece {
                Piece::File { path } => Some(path.to_owned()),
                _ => None,
            });
            assert_eq!(found.as_deref(), Some(path), "{body}");
        }
        for none in ["me@x.org", "`@x`", "_@x", "@ x", "@`x`", "@,x"] {
            assert_eq!(shown(none).len(), 1, "{none}");
        }
        assert_eq!(shown("@../../x"), ["@../", "\"../x\""]);
    }

    #[test]
    fn arguments_are_put_in_as_they_are() {
        let fill = |body: &str, raw: &str| Places::of(body).fill(body, &Arguments::read(raw)).into_owned();
        assert_eq!(fill("Fix $ARGUMENTS now", "a $& $1 $ARGUMENTS"), "Fix a $& $1 $ARGUMENTS now");
        assert_eq!(fill("$1 then $2", "one 'two words' three"), "one then two words three");
        assert_eq!(fill("$2 $1", ""), " ");
        assert_eq!(fill("It costs $5 or $1,50", "x"), "It costs $5 or $1,50");
        assert_eq!(fill("{{args}}!", "x"), "x!");
        assert!(!Places::of("pay $5").any());
        assert_eq!(Arguments::read(r#"a "b c"d 'e' f"#).words, ["a", "b c", "d", "e", "f"]);
    }
}
