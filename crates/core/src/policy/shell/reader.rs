//! The walk through a text: lists, pipelines, simple commands and their redirections.

use super::heredoc::Text;
use super::words::Word;
use super::{Blind, Folders, MANY, Origin, World};

/// How many ways one command may come out before its variables count as unknown.
const MOST_WAYS: usize = 16;

/// Reads one text.
pub(super) struct Reader<'w> {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    pub(super) world: &'w mut World,
    pub(super) origin: Origin,
    /// Here-documents whose bodies begin at the next line.
    pub(super) pending: Vec<super::heredoc::Heredoc>,
    /// The descriptor before a redirection that begins here, if one is written.
    descriptor: Option<String>,
    /// Folders that are left if an earlier `cd` of a chain of `&&` fails.
    left: Folders,
}

/// Where a command gets its input from.
#[derive(Debug, Clone, Default)]
pub(super) enum Input {
    /// From wherever the line gets it, or from a pipe.
    #[default]
    Open,
    /// From a here-document, by its position among those pending.
    Here(usize),
    /// From a text.
    Text(Vec<String>),
    /// From a file.
    File(Vec<String>),
}

/// Why a list of commands ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Text,
    Parenthesis,
    Branch,
    Esac,
}

/// What came of reading one command.
enum Came {
    /// A command, or the end of a compound one.
    Command,
    /// A keyword after which a command begins.
    Keyword,
    /// `esac`
    Esac,
}

