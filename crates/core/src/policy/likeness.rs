//! Whether a command that could run is one that a pattern means.
//!
//! The answer has three values. `Is`: every word is known, and fits. `CanNot`: whatever the unknown parts are, it
//! does not fit. `Could`: some value of the unknown parts fits, or a part is read in one of several ways.

use super::glob::{ANY, MANY, can_be, glob, is_known, is_unknown};
use super::path::{Files, Place, absolute, name_of, normal};
use super::shell::{Command, Origin};
use std::cell::OnceCell;

/// What copies or links a file, which then runs under another name.
pub(super) const COPIES: [&str; 8] = ["cp", "mv", "ln", "link", "install", "rsync", "dd", "scp"];

/// The program of a command, if its name alone tells most patterns from it: a known word that is no path, runs no task
/// and copies no file. An empty one is a command without a word.
pub(super) fn plain_program(command: &Command) -> Option<&str> {
    let word = command.words.first().map_or("", String::as_str);
    let copies = COPIES.iter().any(|copy| word.eq_ignore_ascii_case(copy));
    let plain = word.is_ascii() && !word.contains('/') && !copies && command.origin != Origin::Task;
    plain.then_some(word)
}

/// Returns whether a pattern cannot mean any of some [`plain_program`]s, told by the name of its own program.
pub(super) fn names_another(text: &str, programs: &[&str]) -> bool {
    let is =
        |name: &str| programs.iter().any(|program| names(program).any(|own| own.eq_ignore_ascii_case(name)));
    name_that_tells(text).is_some_and(|name| !is(name))
}

/// Returns the name of a pattern's program, if no [`plain_program`] of another name is what the pattern means.
pub(super) fn name_that_tells(text: &str) -> Option<&str> {
    let first = text.split_whitespace().next().unwrap_or("*");
    let name = name_of(first);
    (first.is_ascii() && !first.contains('*') && !name.is_empty()).then_some(name)
}

/// Returns the names by which patterns know a program.
pub(super) fn names(program: &str) -> impl Iterator<Item = &str> {
    let short = program.len().checked_sub(4).and_then(|end| program.split_at_checked(end));
    let short = short.filter(|(_, end)| end.eq_ignore_ascii_case(".exe")).map(|(short, _)| short);
    [Some(program), short].into_iter().flatten()
}

/// How sure it is that something is what a pattern means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// It is not.
    CanNot,
    /// It could be.
    Could,
    /// It is.
    Is,
}

impl Likeness {
    fn of(certain: bool) -> Self {
        if certain { Self::Is } else { Self::Could }
    }
}

/// A pattern for commands: `git push *`, `./deploy.sh *`.
#[derive(Debug)]
pub(super) struct CommandPattern {
    /// The whole of it, with its wildcards.
    whole: String,
    /// The words before the first wildcard.
    leading: Vec<String>,
    /// What follows them: nothing, anything, or a text with wildcards.
    rest: Rest,
    /// The file that the first word means, if it is a path.
    path: Option<FilePath>,
    /// Whether a line puts folders elsewhere, so that the file may have another path by then.
    copies: bool,
}

#[derive(Debug)]
struct FilePath {
    /// As it is written, from the root.
    raw: String,
    normal: String,
    /// Where it really leads; asked of the disk only when something could lead to the same file.
    real: OnceCell<Option<String>>,
    name: String,
}

#[derive(Debug, PartialEq)]
enum Rest {
    Nothing,
    Anything,
    Like(String),
}

