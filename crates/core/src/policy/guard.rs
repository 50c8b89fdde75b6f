//! Files that are not the agent's to change: definitions, scripts, abide's state, the settings of the gate.

use super::glob::{ANY, can_be, is_known, is_unknown};
use super::path::{absolute, in_normal_form, inside, name_of, normal};
use super::shell::{Command, Folders, Line, Origin, Program, program, takes_trees};
use super::situation::{Guarded, Situation};
use super::subject::Subject;
use std::borrow::Cow;

/// What a call would change, or could.
pub(super) struct Touch<'a> {
    pub(super) guarded: &'a Guarded,
    /// Whether that is not certain.
    pub(super) doubtful: bool,
}

/// Returns the guarded file that a call would change, or could.
pub(super) fn touched<'a>(subject: &Subject<'a>) -> Option<Touch<'a>> {
    if !subject.kind.can_write() {
        return None;
    }
    let situation: &'a Situation = subject.situation;
    let run = situation.may_be_active();
    let reserved = !situation.reserved.is_empty();
    // There can be thousands of them: what can be found out once, about them or about a word, is not asked for each.
    let guards: Vec<(&'a Guarded, Cow<'a, str>)> = situation
        .guarded
        .iter()
        .filter(|guarded| run || guarded.role.always(reserved))
        .map(|guarded| (guarded, in_normal_form(&guarded.path)))
        .collect();
    let first = guards.first().map(|(guarded, _)| *guarded)?;
    let named = subject.call.arguments.paths.iter().find_map(|path| {
        let spellings = subject.spellings(path);
        spellings.iter().find_map(|path| guards.iter().find(|(_, guard)| inside(path, guard)))
    });
    if let Some((guarded, _)) = named {
        return Some(Touch { guarded, doubtful: false });
    }
    // A call that writes and cannot be understood could write anywhere.
    if run && subject.call.arguments.unreadable {
        return Some(Touch { guarded: first, doubtful: true });
    }
    let line = subject.line()?;
    let mut doubt = None;
    for (word, reach) in written(line) {
        let Some(spelled) = reach.spelled(word, subject) else { continue };
        for (guarded, guard) in &guards {
            match spelled.touches(guard) {
                Touches::Yes => return Some(Touch { guarded, doubtful: false }),
                Touches::Perhaps if run || !is_unknown(word) => doubt = doubt.or(Some(*guarded)),
                Touches::Perhaps | Touches::No => {}
            }
        }
    }
    if doubt.is_none() && run && line.blind.is_some() {
        doubt = Some(first);
    }
    doubt.map(|guarded| Touch { guarded, doubtful: true })
}

/// What a call could change: this path, and all that is below it if `trees`.
pub(super) struct Reached {
    pub(super) path: String,
    pub(super) trees: bool,
}

/// Returns all that a call could change, as [`touched`] compares it; nothing if that could be anything.
pub(super) fn reached(subject: &Subject<'_>) -> Option<Vec<Reached>> {
    let mut found = Vec::new();
    if !subject.kind.can_write() {
        return Some(found);
    }
    let arguments = &subject.call.arguments;
    if arguments.unreadable {
        return None;
    }
    for path in &arguments.paths {
        found.extend(subject.spellings(path).into_iter().map(|path| Reached { path, trees: false }));
    }
    let Some(line) = subject.line() else { return Some(found) };
    if line.blind.is_some() {
        return None;
    }
    for (word, reach) in written(line) {
        let Some(spelled) = reach.spelled(word, subject) else { continue };
        for place in spelled.places {
            let Spelling::Known(spellings) = place else { return None };
            found.extend(spellings.into_iter().map(|path| Reached { path, trees: reach.trees }));
        }
    }
    Some(found)
}

/// How a command reaches what a word names.
pub(super) struct Reach<'l> {
    folders: &'l Folders,
    /// Whether it changes all that is below.
    trees: bool,
    /// Whether a word of which nothing is known counts.
    unknown: bool,
}