impl<'w> Reader<'w> {
    pub(super) fn new(text: &str, world: &'w mut World, origin: Origin) -> Self {
        let text = text.chars().collect();
        Self { text, at: 0, world, origin, pending: Vec::new(), descriptor: None, left: Vec::new() }
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    pub(super) fn take(&mut self) -> Option<char> {
        let taken = self.peek(0);
        // Never past the end: what was read is looked at again from its places.
        self.at += usize::from(taken.is_some());
        taken
    }

    /// Reads everything.
    pub(super) fn all(&mut self) -> Result<(), Blind> {
        // A shell joins lines before it looks at anything: `$\⏎(…)` is a substitution. After a blank it makes no difference.
        let torn =
            |three: &[char]| three[1] == '\\' && three[2] == '\n' && !matches!(three[0], ' ' | '\t' | '\n');
        if self.text.windows(3).any(torn) || self.text.starts_with(&['\\', '\n']) {
            return Err(Blind::Syntax("a line goes on in the middle of a word"));
        }
        match self.list()? {
            End::Text => {
                self.bodies()?;
                Ok(())
            }
            End::Parenthesis => Err(Blind::Syntax("a `)` too many")),
            End::Branch | End::Esac => Err(Blind::Syntax("a branch without its `case`")),
        }
    }

    /// Reads the commands of `( … )` and its closing parenthesis.
    pub(super) fn subshell(&mut self) -> Result<(), Blind> {
        if self.world.depth >= super::DEEPEST {
            return Err(Blind::TooMuch);
        }
        self.world.depth += 1;
        let folders = self.world.folders.clone();
        let left = std::mem::take(&mut self.left);
        let end = self.list()?;
        self.world.folders = folders;
        self.left = left;
        self.world.depth -= 1;
        if end == End::Parenthesis {
            self.at += 1;
            Ok(())
        } else {
            Err(Blind::Syntax("a `(` is not closed"))
        }
    }

    pub(super) fn comment(&mut self) {
        while self.peek(0).is_some_and(|character| character != '\n') {
            self.at += 1;
        }
    }

    pub(super) fn blanks(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(' ' | '\t'), _) => self.at += 1,
                (Some('\\'), Some('\n')) => self.at += 2,
                _ => return,
            }
        }
    }

    pub(super) fn newline(&mut self) -> Result<(), Blind> {
        self.at += 1;
        self.bodies()
    }

    /// Reads commands up to the end of the text, a `)`, `;;` or `esac`.
    pub(super) fn list(&mut self) -> Result<End, Blind> {
        loop {
            self.blanks();
            match (self.peek(0), self.peek(1)) {
                (None, _) => return Ok(End::Text),
                (Some('\n'), _) => self.newline()?,
                (Some('#'), _) => self.comment(),
                (Some(')'), _) => return Ok(End::Parenthesis),
                (Some(';'), Some(';' | '&')) => return Ok(End::Branch),
                (Some(';' | '&' | '|'), _) => self.operator(),
                _ => match self.command()? {
                    Came::Command => {
                        self.blanks();
                        self.operator();
                    }
                    Came::Keyword => {}
                    Came::Esac => return Ok(End::Esac),
                },
            }
        }
    }

    /// Takes what separates two commands; only after `&&` is it certain that the `cd` before it worked.
    fn operator(&mut self) {
        let (first, second) = (self.peek(0), self.peek(1));
        if (first, second) == (Some('&'), Some('&')) {
            self.at += 2;
            return;
        }
        for folder in std::mem::take(&mut self.left) {
            if !self.world.folders.contains(&folder) {
                self.world.folders.push(folder);
            }
        }
        match (first, second) {
            (Some(';'), Some(';' | '&')) => {}
            (Some('|'), Some('|' | '&')) => self.at += 2,
            (Some(';' | '&' | '|'), _) => self.at += 1,
            _ => {}
        }
    }

    /// Changes the folder, remembering where the line is if that fails.
    pub(super) fn go_to(&mut self, folders: Folders) {
        let before = std::mem::replace(&mut self.world.folders, folders);
        self.left.extend(before);
        // A line that goes to many places could be anywhere.
        if self.left.len() > 16 || self.world.folders.len() > 16 {
            self.left = vec![None];
            self.world.folders = vec![None];
        }
        self.world.changes_folder = true;
    }

    fn command(&mut self) -> Result<Came, Blind> {
        self.world.step()?;
        if self.peek(0) == Some('(') {
            self.at += 1;
            if self.peek(0) == Some('(') && self.is_arithmetic() {
                self.arithmetic()?;
            } else {
                self.subshell()?;
            }
            return self.after_compound();
        }
        let mut words: Vec<Word> = Vec::new();
        let mut assignments: Vec<Word> = Vec::new();
        let mut input = Input::Open;
        let written = self.world.line.writes.len();
        loop {
            self.blanks();
            match self.peek(0) {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('&') if self.peek(1) != Some('>') => break,
                Some('#') => self.comment(),
                Some('(') => {
                    return self.function(&words, &assignments);
                }
                Some('<' | '>') if self.peek(1) == Some('(') => words.push(self.word()?),
                Some('<' | '>' | '&') => self.redirection(&mut input)?,
                Some(_) => {
                    let word = self.word()?;
                    if self.is_descriptor(&word) {
                        continue;
                    }
                    if words.is_empty() && assignments.is_empty() {
                        match self.keyword(&word)? {
                            super::compound::Keyword::None => {}
                            super::compound::Keyword::Begins => return Ok(Came::Keyword),
                            super::compound::Keyword::Ends => return self.after_compound(),
                            super::compound::Keyword::Esac => return Ok(Came::Esac),
                        }
                    }
                    if words.is_empty() && word.assigns.is_some() {
                        assignments.push(word);
                    } else {
                        words.push(word);
                    }
                }
            }
        }
        self.finish(&words, &assignments, &input, written)?;
        Ok(Came::Command)
    }

    /// Takes the redirections after a compound command; nothing else may stand there.
    fn after_compound(&mut self) -> Result<Came, Blind> {
        let mut input = Input::Open;
        loop {
            self.blanks();
            match self.peek(0) {
                None | Some('\n' | ';' | '|' | ')') => return Ok(Came::Command),
                Some('&') if self.peek(1) != Some('>') => return Ok(Came::Command),
                Some('#') => self.comment(),
                Some('<' | '>' | '&') => {
                    let written = self.world.line.writes.len();
                    self.redirection(&mut input)?;
                    // Whatever runs inside fills it.
                    self.made(written, &["{".to_owned()], &input);
                }
                Some(_) => {
                    let word = self.word()?;
                    if self.is_descriptor(&word) {
                        continue;
                    }
                    return match self.keyword(&word)? {
                        super::compound::Keyword::None => {
                            Err(Blind::Syntax("a word follows the end of a compound command"))
                        }
                        super::compound::Keyword::Begins => Ok(Came::Keyword),
                        super::compound::Keyword::Ends => continue,
                        super::compound::Keyword::Esac => Ok(Came::Esac),
                    };
                }
            }
        }
    }

    /// Returns whether a word is the number, or `{name}`, before a redirection.
    fn is_descriptor(&mut self, word: &Word) -> bool {
        let text = &word.values[0];
        let fits = text.chars().all(|character| character.is_ascii_digit())
            || (text.starts_with('{') && text.ends_with('}'));
        let is = word.plain && fits && !text.is_empty() && matches!(self.peek(0), Some('<' | '>'));
        self.descriptor = is.then(|| text.clone());
        is
    }

    /// Takes `name()`; its body is read where it stands.
    fn function(&mut self, words: &[Word], assignments: &[Word]) -> Result<Came, Blind> {
        self.at += 1;
        self.blanks();
        if words.len() != 1 || !assignments.is_empty() || self.peek(0) != Some(')') {
            return Err(Blind::Syntax("a `(` in the middle of a command"));
        }
        self.at += 1;
        self.world.repeats = true;
        Ok(Came::Keyword)
    }

    /// Takes `<`, `>` and their kin with their targets.
    fn redirection(&mut self, input: &mut Input) -> Result<(), Blind> {
        let ahead: String = self.text[self.at..].iter().take(3).collect();
        let operator = ["<<<", "<<-", "&>>", "<<", "<&", "<>", ">>", ">&", ">|", "&>", "<", ">"]
            .into_iter()
            .find(|operator| ahead.starts_with(operator))
            .ok_or(Blind::Syntax("a redirection"))?;
        self.at += operator.len();
        self.blanks();
        // What comes by another descriptor is read by nobody knows whom.
        let descriptor = self.descriptor.take();
        let standard = descriptor.is_none_or(|number| number.chars().all(|digit| digit == '0'));
        if matches!(operator, "<<" | "<<-") {
            let at = self.pending.len();
            self.heredoc(operator == "<<-")?;
            if standard {
                *input = Input::Here(at);
            } else if let Some(heredoc) = self.pending.get_mut(at) {
                heredoc.text = Text::Mentioned;
            }
            return Ok(());
        }
        if matches!(self.peek(0), None | Some('\n' | ';' | '|' | '&' | ')')) {
            return Err(Blind::Syntax("a redirection without a target"));
        }
        let target = self.word()?;
        let number = |text: &String| text.chars().all(|digit| digit.is_ascii_digit() || digit == '-');
        match operator {
            "<<<" if standard => *input = Input::Text(target.values),
            "<<<" => target.values.iter().for_each(|value| self.value(value)),
            "<" if standard => *input = Input::File(target.values),
            "<&" if standard => *input = Input::Open,
            "<" | "<&" => {}
            ">&" if target.values.iter().all(number) => {}
            _ => {
                if operator == "<>" && standard {
                    *input = Input::File(target.values.clone());
                }
                for value in target.values {
                    let folders = self.world.folders.clone();
                    self.world.line.writes.push((value, folders));
                }
            }
        }
        Ok(())
    }

    /// Decides what a whole simple command does.
    fn finish(
        &mut self,
        words: &[Word],
        assignments: &[Word],
        input: &Input,
        written: usize,
    ) -> Result<(), Blind> {
        for word in assignments {
            let Some(name) = &word.assigns else { continue };
            // `IFS= read -r line`: only that command splits otherwise.
            let passing = matches!(name.as_str(), "IFS" | "CDPATH")
                && words.first().is_some_and(|word| word.is("read") || word.is("cd"));
            if passing && (name == "IFS" || word.values == [""]) {
                continue;
            }
            for value in &word.values {
                // Alone it may be one that is exported elsewhere: `CC=x; export CC`.
                let first = value.split_whitespace().next().unwrap_or_default();
                if words.is_empty()
                    && !self.world.exports.known
                    && !first.contains('/')
                    && !first.starts_with('-')
                {
                    self.assigned(name, value);
                } else {
                    self.exported(name, value);
                }
            }
        }
        let ways = ways(words);
        if self.world.line.writes.len() > written && ways.is_empty() {
            self.made(written, &[], input);
        }
        for words in ways {
            self.made(written, &words, input);
            self.run(&words, input)?;
        }
        Ok(())
    }
}

