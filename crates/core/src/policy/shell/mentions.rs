//! Texts that a program may or may not run: its arguments, the values of its options and variables, its input.
//!
//! Nobody knows the options of every program. So whatever could be a command is noted as one that is *mentioned*
//! ([`Origin::Mentioned`]): alone it is harmless, and only one that is reserved is refused.

use super::heredoc::Text;
use super::programs::{self, Program};
use super::reader::{Input, Reader};
use super::{Blind, MANY, Origin};
use crate::policy::glob::{is_known, is_unknown};
use crate::policy::likeness::COPIES;
use crate::policy::path::name_of;

/// How many arguments of a program that may run them are looked at one by one.
const MOST_ARGUMENTS: usize = 1_000;
/// How many words of a command that is only mentioned are kept; the rest counts as unknown.
const MOST_MENTIONED: usize = 24;
/// In how many ways one word is taken apart.
const MOST_PARTS: usize = 24;
/// How many words are tried as one.
const MOST_JOINED: usize = 3;
/// How many words of a text could begin a command; a longer text is not read at all.
const MOST_BEGINNINGS: usize = 5_000;
/// How many words are kept of a command that begins somewhere in a text.
const MOST_FOLLOWING: usize = 6;

/// How long a word may be that is taken apart; a longer one is a text.
const LONGEST_WORD: usize = 2_000;
/// How often a part of a word is taken apart again.
const MOST_PARTED: usize = 4;
/// How deep texts that could be code may nest.
const DEEPEST: usize = 4;
/// How much text of one line is read because it could be code.
const MOST_TEXT: usize = 512 * 1024;

/// Programs that type into another terminal, with the words that tell them to.
const TYPISTS: &[(&str, &[&str])] = &[
    (
        "tmux",
        &["send-keys", "send", "send-prefix", "paste-buffer", "pasteb", "set-buffer", "setb", "load-buffer"],
    ),
    ("screen", &["stuff", "paste", "readbuf", "exec", "eval"]),
    ("zellij", &["write", "write-chars"]),
    ("wezterm", &["send-text"]),
    ("kitty", &["send-text"]),
    ("xdotool", &["type", "key"]),
    ("ydotool", &["type", "key"]),
];