/// Returns every word of a line that may name a file that is written.
pub(super) fn written(line: &Line) -> impl Iterator<Item = (&str, Reach<'_>)> {
    let redirected = line.writes.iter().map(|(word, folders)| {
        let reach = Reach { folders, trees: false, unknown: true };
        (word.as_str(), reach)
    });
    let commands =
        line.commands.iter().filter(|command| matches!(command.origin, Origin::Runs | Origin::Task));
    redirected.chain(commands.flat_map(arguments))
}

/// Returns the arguments of a command that it may write.
fn arguments(command: &Command) -> Vec<(&str, Reach<'_>)> {
    let first = &command.words[0];
    let name = if is_known(first) { name_of(first).to_ascii_lowercase() } else { String::new() };
    let words = &command.words[1..];
    let has =
        |options: &[&str]| words.iter().any(|word| options.iter().any(|option| word.starts_with(option)));
    let reach = |trees, unknown| Reach { folders: &command.folders, trees, unknown };
    let known = program(&name);
    let (trees, unknown) = match known {
        // What these run was taken out of them and is looked at by itself.
        Program::Wrapper(_)
        | Program::Shell
        | Program::Eval
        | Program::Source
        | Program::Folder
        | Program::Declare
        | Program::Receive
        | Program::Alias
        | Program::Trap
        | Program::Awk => return Vec::new(),
        Program::Sed if !in_place(words) => return Vec::new(),
        Program::Find if !has(&["-delete", "-fprint", "-fls"]) => return Vec::new(),
        Program::Git => return git(command),
        _ if super::shell::only_reads(&name) || name == "abide" => return Vec::new(),
        // Only the last one is written.
        _ if matches!(name.as_str(), "cp" | "install" | "rsync" | "scp" | "link") => {
            let target = words.iter().rev().find(|word| !word.starts_with('-'));
            let named = words.iter().filter_map(|word| word.strip_prefix("--target-directory="));
            let after = words.iter().zip(words.iter().skip(1)).filter(|(option, _)| *option == "-t");
            return target
                .map(String::as_str)
                .into_iter()
                .chain(named)
                .chain(after.map(|(_, word)| word.as_str()))
                .map(|word| (word, reach(false, true)))
                .collect();
        }
        _ => {
            let destroys = takes_trees(&name);
            (
                destroys,
                destroys || matches!(name.as_str(), "tee" | "dd" | "truncate" | "sed" | "patch" | "touch"),
            )
        }
    };
    let mut found = Vec::new();
    for word in words {
        found.push((word.as_str(), reach(trees, unknown)));
        // `--output=FILE`, `of=FILE`, `-oFILE`
        if let Some((_, value)) = word.split_once('=') {
            found.push((value, reach(trees, unknown)));
        } else if word.starts_with('-')
            && !word.starts_with("--")
            && word.len() > 2
            && word.is_char_boundary(2)
        {
            found.push((&word[2..], reach(trees, false)));
        }
    }
    if known == Program::Find && !words.iter().any(|word| !word.starts_with('-')) {
        found.push((".", reach(true, true)));
    }
    found
}

/// Returns whether `sed` is told to write the files that it reads.
pub(super) fn in_place(words: &[String]) -> bool {
    let short = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('i');
    words
        .iter()
        .any(|word| short(word) || word.starts_with("--in-place") || !is_known(word) && word.starts_with('-'))
}

/// Returns what a subcommand of git replaces or removes.
fn git(command: &Command) -> Vec<(&str, Reach<'_>)> {
    let words = &command.words[1..];
    let destroys = ["checkout", "restore", "rm", "mv", "clean", "apply", "sparse-checkout"];
    let Some(at) = words.iter().position(|word| destroys.contains(&word.as_str())) else { return Vec::new() };
    let reach = || Reach { folders: &command.folders, trees: true, unknown: false };
    let mut found: Vec<_> = words[at + 1..].iter().map(|word| (word.as_str(), reach())).collect();
    if words[at] == "clean" && !names_its_paths(&words[at + 1..]) {
        found.push((".", reach()));
    }
    found
}

