//! Files that are not the agent's to change: definitions, scripts, abide's state, the settings of the gate.

use super::glob::{ANY, can_be, glob, is_known, is_unknown};
use super::kind::ToolKind;
use super::path::{absolute, in_normal_form, inside, name_of, normal};
use super::shell::Folders;
use super::situation::{Guarded, Situation};
use super::subject::Subject;
use super::written::{Trees, written};
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
    let whole = takes_whole(subject);
    let named = named(subject).find_map(|path| {
        let spellings = subject.spellings(path);
        let hit = |path: &String, guard: &str| {
            inside(path, guard)
                || subject.kind == ToolKind::Other && inside(guard, path) && (whole || is_held(path))
        };
        spellings.iter().find_map(|path| guards.iter().find(|(_, guard)| hit(path, guard)))
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
        let Some(spelled) = reach.spelled(&word, subject) else { continue };
        for (guarded, guard) in &guards {
            match spelled.touches(guard) {
                Touches::Yes => return Some(Touch { guarded, doubtful: false }),
                Touches::Perhaps => doubt = doubt.or(Some(*guarded)),
                Touches::Anything if run => doubt = doubt.or(Some(*guarded)),
                Touches::Anything | Touches::No => {}
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
    let trees = subject.kind == ToolKind::Other;
    for path in named(subject) {
        found.extend(subject.spellings(path).into_iter().map(|path| Reached { path, trees }));
    }
    let Some(line) = subject.line() else { return Some(found) };
    if line.blind.is_some() {
        return None;
    }
    for (word, reach) in written(line) {
        let Some(spelled) = reach.spelled(&word, subject) else { continue };
        let trees = reach.trees != Trees::No;
        for place in spelled.places {
            let Spelling::Known(spellings) = place else { return None };
            found.extend(spellings.into_iter().map(|path| Reached { path, trees }));
        }
    }
    Some(found)
}

/// How a command reaches what a word names.
pub(super) struct Reach<'l> {
    pub(super) folders: &'l Folders,
    /// Whether it changes what is below.
    pub(super) trees: Trees,
    /// Whether a word of which nothing is known counts.
    pub(super) unknown: bool,
    /// What the files are called that it changes below, if it says so.
    pub(super) names: Vec<&'l str>,
}

/// Returns what a call names that may be a path. Nobody knows under which keys a tool that nobody knows takes paths.
fn named<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a String> {
    let arguments = &subject.call.arguments;
    let texts = if subject.kind == ToolKind::Other { &arguments.texts[..] } else { &[] };
    let could_be = |text: &&String| text.len() <= LONGEST_PATH && !text.contains('\n');
    arguments.paths.iter().chain(texts.iter().filter(could_be))
}

/// The longest text that is taken for a path where it need not be one.
const LONGEST_PATH: usize = 1_024;

/// Returns whether a tool that nobody knows is called like one that takes away or moves what it is given.
fn takes_whole(subject: &Subject<'_>) -> bool {
    let name = subject.call.name.to_lowercase();
    ["delete", "remove", "move", "rename", "trash", "unlink", "rmdir", "purge", "wipe"]
        .iter()
        .any(|verb| name.contains(verb))
}

/// Returns whether a normal path lies in a folder of abide or of a client, where little but what is guarded lies.
fn is_held(path: &str) -> bool {
    const FOLDERS: [&str; 5] = [".abide", ".opencode", ".claude", ".codex", ".agents"];
    let parts: Vec<&str> = path.split('/').collect();
    parts.iter().any(|part| FOLDERS.contains(part))
        || parts.windows(2).any(|pair| matches!(pair, ["state" | "share" | ".config", "abide"]))
}

enum Touches {
    No,
    /// It could be any file at all.
    Anything,
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
            let anything = |folder: &Option<String>| match folder {
                Some(folder) if is_held(&normal(folder, "")) => {
                    Spelling::Partly(format!("{}/{ANY}", folder.to_lowercase()))
                }
                _ => Spelling::Anything,
            };
            let places = || self.folders.iter().map(anything).collect();
            return self.unknown.then(|| Spelled { reach: self, word, places: places() });
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
        let (mut perhaps, mut anything) = (false, false);
        for place in &self.places {
            match place {
                Spelling::Anything => anything = true,
                Spelling::Somewhere => perhaps |= self.reach.somewhere(self.word, guard),
                Spelling::Partly(text) => {
                    perhaps |= can_be(text, guard)
                        || can_be(text, &format!("{guard}/{ANY}"))
                        || (trees.reaches(is_held(text)) && can_be(guard, &format!("{text}/{ANY}")))
                        || (text.contains("..") && can_be(text, &format!("{ANY}/{}{ANY}", name_of(guard))));
                }
                Spelling::Known(spellings) => {
                    let below = |path: &String| {
                        trees.reaches(is_held(path)) && inside(guard, path) && self.reach.may_be(guard)
                    };
                    if spellings.iter().any(|path| inside(path, guard) || below(path)) {
                        return Touches::Yes;
                    }
                }
            }
        }
        match (perhaps, anything) {
            (true, _) => Touches::Perhaps,
            (false, true) => Touches::Anything,
            (false, false) => Touches::No,
        }
    }
}

impl Reach<'_> {
    /// Returns whether what is guarded, or what lies in it, may be called as the files that are changed are.
    fn may_be(&self, guard: &str) -> bool {
        let called = [name_of(guard), "ability.yaml", "ability.yml"];
        self.names.is_empty()
            || self
                .names
                .iter()
                .any(|name| called.iter().any(|called| can_be(&glob(&name.to_lowercase()), called)))
    }

    /// Compares a relative path in a folder that is not known.
    fn somewhere(&self, word: &str, guard: &str) -> bool {
        let path = normal(&format!("/{word}"), "");
        let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        // `.` and `..` could be any folder.
        (first.is_empty() && self.trees == Trees::All)
            || guard.split('/').any(|part| !part.is_empty() && part == first)
    }
}