impl CommandPattern {
    /// Reads the pattern between the parentheses, whose paths start from a root.
    pub(super) fn new(text: &str, root: &str, place: &Place) -> Self {
        let folded = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        // `git push *` means `git push` too, and so does the `git push:*` of Claude Code.
        let (body, open) = match folded.strip_suffix(" *").or_else(|| folded.strip_suffix(":*")) {
            Some(body) => (body, true),
            None => (folded.as_str(), false),
        };
        let words: Vec<&str> = body.split(' ').collect();
        let known = words.iter().take_while(|word| !word.contains('*')).count();
        let rest = match (words.len() - known, open) {
            (0, false) => Rest::Nothing,
            (0, true) => Rest::Anything,
            (_, open) => {
                let rest = glob(&words[known..].join(" "));
                Rest::Like(if open { format!("{rest}{ANY}") } else { rest })
            }
        };
        let leading: Vec<String> = words[..known].iter().map(|word| (*word).to_owned()).collect();
        // The case of the file system counts when links are followed, so the path is taken as it was written.
        let written = text.split_whitespace().next().unwrap_or_default();
        let path = leading.first().filter(|first| first.contains('/') || first.starts_with('~')).map(|_| {
            let raw = absolute(written, root, place.home.as_deref());
            FilePath {
                normal: normal(&raw, &place.cwd),
                raw,
                real: OnceCell::new(),
                name: name_of(written).to_lowercase(),
            }
        });
        Self { whole: glob(&folded), leading, rest, path, copies: false }
    }

    /// Says whether the line puts folders elsewhere.
    pub(super) fn in_line_that_copies(self, copies: bool) -> Self {
        Self { copies, ..self }
    }

    /// Returns whether a command is one that the pattern means.
    pub(super) fn likeness(&self, command: &Command, place: &Place, files: &dyn Files) -> Likeness {
        let Some(first) = command.words.first() else { return Likeness::CanNot };
        if command.origin == Origin::Mentioned && (is_unknown(first) || first.is_empty()) {
            // Every argument of every program would be a command otherwise.
            return Likeness::CanNot;
        }
        if command.origin == Origin::Mentioned && self.is_another(first) {
            return Likeness::CanNot;
        }
        let words: Vec<String> = command.words.iter().map(|word| word.to_lowercase()).collect();
        if command.origin == Origin::Task && self.names_task(&words[1..]) {
            return Likeness::Could;
        }
        let found = match self.leading.first() {
            None => self.wild(&words),
            Some(program) => match self.program(program, command, &words[0], place, files) {
                // `X='git push'; $X`: one word is several.
                Likeness::CanNot
                    if command.origin != Origin::Mentioned
                        && words[0].contains(MANY)
                        && can_be(&self.whole_open(), &joined(&words)) =>
                {
                    Likeness::Could
                }
                Likeness::CanNot => self.copied(command, &words, place, files),
                likeness => likeness.min(self.arguments(&words)),
            },
        };
        if command.origin == Origin::Mentioned { found.min(Likeness::Could) } else { found }
    }

    /// Returns whether a name alone tells that a program is not the pattern's. There can be thousands in a text, and no more is
    /// decided here than below.
    fn is_another(&self, word: &str) -> bool {
        let Some(program) = self.leading.first() else { return false };
        let program = self.path.as_ref().map_or(program, |path| &path.name);
        let plain = is_known(word) && word.is_ascii() && program.is_ascii() && !word.contains('/');
        plain
            && !COPIES.iter().any(|copy| word.eq_ignore_ascii_case(copy))
            && !names(word).any(|name| name.eq_ignore_ascii_case(program))
    }

    fn whole_open(&self) -> String {
        match self.rest {
            Rest::Anything => format!("{}{ANY}", self.leading.join(" ")),
            _ => self.whole.clone(),
        }
    }

    /// Compares a pattern that begins with a wildcard with all that is visible of a command.
    fn wild(&self, words: &[String]) -> Likeness {
        if !is_known(&words[0]) && can_be(&self.whole, &joined(words)) {
            return Likeness::Could;
        }
        let visible = joined(words).replace([ANY, MANY], "");
        if can_be(&self.whole, &visible) {
            Likeness::of(words.iter().all(|word| is_known(word)))
        } else {
            Likeness::CanNot
        }
    }

