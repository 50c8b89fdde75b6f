//! The skills of a place as agents and people are offered them.

use super::world::Here;
use crate::Surroundings;
use crate::session::Session;
use abide_catalog::{
    Catalog, ForAgents, LoadedSkill, Origin, SkillEntry, SkillSummary, Skills, Trust, skill_files,
};
use abide_core::capability::ToolName;
use abide_core::definition::{AgentProfile, PermissionAction};
use abide_core::skill::Skill;
use abide_core::skill::available::{Need, unavailable};
use abide_core::skill::listing::{BUDGET, Offer, describe, escape};
use abide_core::skill::tool::{PREFIX, tool_name};
use abide_core::skill::view;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many files of a skill an agent is told about.
const MOST_FILES: usize = 10;
/// How many skills an agent is offered as tools; the others it can load.
const MOST_TOOLS: usize = 64;

/// Every skill, and what stands in its way.
pub(crate) struct Shelf {
    pub(crate) catalog: Catalog,
    pub(crate) skills: Skills,
    /// Why skills cannot be used, by name.
    lacking: HashMap<Arc<str>, Vec<String>>,
    pub(super) trust: Option<Trust>,
    /// The folders that links of a project's skills may lead into.
    pub(super) links: Vec<PathBuf>,
}

/// A skill that was read in full.
pub(crate) struct Loaded {
    pub(crate) skill: Skill,
    pub(crate) folder: PathBuf,
    pub(crate) origin: Origin,
    /// The file, and what was read of it: trust is about that, not about what lies there by now.
    pub(crate) file: Arc<Path>,
    pub(crate) source: Vec<u8>,
}

/// A skill that an agent is offered as a tool.
#[derive(Debug, Clone)]
pub(crate) struct SkillOffer {
    pub(crate) tool: ToolName,
    pub(crate) name: Arc<str>,
    pub(crate) description: Arc<str>,
    pub(crate) max_turns: u32,
}

impl SkillOffer {
    /// Returns what a model is told about the tool.
    pub(crate) fn about(&self) -> String {
        let mut about = String::new();
        escape(&mut about, &self.description, 1_024);
        let turns = match self.max_turns {
            1 => "answers at once".to_owned(),
            turns => format!("works by itself for at most {turns} answers"),
        };
        format!("Runs a skill and returns its result; it {turns}. {about}")
    }

    /// Returns the JSON Schema of what it is given.
    pub(crate) fn schema() -> serde_json::Value {
        serde_json::json!({
            "type": "object",
            "properties": {
                "args": { "type": "string", "description": "What the skill is given; everything that it must know" }
            },
            "additionalProperties": false,
        })
    }
}

/// Who wants a skill.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reader<'a> {
    /// Somebody who only looks at it: whatever can be used.
    Anybody,
    /// A person who calls it by its name.
    Person,
    /// An agent; without a profile, one that nobody knows.
    Agent(Option<&'a AgentProfile>),
}

/// Why a skill cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// There is none of that name; what there is.
    Unknown(String),
    /// A rule is against it.
    Denied(String),
    /// A human must agree first.
    Ask(String),
    /// It lacks something, or cannot be read.
    Unusable(String),
}

impl Shelf {
    /// Finds the skills of a session's place.
    pub(crate) fn open(session: &Session<'_>) -> Self {
        Self::of(session.surroundings, session.catalog())
    }

    /// Finds the skills of a catalog.
    pub(crate) fn of(surroundings: &Surroundings, catalog: Catalog) -> Self {
        let trust = Trust::of(catalog.place());
        let mut shelf =
            Self { catalog, skills: Skills::default(), lacking: HashMap::new(), trust, links: Vec::new() };
        shelf.refresh(surroundings);
        shelf
    }

    /// Looks again; what has not changed is not read again. Returns whether other skills can be used than before.
    pub(crate) fn refresh(&mut self, surroundings: &Surroundings) -> bool {
        self.skills = self.catalog.skills();
        self.links = self.catalog.skill_links();
        let here = Here::new(surroundings, &mut self.catalog);
        let needs: Vec<Need<'_>> = self
            .skills
            .winners()
            .map(|(entry, summary)| Need { name: &entry.name, requires: &summary.requires })
            .collect();
        let lacking: HashMap<Arc<str>, Vec<String>> = unavailable(&needs, &here)
            .into_iter()
            .map(|(name, missing)| (name.into(), missing.iter().map(ToString::to_string).collect()))
            .collect();
        let same =
            lacking.len() == self.lacking.len() && lacking.keys().all(|name| self.lacking.contains_key(name));
        self.lacking = lacking;
        !same
    }

