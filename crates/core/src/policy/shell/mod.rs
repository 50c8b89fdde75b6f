//! Which commands a line of shell text can run.
//!
//! [`read`] goes through the text as a shell would, without running anything: it takes off quotes, follows
//! variables and folders, looks into `$(…)`, subshells, here-documents and the text of `sh -c`, and unwraps
//! programs that run other programs. What comes out is every simple command that could run, with the parts
//! that cannot be known marked as such ([`ANY`](super::glob::ANY), [`MANY`](super::glob::MANY)), the files that
//! redirections and patches write, and whether there is code that cannot be read at all ([`Blind`]).
//!
//! Everything errs on one side: a command too many is a refusal too many, a command too few is a side door. What
//! runs *inside* a program or a script file that the line names is not visible in the line, and not looked for.
//!
//! This is another question than the one of [`crate::value::shell`], which trusts the text and not the values; here
//! the text itself is the adversary's.

mod assign;
mod code;
mod compound;
mod expand;
mod git;
mod harmless;
mod heredoc;
mod language;
mod made;
mod mentions;
mod options;
mod patches;
mod programs;
mod reader;
mod run;
mod schedule;
mod words;
mod wrappers;

use super::glob::{ANY, MANY};
use super::path::{Place, absolute};
use std::collections::{BTreeMap, BTreeSet};

pub(super) use programs::{EXECUTING_OPTIONS, Program, only_reads, program, takes_trees};

/// The longest line that is read; nobody writes more by hand, and a script belongs into a file.
const LONGEST: usize = 64 * 1024;
/// How many commands one line may come to.
const MOST_COMMANDS: usize = 4_096;
/// How many are noted, with those that are only mentioned.
const MOST_NOTED: usize = 16_384;
/// How deep substitutions, subshells and `sh -c` may nest.
const DEEPEST: usize = 24;
/// How many values a variable may have before it counts as unknown.
const MOST_VALUES: usize = 4;
/// How often the line is read until its variables are settled.
const MOST_PASSES: usize = 8;

/// What a line can do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Every simple command that could run.
    pub(super) commands: Vec<Command>,
    /// The files that redirections and patches write.
    pub(super) writes: Vec<(String, Folders)>,
    /// The variables that get a value.
    pub(super) variables: BTreeSet<String>,
    /// Whether it puts a folder with all that is in it elsewhere, so that a file may be there under another path.
    pub(super) copies: bool,
    /// Why not everything can be read, if so.
    pub(super) blind: Option<Blind>,
}

/// A simple command that could run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// Its words, without quotes; parts of them may be unknown.
    pub(super) words: Vec<String>,
    /// Where it could run.
    pub(super) folders: Folders,
    /// How it came about.
    pub(super) origin: Origin,
}

/// How a command came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// It stands in the text, or a program that is known to run it has it as its arguments.
    Runs,
    /// Its first word is a file that a shell or an interpreter is given.
    File,
    /// It stands in the arguments of a program that may or may not run it.
    Mentioned,
    /// Its arguments name tasks that are written down elsewhere: `make deploy`.
    Task,
}

/// The folders in which a command could run; `None` is a folder that is not known.
pub(super) type Folders = Vec<Option<String>>;

/// Why something cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Blind {
    /// The text is too long.
    TooLong,
    /// It nests too deep, or comes to too many commands.
    TooMuch,
    /// It is not the shell syntax that we know.
    Syntax(&'static str),
    /// A program is given code in its own language.
    Inline(String),
    /// A program reads its code from its input.
    Input(String),
    /// The code comes from a variable or another command.
    Computed(String),
    /// A subcommand of git that is not its own, so that it is an alias.
    Alias(String),
}

impl std::fmt::Display for Blind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong => out.write_str("the command is longer than 64 KiB"),
            Self::TooMuch => out.write_str("the command nests too deep or runs too many others"),
            Self::Syntax(what) => write!(out, "the command cannot be taken apart ({what})"),
            Self::Inline(program) => write!(out, "`{program}` is given code, which could run anything"),
            Self::Input(program) => write!(out, "`{program}` takes what it runs from its input"),
            Self::Computed(program) => {
                write!(out, "what `{program}` runs is put together only when it runs")
            }
            Self::Alias(name) => write!(out, "`git {name}` is an alias, which could be anything"),
        }
    }
}