impl Reader<'_> {
    /// Looks for commands among the arguments of a program that may run them, and in what it reads.
    pub(super) fn scan(&mut self, words: &[String], input: &Input) -> Result<(), Blind> {
        if words.len() > MOST_ARGUMENTS {
            return Err(Blind::TooMuch);
        }
        let name = name_of(&words[0]);
        let types = |(typist, by): &&(&str, &[&str])| {
            *typist == name && words[1..].iter().any(|word| !is_known(word) || by.contains(&word.as_str()))
        };
        if TYPISTS.iter().any(|typist| types(&typist)) {
            // What is typed runs in another place, piece by piece.
            return Err(Blind::Input(name.to_owned()));
        }
        for at in 1..words.len() {
            let word = &words[at];
            if is_unknown(word) || word.is_empty() {
                continue;
            }
            self.world.step()?;
            self.mentioned(&words[at..]);
            self.parts(word, &words[at + 1..]);
            if !is_known(word) {
                continue;
            }
            match programs::program(name_of(word)) {
                Program::Shell => self.shell(&words[at..], &Input::Text(Vec::new())),
                Program::Interpreter(language) => {
                    self.interpreter(language, &words[at..], &Input::Text(Vec::new()));
                }
                Program::Git => self.git(&words[at..])?,
                _ => self.text(word),
            }
        }
        let length: usize = words[1..].iter().map(String::len).sum();
        let few = words.len() <= MOST_MENTIONED && length <= LONGEST_WORD;
        if few && words[1..].iter().all(|word| is_known(word)) {
            self.put_together(&words[1..]);
        }
        self.scan_input(input);
        Ok(())
    }

    /// Looks at the words of a command that a tool may or may not run.
    pub(super) fn told(&mut self, words: &[String], orders: bool) -> Result<(), Blind> {
        let nothing = Input::Text(Vec::new());
        match words {
            [text] => {
                self.scan(&["tool".to_owned(), text.clone()], &nothing)?;
                if orders && text.contains(char::is_whitespace) {
                    self.world.code_apart(text, Origin::Mentioned);
                }
                Ok(())
            }
            // Each of them was looked at alone.
            [first, ..] if is_known(first) && programs::program(name_of(first)) != Program::Unknown => {
                self.run(words, &nothing)
            }
            _ => {
                (0..words.len()).for_each(|at| self.mentioned(&words[at..]));
                Ok(())
            }
        }
    }

    /// Looks at words as some programs put them together: `type './dep' 'loy.sh'`.
    fn put_together(&mut self, words: &[String]) {
        let torn = words.iter().any(|word| is_torn(word));
        for at in 0..words.len().saturating_sub(1) {
            for end in (at + 2..=words.len()).take(MOST_JOINED) {
                let joined = words[at..end].concat();
                self.text(&joined);
                self.mentioned(&[joined]);
            }
            if torn {
                self.text(&words[at..].join(" "));
            }
        }
    }

    /// Looks at what a program that may run it gets as its input.
    pub(super) fn scan_input(&mut self, input: &Input) {
        match input {
            Input::Text(texts) => texts.iter().for_each(|text| self.text(text)),
            Input::Here(at) => {
                if let Some(heredoc) = self.pending.get_mut(*at) {
                    heredoc.text = Text::Mentioned;
                }
            }
            Input::Open | Input::File(_) => {}
        }
    }

    /// Looks at the parts of a word that could be a command by themselves: the value of `--exec=COMMAND`, of `-xCOMMAND` and of
    /// `name=COMMAND`, and what stands behind the signs with which programs mark one, such as `+!COMMAND`.
    pub(super) fn parts(&mut self, word: &str, rest: &[String]) {
        // The parts of a part are mostly parts, too; but quotes may hide some.
        if word.len() > LONGEST_WORD || self.world.parts >= MOST_PARTED {
            return;
        }
        self.world.parts += 1;
        let signs = word.char_indices().filter(|(_, sign)| "=:!|@+,%".contains(*sign));
        let mut tails: Vec<&str> = signs.map(|(at, _)| &word[at + 1..]).take(MOST_PARTS).collect();
        if is_known(word) && word.starts_with('-') && !word.starts_with("--") {
            // Letters of options stand before the value of the last one.
            let letters = word[1..].chars().take_while(char::is_ascii_alphanumeric).count();
            tails.extend((2..=letters + 1).filter_map(|at| word.get(at..)).take(MOST_PARTS));
        }
        // A value of which a part is not known is looked at where it is the whole of `--exec=COMMAND`.
        let first = word.find('=').map(|at| &word[at + 1..]);
        let counts =
            |tail: &&str| !tail.is_empty() && (is_known(tail) || Some(*tail) == first && !is_unknown(tail));
        for tail in tails.into_iter().filter(counts) {
            let mut words = vec![tail.to_owned()];
            words.extend(rest.iter().take(MOST_MENTIONED).cloned());
            self.mentioned(&words);
            if is_torn(tail) {
                self.mention(tail);
            }
        }
        self.world.parts -= 1;
    }

    /// Looks at the value of an option or variable that a program may run.
    pub(super) fn value(&mut self, value: &str) {
        if !is_known(value) || value.is_empty() {
            return;
        }
        self.mentioned(&[value.to_owned()]);
        self.text(value);
        for word in value.split_whitespace() {
            self.parts(word, &[]);
        }
    }

    /// Looks for commands anywhere in a text: as shell code, and as words between whatever stands around them.
    pub(super) fn text(&mut self, text: &str) {
        if !is_known(text) || !is_torn(text) {
            return;
        }
        self.mention(text);
        if self.world.mentions > 0 {
            // Its words are words of the text that it stands in.
            return;
        }
        let is_sign = |character: char| !(character.is_alphanumeric() || "_-./~".contains(character));
        let words: Vec<&str> = text.split(is_sign).filter(|word| !word.is_empty()).collect();
        if words.len() > MOST_BEGINNINGS {
            return self.world.blind(Blind::TooMuch);
        }
        // One that begins otherwise is found where the text is read as code.
        let begins = |at: &usize| words[*at].starts_with(|first: char| first.is_ascii() && first != '-');
        for at in (0..words.len()).filter(begins) {
            let end = words.len().min(at + MOST_FOLLOWING);
            // A name says enough: nobody knows in which folder, and a text may be full of slashes.
            let first = std::iter::once(name_of(words[at]));
            let words: Vec<String> =
                first.chain(words[at + 1..end].iter().copied()).map(str::to_owned).collect();
            // What is copied is looked at where a text is read as code.
            if !words[0].is_empty() && !COPIES.contains(&words[0].as_str()) {
                self.world.emit(&words, Origin::Mentioned);
            }
        }
    }

    /// Reads a text that may or may not be run as shell code.
    pub(super) fn mention(&mut self, text: &str) {
        if is_unknown(text) {
            return;
        }
        self.world.looked += text.len();
        if self.world.looked > MOST_TEXT || self.world.is_full() || self.world.mentions >= DEEPEST {
            return self.world.blind(Blind::TooMuch);
        }
        self.world.mentions += 1;
        // What cannot be read here is most likely no code at all.
        let blind = self.world.line.blind.take();
        let (writes, made) = (self.world.line.writes.len(), self.world.made.len());
        let noted = self.world.line.commands.len();
        self.world.code_apart(text, Origin::Mentioned);
        self.world.mentions -= 1;
        self.world.line.writes.truncate(writes);
        let made = self.world.made.split_off(made);
        let runs_made = self.world.runs_one_of(&made, noted);
        // Prose begins with a word that is no program.
        let first = self.world.line.commands.get(noted).map_or("", |command| &command.words[0]);
        let known = text.contains(['|', '<', '-']) && programs::program(name_of(first)) != Program::Unknown;
        let counts = match &self.world.line.blind {
            Some(Blind::TooMuch) => true,
            // A line that begins with a program and is read as one is a line.
            Some(Blind::Inline(_) | Blind::Input(_) | Blind::Computed(_)) => known,
            _ => false,
        };
        if !(counts && blind.is_none()) {
            self.world.line.blind = blind;
        }
        if runs_made {
            // What it writes there, only the text itself could say.
            self.world.blind(Blind::Computed("it".to_owned()));
        }
    }

    /// Notes the words before the command of a wrapper as commands, in case one was taken for an option's value.
    pub(super) fn suffixes(&mut self, words: &[String], end: usize) -> Result<(), Blind> {
        for at in 1..end.min(words.len()) {
            self.world.step()?;
            self.mentioned(&words[at..]);
            self.parts(&words[at], &words[at + 1..]);
            self.text(&words[at]);
        }
        Ok(())
    }

    pub(super) fn mentioned(&mut self, words: &[String]) {
        if words.len() <= MOST_MENTIONED {
            return self.world.emit(words, Origin::Mentioned);
        }
        let mut words = words[..MOST_MENTIONED].to_vec();
        words.push(MANY.to_string());
        self.world.emit(&words, Origin::Mentioned);
    }
}

/// Returns whether a text is more than one plain word.
fn is_torn(text: &str) -> bool {
    text.contains(|character: char| !(character.is_alphanumeric() || "_-.:=@+%,/~".contains(character)))
}

/// Returns whether a shell would run something to expand a text.
pub(super) fn substitutes(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${")
}