    /// Returns what a skill lacks; nothing when it can be used.
    pub(crate) fn lacks(&self, name: &str) -> &[String] {
        self.lacking.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the skills that an agent may use, with what it is told about each; without an agent, those that anybody may.
    fn offered<'a>(
        &'a self,
        agent: Option<&'a AgentProfile>,
    ) -> impl Iterator<Item = (&'a SkillEntry, &'a SkillSummary)> {
        let fits = move |entry: &SkillEntry, summary: &SkillSummary| {
            summary.for_agents != ForAgents::Nothing
                && self.lacks(&entry.name).is_empty()
                && agent.is_none_or(|agent| permit(agent, &entry.name).0 != PermissionAction::Deny)
        };
        self.skills
            .winners()
            .filter(move |(entry, summary)| fits(entry, summary))
            .map(|(entry, summary)| (entry, &**summary))
    }

    /// Returns the description of the skill tool; nothing is read for it.
    pub(crate) fn describe(&self, agent: Option<&AgentProfile>) -> String {
        let offers: Vec<Offer<'_>> = self
            .offered(agent)
            .filter_map(|(_, summary)| {
                Some(Offer { name: &summary.name, description: summary.description.as_deref()? })
            })
            .collect();
        let budget = self.catalog.configuration().config.skills.listing.as_ref();
        describe(&offers, budget.map_or(BUDGET, |budget| budget.value as usize))
    }

    /// Returns the names that an agent may use.
    pub(crate) fn names<'a>(&'a self, agent: Option<&'a AgentProfile>) -> Vec<&'a str> {
        self.offered(agent).map(|(entry, _)| &*entry.name).collect()
    }

    /// Returns the folder of the skill that a path lies in, if an agent may use that skill.
    pub(crate) fn folder_of(&self, path: &Path, agent: &AgentProfile) -> Option<PathBuf> {
        let holding = self.skills.winners().filter(|(entry, _)| path.starts_with(entry.folder()));
        // Of skills inside of each other, the file is the innermost one's.
        let (entry, _) = holding.max_by_key(|(entry, _)| entry.folder().components().count())?;
        let may_use =
            self.lacks(&entry.name).is_empty() && permit(agent, &entry.name).0 != PermissionAction::Deny;
        may_use.then(|| entry.folder().to_path_buf())
    }

    /// Returns the skills that an agent is offered as tools, and how many have no room; of two that would have one name, the first.
    pub(crate) fn tools(&self, agent: Option<&AgentProfile>) -> (Vec<SkillOffer>, usize) {
        let mut offers: Vec<SkillOffer> = Vec::new();
        let mut left_out = 0;
        for (_, summary) in self.offered(agent).filter(|(_, summary)| summary.for_agents == ForAgents::Run) {
            let Some(tool) = tool_name(&summary.name) else { continue };
            // A rule that asks is about the whole name: where the tool's differs, the skill can only be loaded.
            let is_exact = tool.as_str().strip_prefix(PREFIX) == Some(&*summary.name);
            let asks = agent.is_some_and(|agent| permit(agent, &summary.name).0 == PermissionAction::Ask);
            if (asks && !is_exact) || offers.iter().any(|known| known.tool == tool) {
                continue;
            }
            if offers.len() == MOST_TOOLS {
                left_out += 1;
                continue;
            }
            offers.push(SkillOffer {
                tool,
                name: Arc::clone(&summary.name),
                description: summary.description.clone().unwrap_or_default(),
                max_turns: summary.max_turns,
            });
        }
        (offers, left_out)
    }

    /// Returns the description of the skill tool, which says how many skills have no tool of their own for want of room.
    pub(crate) fn described(&self, agent: Option<&AgentProfile>) -> String {
        match self.tools(agent).1 {
            0 => self.describe(agent),
            left_out => format!(
                "{} {left_out} more skills could be run by a tool of their own (`{PREFIX}NAME`), and there are {MOST_TOOLS} such tools at most: load them.",
                self.describe(agent)
            ),
        }
    }

    /// Returns the skills that a person can call by name.
    pub(crate) fn for_people(&self) -> impl Iterator<Item = &SkillSummary> {
        let usable = self.skills.winners().filter(|(entry, _)| self.lacks(&entry.name).is_empty());
        usable.map(|(_, summary)| &**summary).filter(|summary| summary.for_people)
    }

