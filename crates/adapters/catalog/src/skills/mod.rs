//! Skills, wherever the clients keep them: found within bounds, read leniently, and every one accounted for.
//!
//! [`folders`] says where they lie and which wins, [`scan`] walks and reads, [`Skills`] is what came of it. A file that is
//! no skill stays in the listing with its reason, and so does one that another of the same name hides.

mod cache;
mod elsewhere;
mod folders;
mod links;
mod load;
mod scan;

pub(crate) use cache::SkillCache;
pub(crate) use elsewhere::Elsewhere;
pub(crate) use folders::paths;
pub use load::{LoadedSkill, skill_files};
pub(crate) use load::{load, within};

use crate::{Configuration, Origin, Place};
use abide_core::diagnostic::{Diagnostic, nearest};
use abide_core::skill::{Requires, Skill};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a `SKILL.md` says about itself: all that listings need. The body is read when the skill is loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillSummary {
    /// Its name.
    pub name: Arc<str>,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// What it needs.
    pub requires: Requires,
    /// How many turns it has as an agent.
    pub max_turns: u32,
    /// What agents do with it by themselves.
    pub for_agents: ForAgents,
    /// Whether people may call it by its name.
    pub for_people: bool,
    /// Whether its body has commands that want to be run.
    pub has_commands: bool,
}

/// What agents do with a skill by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForAgents {
    /// Nothing: it is for people.
    Nothing,
    /// They load it, and follow it.
    Load,
    /// They may have it run as well, with a tool of its own.
    Run,
}

impl SkillSummary {
    /// Sums up a skill whose body stands beside it.
    fn of(skill: Skill, body: &str) -> Self {
        Self {
            requires: skill.requires(),
            max_turns: skill.max_turns(),
            for_agents: match skill.for_agents() {
                false => ForAgents::Nothing,
                true if skill.is_tool() => ForAgents::Run,
                true => ForAgents::Load,
            },
            for_people: skill.for_people(),
            has_commands: abide_core::skill::text::has_commands(body),
            name: skill.name.into(),
            description: skill.description.map(Into::into),
        }
    }
}

/// One `SKILL.md`.
#[derive(Debug, Clone)]
pub struct SkillEntry {
    /// The skill's name; for a file that is no skill, the name of its folder.
    pub name: Arc<str>,
    /// The file.
    pub path: Arc<Path>,
    /// The file as messages show it.
    pub shown: Arc<str>,
    /// Whose folder it was found in.
    pub origin: Origin,
    /// What it says, if it is a skill.
    pub summary: Option<Arc<SkillSummary>>,
    /// Why it is none, or what had to be repaired.
    pub problems: Vec<Diagnostic>,
    /// The file that wins over it.
    pub shadowed_by: Option<Arc<str>>,
}

impl SkillEntry {
    /// Returns the folder of the skill, which is what its files are relative to.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

/// Every skill of a place.
#[derive(Debug, Default)]
pub struct Skills {
    /// The files by name; of one name the winner first.
    pub entries: Vec<SkillEntry>,
    /// Problems of folders, each with the folder.
    pub others: Vec<(PathBuf, Diagnostic)>,
}

impl Skills {
    /// Returns the skills that can be used by name, those that lack something included.
    pub fn winners(&self) -> impl Iterator<Item = (&SkillEntry, &Arc<SkillSummary>)> {
        let winners = self.entries.iter().filter(|entry| entry.shadowed_by.is_none());
        winners.filter_map(|entry| Some((entry, entry.summary.as_ref()?)))
    }

    /// Finds the skill of a name.
    pub fn find(&self, name: &str) -> Option<(&SkillEntry, &Arc<SkillSummary>)> {
        let start = self.entries.partition_point(|entry| &*entry.name < name);
        let same = self.entries[start..].iter().take_while(|entry| &*entry.name == name);
        same.filter(|entry| entry.shadowed_by.is_none())
            .find_map(|entry| Some((entry, entry.summary.as_ref()?)))
    }

    /// Returns the name that was probably meant.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.winners().map(|(entry, _)| &*entry.name))
    }
}

/// How the files of a root are shown: the root once, and what comes after it.
struct Shown<'a> {
    place: &'a Place,
    /// The root, and how it is shown, unless something in it is shown otherwise.
    root: Option<(&'a Path, usize)>,
    text: String,
}

impl<'a> Shown<'a> {
    fn of(place: &'a Place, root: &'a Path) -> Self {
        let text = place.shown(root);
        let holds = |folder: &Path| folder.starts_with(root);
        let alike = !holds(&place.start) && !place.home.as_deref().is_some_and(holds);
        let root = (alike && !text.is_empty()).then_some((root, text.len()));
        Self { place, root, text }
    }

    fn of_file(&mut self, file: &Path) -> Arc<str> {
        let below = self.root.and_then(|(root, kept)| {
            Some((kept, file.to_str()?.strip_prefix(root.to_str()?)?.strip_prefix('/')?))
        });
        let Some((kept, below)) = below else { return self.place.shown(file).into() };
        self.text.truncate(kept);
        self.text.push('/');
        self.text.push_str(below);
        self.text.as_str().into()
    }
}

/// Finds every skill; files that did not change since the last scan are not read again.
pub(crate) fn skills(place: &Place, configuration: &Configuration, cache: &mut SkillCache) -> Skills {
    let mut found = Skills::default();
    let roots = folders::folders(place, configuration);
    let allowed = links::Allowed::of(place, &roots);
    for root in &roots {
        let scanned = scan::scan(root, &allowed, cache);
        found.others.extend(scanned.problems);
        found.entries.reserve(scanned.files.len());
        let mut names = Shown::of(place, &root.path);
        for file in scanned.files {
            let folder = || file.path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
            let name: Arc<str> = match &file.read.summary {
                Some(summary) => Arc::clone(&summary.name),
                None => folder().unwrap_or_default().into(),
            };
            found.entries.push(SkillEntry {
                name,
                shown: names.of_file(&file.path),
                origin: root.origin,
                summary: file.read.summary,
                problems: file.read.problems,
                path: file.path,
                shadowed_by: None,
            });
        }
    }
    cache.end();
    // Folders come in order of precedence and files in order of their paths: the first of a name wins, every time. The sort
    // keeps that order within a name, and what is no skill comes after those that are.
    found.entries.sort_by(|one, other| {
        one.name.cmp(&other.name).then_with(|| one.summary.is_none().cmp(&other.summary.is_none()))
    });
    for same in found.entries.chunk_by_mut(|one, other| one.name == other.name) {
        let Some((winner, others)) = same.split_first_mut() else { continue };
        for entry in others.iter_mut().filter(|entry| entry.summary.is_some()) {
            entry.shadowed_by = Some(Arc::clone(&winner.shown));
        }
    }
    found
}