    /// Compares the program.
    fn program(
        &self,
        program: &str,
        command: &Command,
        word: &str,
        place: &Place,
        files: &dyn Files,
    ) -> Likeness {
        let Some(path) = &self.path else {
            if is_known(word) {
                let name = name_of(word);
                let name = name.strip_suffix(".exe").unwrap_or(name);
                if name == program {
                    return Likeness::Is;
                }
                let linked = word.contains('/')
                    && Self::reals(command, place, files).iter().any(|real| name_of(real) == program);
                return if linked { Likeness::Is } else { Likeness::CanNot };
            }
            let anywhere = can_be(word, program) || can_be(word, &format!("{ANY}/{program}"));
            return if anywhere { Likeness::Could } else { Likeness::CanNot };
        };
        if !is_known(word) {
            let anywhere = can_be(word, &path.name) || can_be(word, &format!("{ANY}/{}", path.name));
            return if anywhere { Likeness::Could } else { Likeness::CanNot };
        }
        // A name alone is looked for in folders that we do not know.
        if !word.contains('/') {
            return if word == path.name { Likeness::Could } else { Likeness::CanNot };
        }
        match path.is(&command.words[0], command, place, files) {
            Likeness::CanNot if self.copies && name_of(word) == path.name => Likeness::Could,
            likeness => likeness,
        }
    }

    /// Returns where the program of a command really is, in each folder where it could run.
    fn reals(command: &Command, place: &Place, files: &dyn Files) -> Vec<String> {
        let raws = command
            .folders
            .iter()
            .flatten()
            .map(|folder| absolute(&command.words[0], folder, place.home.as_deref()));
        raws.filter_map(|raw| files.real(&raw)).map(|real| normal(&real, &place.cwd)).collect()
    }

    /// Compares the arguments, stepping over options and what may belong to them.
    fn arguments(&self, words: &[String]) -> Likeness {
        let mut certain = words.iter().all(|word| is_known(word));
        let mut places = vec![1];
        for lead in &self.leading[1..] {
            let mut next = Vec::new();
            for from in places {
                let mut at = from;
                while let Some(word) = words.get(at) {
                    if can_be(word, lead) {
                        next.push(at + 1);
                        certain &= at == from;
                    }
                    if word.contains(MANY) {
                        // It may stand for this word and those before or after it.
                        next.push(at + 1);
                        next.push(at);
                    }
                    let of_option = at > 1 && words[at - 1].starts_with('-') && !words[at - 1].contains('=');
                    if !(word.starts_with('-') || of_option || word.contains(MANY) || is_unknown(word)) {
                        break;
                    }
                    at += 1;
                }
            }
            next.sort_unstable();
            next.dedup();
            match next.len() {
                0 => return Likeness::CanNot,
                1..=64 => places = next,
                _ => return Likeness::Could,
            }
        }
        let fits = |at: &usize| {
            let rest = &words[(*at).min(words.len())..];
            match &self.rest {
                Rest::Anything => true,
                Rest::Nothing => rest.iter().all(|word| word.contains(MANY) || word.is_empty()),
                Rest::Like(pattern) => can_be(pattern, &joined(rest)),
            }
        };
        if places.iter().any(fits) { Likeness::of(certain) } else { Likeness::CanNot }
    }

    /// Looks for the file among what a command copies or links, to be run under another name.
    fn copied(&self, command: &Command, words: &[String], place: &Place, files: &dyn Files) -> Likeness {
        let Some(path) = &self.path else { return Likeness::CanNot };
        if !is_known(&words[0]) || !COPIES.contains(&name_of(&words[0])) {
            return Likeness::CanNot;
        }
        let named = command.words[1..].iter().any(|word| {
            let word = word.strip_prefix("if=").unwrap_or(word);
            if is_known(word) {
                path.is(word, command, place, files) != Likeness::CanNot
            } else {
                !is_unknown(word) && can_be(&word.to_lowercase(), &format!("{ANY}/{}", path.name))
            }
        });
        let with_folder = || Self::sources(command).any(|word| path.is_below(word, command, place, files));
        if named || with_folder() { Likeness::Could } else { Likeness::CanNot }
    }

