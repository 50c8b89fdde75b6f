//! What a scan found: usable, broken and shadowed, each with its reason.

use crate::{Origin, Place};
use abide_core::definition::check::{References, Signature};
use abide_core::definition::{Ability, AgentName, Enforcement, Protect, StepType, Triggers};
use abide_core::diagnostic::{Diagnostic, nearest};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that was found for one place.
#[derive(Debug, Default)]
pub struct Listing {
    /// Whether the configuration switches abilities off.
    pub disabled: bool,
    /// The folders that were looked at, in order of precedence.
    pub folders: Vec<Folder>,
    /// The abilities, by name; of one name the winner first.
    pub abilities: Vec<Entry>,
    /// The folders of which not every file was looked at, because there are too many.
    pub abilities_stopped: Vec<PathBuf>,
    /// Problems of other files: the configuration, folders, agent profiles.
    pub others: Vec<FileProblems>,
}

/// A folder that abilities are looked for in.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The folder.
    pub path: PathBuf,
    /// Whose it is.
    pub origin: Origin,
    /// Whether it exists.
    pub exists: bool,
}

impl Folder {
    /// Returns where the scripts of its abilities run: beside the project's own `.abide`, or, for abilities from
    /// elsewhere, at the root of the project that uses them.
    pub(crate) fn root(&self, place: &Place) -> PathBuf {
        match (self.origin, self.path.ancestors().nth(2)) {
            (Origin::Project, Some(root)) => root.to_path_buf(),
            _ => place.root(),
        }
    }
}

/// A file that holds no ability, and what is wrong with it.
#[derive(Debug, Clone)]
pub struct FileProblems {
    /// The file or folder.
    pub path: PathBuf,
    /// The path as messages show it.
    pub shown: Arc<str>,
    /// What is wrong.
    pub problems: Vec<Diagnostic>,
}

/// One ability file.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The ability's name; for a file that could not be read, the one that its place gives it.
    pub name: Arc<str>,
    /// The file.
    pub path: PathBuf,
    /// The file as messages show it.
    pub shown: Arc<str>,
    /// Whose folder it was found in.
    pub origin: Origin,
    /// Where its scripts run: the folder that holds the project's `.abide`.
    pub root: PathBuf,
    /// What it says about itself, if it could be read at all.
    pub summary: Option<Arc<Summary>>,
    /// Everything that is wrong with it.
    pub problems: Vec<Diagnostic>,
    /// The file that wins over it.
    pub shadowed_by: Option<Arc<str>>,
}

/// What an ability says about itself: all that listings, triggers and callers need.
#[derive(Debug)]
pub struct Summary {
    /// Its description.
    pub description: String,
    /// Its version.
    pub version: Option<String>,
    /// The types of its steps, in order.
    pub steps: Vec<StepType>,
    /// What it takes.
    pub signature: Signature,
    /// Its own enforcement level.
    pub enforcement: Option<Enforcement>,
    /// What it names outside itself.
    pub references: References,
    /// The calls that only a run of it may make.
    pub protects: Vec<Protect>,
    /// The only agents that may run it, if it says so.
    pub agents: Vec<AgentName>,
    /// What in a message suggests it.
    pub triggers: Triggers,
}

impl Summary {
    pub(crate) fn of(ability: &Ability) -> Self {
        Self {
            description: ability.description.value.clone(),
            version: ability.version.as_ref().map(|version| version.value.clone()),
            steps: ability.steps.iter().map(|step| step.kind.step_type()).collect(),
            signature: Signature::of(ability),
            enforcement: ability.settings.enforcement.as_ref().map(|level| level.value),
            references: References::of(ability),
            protects: ability.protects.iter().map(|protect| protect.value.clone()).collect(),
            agents: match &ability.exclusive_agent {
                Some(only) => vec![only.value.clone()],
                None => ability.compatible_agents.iter().map(|agent| agent.value.clone()).collect(),
            },
            triggers: ability.triggers.clone(),
        }
    }
}

/// Whether an ability can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It can.
    Usable,
    /// Something is wrong with it.
    Broken,
    /// Another file of the same name wins.
    Shadowed,
}

impl Status {
    /// Returns the word that listings use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Broken => "broken",
            Self::Shadowed => "shadowed",
        }
    }
}

impl Entry {
    /// Returns whether the ability can be used.
    pub fn status(&self) -> Status {
        if self.shadowed_by.is_some() {
            Status::Shadowed
        } else if self.summary.is_none() || self.problems.iter().any(Diagnostic::is_error) {
            Status::Broken
        } else {
            Status::Usable
        }
    }

    /// Returns the folder that belongs to the ability alone, if it has one.
    pub fn folder(&self) -> Option<&Path> {
        let is_own = self.path.file_stem().is_some_and(|stem| stem == "ability");
        self.path.parent().filter(|_| is_own)
    }

    /// Returns the hooks beside the ability.
    pub fn hooks(&self) -> Hooks {
        let Some(folder) = self.folder() else { return Hooks::default() };
        let files = |name: &str, ending: &str| {
            let mut found: Vec<PathBuf> = std::fs::read_dir(folder.join("hooks").join(name))
                .into_iter()
                .flatten()
                .take(crate::MOST_ENTRIES)
                .filter_map(Result::ok)
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|found| found == ending) && path.is_file())
                .collect();
            found.sort_unstable();
            found
        };
        Hooks { before: files("before", "sh"), context: files("before", "md"), after: files("after", "sh") }
    }
}

/// Scripts and texts that belong to an ability's start and end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Scripts that run before the first step.
    pub before: Vec<PathBuf>,
    /// Texts that agents get as context.
    pub context: Vec<PathBuf>,
    /// Scripts that always run last.
    pub after: Vec<PathBuf>,
}

/// What came of looking for an ability by name.
#[derive(Debug)]
pub enum Found<'a> {
    /// The one that a run would use; it may be broken.
    Ability(&'a Entry),
    /// None of that name, and the name that was probably meant.
    Nothing {
        /// The nearest name.
        nearest: Option<&'a str>,
    },
}

impl Listing {
    /// Finds an ability by its name.
    pub fn find(&self, name: &str) -> Found<'_> {
        match self.abilities.iter().find(|entry| &*entry.name == name && entry.shadowed_by.is_none()) {
            Some(entry) => Found::Ability(entry),
            None => Found::Nothing { nearest: nearest(name, self.names()) },
        }
    }

    /// Returns the names of the abilities that win.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.abilities.iter().filter(|entry| entry.shadowed_by.is_none()).map(|entry| &*entry.name)
    }

    /// Adds a problem to a file that holds no ability.
    pub(crate) fn report(&mut self, place: &Place, path: &Path, problem: Diagnostic) {
        match self.others.iter_mut().find(|known| known.path == path) {
            Some(known) => known.problems.push(problem),
            None => self.others.push(FileProblems {
                path: path.to_path_buf(),
                shown: place.shown(path).into(),
                problems: vec![problem],
            }),
        }
    }
}