/// Returns every way in which the words of a command can come out, split as a shell splits them.
fn ways(words: &[Word]) -> Vec<Vec<String>> {
    let many: usize = words.iter().fold(1, |many, word| many.saturating_mul(word.values.len()));
    let mut ways: Vec<Vec<String>> = vec![Vec::new()];
    for word in words {
        let unknown = [MANY.to_string()];
        let values = if many > MOST_WAYS && word.values.len() > 1 { &unknown[..] } else { &word.values };
        // One value is the rule, and a line may have thousands of words.
        let mut next = Vec::new();
        for value in &values[1..] {
            let mut copies = ways.clone();
            for way in &mut copies {
                extend(way, word, value);
            }
            next.append(&mut copies);
        }
        for way in &mut ways {
            extend(way, word, &values[0]);
        }
        ways.append(&mut next);
    }
    ways.retain(|way| !way.is_empty());
    ways
}

fn extend(way: &mut Vec<String>, word: &Word, value: &str) {
    // An assignment among arguments is an argument.
    let value = match &word.assigns {
        Some(name) => format!("{name}={value}"),
        None => value.to_owned(),
    };
    if word.splits {
        way.extend(value.split([' ', '\t', '\n']).filter(|part| !part.is_empty()).map(str::to_owned));
    } else {
        way.push(value);
    }
}