/// Reads a line; `directory` is where it runs, when the call says so.
pub(super) fn read(text: &str, place: &Place, directory: Option<&str>) -> Line {
    if text.len() > LONGEST || text.contains([ANY, MANY, '\0']) {
        return Line { blind: Some(Blind::TooLong), ..Line::default() };
    }
    let home = place.home.as_deref();
    let start = directory.map_or_else(|| place.cwd.clone(), |text| absolute(text, &place.cwd, home));
    let mut known: Option<Variables> = None;
    let (mut wanders, mut exports) = (false, false);
    for pass in 0..MOST_PASSES {
        let mut folders = vec![Some(start.clone())];
        if wanders {
            folders.push(None);
        }
        let mut world = World::new(folders, place);
        world.known.clone_from(&known);
        world.exports.known = exports;
        world.code(text, Origin::Runs);
        world.runs_what_it_made();
        let nothing = BTreeMap::new();
        let settled = unsettled(known.as_ref().unwrap_or(&nothing), &world.variables).is_empty();
        let wandered = world.changes_folder && world.repeats;
        let told = world.exports.found == exports || world.variables.is_empty();
        if (settled && wandered == wanders && told) || world.line.blind.is_some() {
            world.line.variables = world.variables.into_keys().collect();
            return world.line;
        }
        // A value that is made from itself, as in `PATH=x:$PATH`, would grow with every pass.
        let growing = known.as_ref().filter(|_| pass >= 2).map(|known| unsettled(known, &world.variables));
        let mut found = world.variables;
        for name in growing.unwrap_or_default() {
            found.insert(name, BTreeSet::from([MANY.to_string()]));
        }
        known = Some(found);
        wanders = wandered;
        exports |= world.exports.found;
    }
    Line { blind: Some(Blind::TooMuch), ..Line::default() }
}

/// What a tool that nobody knows is told, as the words of a command that it could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The words; a single one may be a whole line.
    pub words: Vec<String>,
    /// Whether it stands where commands are told, so that code which cannot be read counts.
    pub orders: bool,
}

/// Reads what a tool is told that may or may not run it, in a folder that nobody knows.
pub(super) fn read_told(told: &[Told], place: &Place) -> Line {
    let length: usize = told.iter().flat_map(|told| &told.words).map(String::len).sum();
    let strange = told.iter().flat_map(|told| &told.words).any(|text| text.contains([ANY, MANY]));
    if length > LONGEST || strange {
        return Line { blind: Some(Blind::TooLong), ..Line::default() };
    }
    let mut world = World::new(vec![Some(place.cwd.clone()), None], place);
    for told in told {
        let before = world.line.blind.take();
        let noted = world.line.commands.len();
        let words: Vec<String> = told.words.iter().map(|word| word.replace('\0', " ")).collect();
        let mut reader = reader::Reader::new("", &mut world, Origin::Mentioned);
        if let Err(why) = reader.told(&words, told.orders) {
            world.blind(why);
        }
        world.line.writes.clear();
        let lost =
            |command: &Command| command.words.first().is_some_and(|first| super::glob::is_unknown(first));
        if told.orders && world.line.commands[noted..].iter().any(lost) {
            world.blind(Blind::Computed("it".to_owned()));
        }
        // A text is no code only because it cannot be read as such.
        let counts = match &world.line.blind {
            Some(Blind::TooLong | Blind::TooMuch) => true,
            Some(Blind::Syntax(_)) | None => false,
            Some(_) => told.orders,
        };
        if !counts {
            world.line.blind = None;
        }
        world.line.blind = before.or(world.line.blind.take());
    }
    world.line
}

/// The values that variables can have.
type Variables = BTreeMap<String, BTreeSet<String>>;

/// Returns the variables that have values which were not known.
fn unsettled(known: &Variables, found: &Variables) -> Vec<String> {
    let covers = |name: &String, values: &BTreeSet<String>| {
        known.get(name).is_some_and(|known| {
            known.iter().any(|value| super::glob::is_unknown(value)) || values.is_subset(known)
        })
    };
    found.iter().filter(|(name, values)| !covers(name, values)).map(|(name, _)| name.clone()).collect()
}