    /// Reads a skill for somebody.
    pub(crate) fn load(&self, name: &str, reader: Reader<'_>) -> Result<Loaded, Unfit> {
        let agent = match reader {
            Reader::Agent(agent) => agent,
            Reader::Anybody | Reader::Person => None,
        };
        let Some((entry, summary)) = self.skills.find(name) else {
            return Err(Unfit::Unknown(self.unknown(name, agent)));
        };
        match reader {
            Reader::Agent(_) if summary.for_agents == ForAgents::Nothing => {
                let why = format!("the skill `{name}` says `disable-model-invocation`: only people call it");
                return Err(Unfit::Denied(why));
            }
            Reader::Person if !summary.for_people => {
                let why = format!("the skill `{name}` says `user-invocable: false`: only agents call it");
                return Err(Unfit::Denied(why));
            }
            _ => {}
        }
        if let Some(agent) = agent {
            match permit(agent, name) {
                (PermissionAction::Allow, _) => {}
                (PermissionAction::Ask, why) => return Err(Unfit::Ask(why)),
                (PermissionAction::Deny, why) => return Err(Unfit::Denied(why)),
            }
        }
        if let Some(lacks) = self.lacks(name).first() {
            return Err(Unfit::Unusable(format!("the skill `{name}` cannot be used: {lacks}")));
        }
        let LoadedSkill { reading, bytes } = self.catalog.load_skill(entry);
        let problems = reading.problems;
        match reading.skill {
            Some(skill) => Ok(Loaded {
                skill,
                folder: entry.folder().to_path_buf(),
                origin: entry.origin,
                file: Arc::clone(&entry.path),
                source: bytes,
            }),
            None => {
                let why = problems.first().map_or("it is no skill", |problem| problem.message.as_str());
                Err(Unfit::Unusable(format!("the skill `{name}` cannot be loaded: {why}")))
            }
        }
    }

    /// Says that there is no skill of a name, and what there is.
    fn unknown(&self, name: &str, agent: Option<&AgentProfile>) -> String {
        let names = self.names(agent);
        view::unknown(name, &names, self.skills.nearest(name))
    }
}

impl Loaded {
    /// Returns what an agent is told when it loads the skill: the instructions as they stand, and where its files are.
    pub(crate) fn for_agent(&self) -> String {
        let files: Vec<String> =
            skill_files(&self.folder, MOST_FILES).iter().map(|file| file.display().to_string()).collect();
        view::loaded(&self.skill, &self.folder.display().to_string(), &files)
    }
}

/// Returns what an agent's rules say about a skill, and why.
pub(crate) fn permit(agent: &AgentProfile, name: &str) -> (PermissionAction, String) {
    let permit = agent.permits_skill(name);
    let why = permit.why.unwrap_or_default();
    (permit.action, format!("the skill `{name}`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_catalog::{Configuration, Place};

    #[expect(clippy::disallowed_methods, reason = "the skills are files")]
    #[test]
    fn what_agents_are_told_is_built_from_memory() {
        let folder = tempfile::tempdir().unwrap();
        let start = folder.path().canonicalize().unwrap();
        for index in 0..50 {
            let skill = start.join(format!(".abide/skills/skill-{index}"));
            std::fs::create_dir_all(&skill).unwrap();
            let text = format!("---\nname: skill-{index}\ndescription: Does {index}\nmax_turns: 2\n---\nx\n");
            std::fs::write(skill.join("SKILL.md"), text).unwrap();
        }
        let surroundings = Surroundings {
            folder: start.clone(),
            variables: Vec::new(),
            binary: None,
            terminal: false,
            terminal_in: false,
            width: || None,
        };
        let place = Place { start: start.clone(), home: None, config_home: None };
        let configuration = Configuration::load(&place, |_| None);
        let shelf = Shelf::of(&surroundings, Catalog::open(place, configuration));
        let before = shelf.describe(None);
        assert_eq!(before.matches("<name>").count(), 50);
        // Whatever looked at the disk now would find nothing.
        std::fs::remove_dir_all(&start).unwrap();
        assert_eq!(shelf.describe(None), before);
        assert_eq!((shelf.tools(None).0.len(), shelf.names(None).len()), (50, 50));
        assert_eq!(shelf.described(None), before, "all of them have a tool");
    }

    #[expect(clippy::disallowed_methods, reason = "the skills are files")]
    #[test]
    fn skills_that_have_no_tool_for_want_of_room_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let start = folder.path().canonicalize().unwrap();
        for index in 0..70 {
            let skill = start.join(format!(".abide/skills/skill-{index:02}"));
            std::fs::create_dir_all(&skill).unwrap();
            let text = format!("---\nname: skill-{index:02}\ndescription: x\nmax_turns: 2\n---\nx\n");
            std::fs::write(skill.join("SKILL.md"), text).unwrap();
        }
        let surroundings = Surroundings {
            folder: start.clone(),
            variables: Vec::new(),
            binary: None,
            terminal: false,
            terminal_in: false,
            width: || None,
        };
        let place = Place { start, home: None, config_home: None };
        let configuration = Configuration::load(&place, |_| None);
        let shelf = Shelf::of(&surroundings, Catalog::open(place, configuration));
        let (offers, left_out) = shelf.tools(None);
        assert_eq!((offers.len(), left_out), (MOST_TOOLS, 6));
        let described = shelf.described(None);
        assert!(
            described.contains(" 6 more skills could be run") && described.contains("skill-69"),
            "{described}"
        );
    }
}