/// Returns whether `git clean` is told what to clean: without a path it cleans all that is below.
fn names_its_paths(words: &[String]) -> bool {
    // What follows `-e` is a pattern that only looks like a path, and a word that is not known may come to nothing.
    let option = |word: &String| word.starts_with('-');
    let excludes = |word: &String| {
        word.starts_with("--e") || !word.starts_with("--") && option(word) && word.contains('e')
    };
    words.iter().all(|word| is_known(word) && !word.is_empty() && !excludes(word))
        && words.iter().any(|word| !option(word))
}

enum Touches {
    No,
    Perhaps,
    Yes,
}

/// A word with everything that it can name.
struct Spelled<'r> {
    reach: &'r Reach<'r>,
    word: &'r str,
    places: Vec<Spelling>,
}

/// What a word names in one of the folders where it may be read.
enum Spelling {
    /// Anything, since nothing of the word is known.
    Anything,
    /// Something below a folder that is not known.
    Somewhere,
    /// A path of which a part is not known.
    Partly(String),
    /// A path, normal and where it really leads.
    Known(Vec<String>),
}

impl<'r> Reach<'r> {
    /// Finds out what a word can name; nothing if it names no file.
    fn spelled(&'r self, word: &'r str, subject: &Subject<'_>) -> Option<Spelled<'r>> {
        if word.is_empty() || word.starts_with('-') && !word.contains('/') {
            return None;
        }
        if is_unknown(word) {
            return self.unknown.then(|| Spelled { reach: self, word, places: vec![Spelling::Anything] });
        }
        let home = subject.situation.place.home.as_deref();
        let relative = !word.starts_with(['/', '~']);
        let spelling = |folder: &Option<String>| {
            let Some(folder) = folder.as_deref().or_else(|| (!relative).then_some("/")) else {
                return Spelling::Somewhere;
            };
            if !is_known(word) {
                let text = absolute(word, folder, home).to_lowercase();
                return Spelling::Partly(text.replace("/./", "/"));
            }
            let raw = absolute(word, folder, home);
            let mut spellings = vec![normal(&raw, folder)];
            spellings.extend(subject.files.real(&raw).map(|real| normal(&real, folder)));
            Spelling::Known(spellings)
        };
        Some(Spelled { reach: self, word, places: self.folders.iter().map(spelling).collect() })
    }
}

impl Spelled<'_> {
    /// Compares what the word names with the normal path of something guarded.
    fn touches(&self, guard: &str) -> Touches {
        let trees = self.reach.trees;
        let mut perhaps = false;
        for place in &self.places {
            match place {
                Spelling::Anything => perhaps = true,
                Spelling::Somewhere => perhaps |= self.reach.somewhere(self.word, guard),
                Spelling::Partly(text) => {
                    perhaps |= can_be(text, guard)
                        || can_be(text, &format!("{guard}/{ANY}"))
                        || (trees && can_be(guard, &format!("{text}/{ANY}")))
                        || (text.contains("..") && can_be(text, &format!("{ANY}/{}{ANY}", name_of(guard))));
                }
                Spelling::Known(spellings) => {
                    if spellings.iter().any(|path| inside(path, guard) || (trees && inside(guard, path))) {
                        return Touches::Yes;
                    }
                }
            }
        }
        if perhaps { Touches::Perhaps } else { Touches::No }
    }
}

impl Reach<'_> {
    /// Compares a relative path in a folder that is not known.
    fn somewhere(&self, word: &str, guard: &str) -> bool {
        let path = normal(&format!("/{word}"), "");
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        // `.` and `..` could be any folder.
        (first.is_empty() && self.trees) || guard.split('/').any(|part| !part.is_empty() && part == first)
    }
}