    /// Returns the words of a command that may name folders which it copies, moves or links with all that is in them.
    fn sources(command: &Command) -> impl Iterator<Item = &String> {
        let short = |word: &str, letters: &str| {
            word.starts_with('-')
                && !word.starts_with("--")
                && word.contains(|letter| letters.contains(letter))
        };
        let words = &command.words[1..];
        let whole = |word: &String| {
            short(word, "rRa")
                || ["--recursive", "--archive"]
                    .iter()
                    .any(|option| word.len() > 4 && option.starts_with(&**word))
        };
        let trees = !matches!(name_of(&command.words[0]), "cp" | "scp" | "rsync") || words.iter().any(whole);
        let plain: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
        // The last one is where they go, unless an option says where.
        let apart = words.iter().any(|word| short(word, "t") || word.starts_with("--t"));
        let end = if apart || plain.len() == 1 { plain.len() } else { plain.len().saturating_sub(1) };
        plain.into_iter().take(if trees { end } else { 0 })
    }

    /// Returns whether a task is named after what the pattern means: `make deploy` for `./deploy.sh`.
    fn names_task(&self, words: &[String]) -> bool {
        let key = match (&self.path, self.leading.get(1), self.leading.first()) {
            (Some(path), ..) => path.name.split('.').next().unwrap_or_default(),
            (None, Some(second), _) => second,
            (None, None, Some(program)) => program,
            (None, None, None) => return false,
        };
        let parts = |text: &str| -> Vec<String> {
            text.split(|part: char| !part.is_alphanumeric())
                .filter(|part| !part.is_empty())
                .map(Into::into)
                .collect()
        };
        let wanted = parts(key);
        let fits = |word: &String| {
            let parts = parts(word);
            wanted.iter().all(|wanted| parts.contains(wanted))
        };
        !wanted.is_empty() && words.iter().any(|word| !word.starts_with('-') && fits(word))
    }
}

impl FilePath {
    fn real(&self, place: &Place, files: &dyn Files) -> Option<&String> {
        let real = || files.real(&self.raw).map(|real| normal(&real, &place.cwd));
        self.real.get_or_init(real).as_ref()
    }

    /// Returns whether the file is in a folder that a word names.
    fn is_below(&self, word: &str, command: &Command, place: &Place, files: &dyn Files) -> bool {
        let inside = |folder: &str| self.normal != folder && super::path::inside(&self.normal, folder);
        is_known(word)
            && command.folders.iter().flatten().any(|folder| {
                let raw = absolute(word, folder, place.home.as_deref());
                let real = || files.real(&raw).map(|real| normal(&real, folder));
                inside(&normal(&raw, folder)) || real().is_some_and(|real| inside(&real))
            })
    }

    /// Compares a known word with the file.
    fn is(&self, word: &str, command: &Command, place: &Place, files: &dyn Files) -> Likeness {
        let home = place.home.as_deref();
        let mut found = Likeness::CanNot;
        for folder in &command.folders {
            let relative = !word.starts_with(['/', '~']);
            let Some(folder) = folder.as_deref().or_else(|| (!relative).then_some("/")) else {
                if name_of(word).eq_ignore_ascii_case(&self.name) {
                    found = found.max(Likeness::Could);
                }
                continue;
            };
            let raw = absolute(word, folder, home);
            let real = files.real(&raw).map(|real| normal(&real, folder));
            let leads_here = |real: &String| *real == self.normal || Some(real) == self.real(place, files);
            let same = normal(&raw, folder) == self.normal || real.as_ref().is_some_and(leads_here);
            if same {
                let certain = command.folders.len() == 1;
                found = found.max(Likeness::of(certain));
            }
        }
        found
    }
}

/// Joins words as they stand in a line; one that may be dropped takes the blanks around it along.
pub(super) fn joined(words: &[String]) -> String {
    let mut text = String::new();
    let mut tight = true;
    for word in words {
        let drops = is_unknown(word) && word.contains(MANY);
        if !tight && !drops {
            text.push(' ');
        }
        text.push_str(word);
        tight = drops;
    }
    text
}