/// Whether variables are told to programs anywhere in a line.
#[derive(Debug, Clone, Copy, Default)]
struct Exports {
    /// As the last pass found it.
    known: bool,
    /// As this pass finds it.
    found: bool,
}

/// What is known while a line is read.
struct World {
    /// Every value that each variable gets anywhere in the line, as the last pass found them.
    ///
    /// The order of assignments is not followed: loops and functions would make that wrong.
    known: Option<Variables>,
    /// The same, as this pass finds them.
    variables: Variables,
    folders: Folders,
    home: Option<String>,
    line: Line,
    /// The files that redirections and `tee` fill.
    made: Vec<made::Made>,
    /// What the line itself says that it writes into them.
    texts: Vec<String>,
    exports: Exports,
    /// How much text was read that may be no code.
    looked: usize,
    /// How deep what is read stands in texts that may be no code.
    mentions: usize,
    /// How many parts of words what is read stands in.
    parts: usize,
    depth: usize,
    steps: usize,
    /// Whether a `cd` stands anywhere.
    changes_folder: bool,
    /// Whether text may run several times or later: loops, functions, traps.
    repeats: bool,
}

impl World {
    fn new(folders: Folders, place: &Place) -> Self {
        Self {
            known: None,
            variables: BTreeMap::new(),
            folders,
            home: place.home.clone(),
            line: Line::default(),
            made: Vec::new(),
            texts: Vec::new(),
            exports: Exports::default(),
            looked: 0,
            mentions: 0,
            parts: 0,
            depth: 0,
            steps: 0,
            changes_folder: false,
            repeats: false,
        }
    }

    fn blind(&mut self, why: Blind) {
        self.line.blind.get_or_insert(why);
    }

    fn step(&mut self) -> Result<(), Blind> {
        self.steps += 1;
        if self.steps > MOST_COMMANDS { Err(Blind::TooMuch) } else { Ok(()) }
    }

    /// Returns whether no more commands are noted.
    fn is_full(&self) -> bool {
        self.line.commands.len() >= MOST_NOTED
    }

    fn emit(&mut self, words: &[String], origin: Origin) {
        if self.is_full() {
            return self.blind(Blind::TooMuch);
        }
        let command = Command { words: words.to_vec(), folders: self.folders.clone(), origin };
        self.line.commands.push(command);
    }

    /// Reads text as code of this very shell.
    fn code(&mut self, text: &str, origin: Origin) {
        if self.depth >= DEEPEST {
            return self.blind(Blind::TooMuch);
        }
        self.depth += 1;
        let mut reader = reader::Reader::new(text, self, origin);
        if let Err(why) = reader.all() {
            self.blind(why);
        }
        self.depth -= 1;
    }

    /// Reads text as code of another shell, whose folder is its own.
    fn code_apart(&mut self, text: &str, origin: Origin) {
        let folders = self.folders.clone();
        self.code(text, origin);
        self.folders = folders;
    }

    /// Notes a value that a variable gets.
    fn assign(&mut self, name: &str, value: &str) {
        let values = self.variables.entry(name.to_owned()).or_default();
        values.insert(value.to_owned());
        // Anything at all includes everything else.
        if values.len() > MOST_VALUES || values.iter().any(|value| super::glob::is_unknown(value)) {
            *values = BTreeSet::from([MANY.to_string()]);
        }
    }

    /// Returns the values that a variable can have.
    fn values(&self, name: &str) -> Vec<String> {
        let assigned = self.known.as_ref().unwrap_or(&self.variables).get(name);
        match (assigned, name) {
            (Some(values), _) => values.iter().cloned().collect(),
            (None, "HOME") => vec![self.home.clone().unwrap_or_else(|| MANY.to_string())],
            (None, "PWD") => match self.folders.as_slice() {
                [Some(folder)] => vec![folder.clone()],
                _ => vec![MANY.to_string()],
            },
            _ => vec![MANY.to_string()],
        }
    }
}

#[cfg(test)]
mod tests;
