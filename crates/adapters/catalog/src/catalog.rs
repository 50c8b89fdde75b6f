//! Scanning a place: every file in its order of precedence, then what they say about each other.

use crate::abilities::{self, Cache};
use crate::file::{Unreadable, read_text};
use crate::listing::{Entry, Listing};
use crate::skills::{self, LoadedSkill, SkillCache, SkillEntry, Skills};
use crate::{AgentEntry, BundleEntry, Configuration, Place, agents, bundles};
use abide_core::definition::Ability;
use abide_core::definition::check::{self, Call, World};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_formats::ability::{self, Reading};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The definitions that apply to one place.
#[derive(Debug)]
pub struct Catalog {
    place: Place,
    configuration: Configuration,
    cache: Cache,
    skills: SkillCache,
}

impl Catalog {
    /// Opens the catalog of a place under a configuration.
    pub fn open(place: Place, configuration: Configuration) -> Self {
        Self { place, configuration, cache: Cache::default(), skills: SkillCache::default() }
    }

    /// Returns the place.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the configuration that applies.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// Takes a configuration that was read again.
    pub fn reconfigure(&mut self, configuration: Configuration) {
        self.configuration = configuration;
    }

    /// Returns the agents that are defined; of one name the one that wins.
    pub fn agents(&self) -> Vec<AgentEntry> {
        let mut agents = self.all_agents();
        agents.retain(|agent| agent.shadowed_by.is_none());
        agents
    }

    /// Returns every agent that is written down, those that lose to another one too.
    pub fn all_agents(&self) -> Vec<AgentEntry> {
        agents::agents(&self.place, &self.configuration)
    }

    /// Finds every skill; files that did not change since the last time are not read again.
    pub fn skills(&mut self) -> Skills {
        skills::skills(&self.place, &self.configuration, &mut self.skills)
    }

    /// Reads one skill in full, as it is now.
    pub fn load_skill(&self, entry: &SkillEntry) -> LoadedSkill {
        skills::load(&self.place, &self.configuration, entry)
    }

    /// Returns the folders that links of a project's skills may lead into: the project, and the skills of the user.
    pub fn skill_links(&self) -> Vec<PathBuf> {
        skills::within(&self.place, &self.configuration)
    }

    /// Returns the capabilities that users wrote, broken and shadowed ones too.
    pub fn bundles(&self) -> Vec<BundleEntry> {
        bundles::bundles(&self.place)
    }

    /// Finds and checks everything; files that did not change since the last scan are not read again.
    pub fn scan(&mut self) -> Listing {
        let mut listing = Listing { others: self.configuration.problems.clone(), ..Listing::default() };
        listing.folders = abilities::folders(&self.place, &self.configuration);
        if self.configuration.config.abilities.enabled.as_ref().is_some_and(|enabled| !enabled.value) {
            listing.disabled = true;
            return listing;
        }
        let mut winners: HashMap<Arc<str>, Winner> = HashMap::new();
        for (rank, folder) in listing.folders.clone().iter().enumerate() {
            let contents = abilities::read_folder(folder, &mut self.cache);
            for (path, problem) in contents.problems {
                listing.report(&self.place, &path, problem);
            }
            listing.abilities_stopped.extend(contents.too_many.then(|| folder.path.clone()));
            let root = folder.root(&self.place);
            listing.abilities.reserve(contents.files.len());
            winners.reserve(contents.files.len());
            for file in contents.files {
                let shown: Arc<str> = self.place.shown(&file.path).into();
                let mut entry = Entry {
                    name: file.name,
                    shown: Arc::clone(&shown),
                    origin: folder.origin,
                    root: root.clone(),
                    path: file.path,
                    summary: file.summary,
                    problems: file.problems,
                    shadowed_by: None,
                };
                match winners.get(&entry.name) {
                    None => {
                        let winner = Winner { shown, rank, position: listing.abilities.len() };
                        winners.insert(Arc::clone(&entry.name), winner);
                    }
                    // Nothing says which of the two is meant, so neither can be used.
                    Some(winner) if winner.rank == rank => {
                        listing.abilities[winner.position].problems.push(duplicate(&entry.name, &shown));
                        entry.problems.push(duplicate(&entry.name, &winner.shown));
                    }
                    Some(winner) => entry.shadowed_by = Some(Arc::clone(&winner.shown)),
                }
                listing.abilities.push(entry);
            }
        }
        for entry in self.bundles() {
            for problem in entry.problems {
                listing.report(&self.place, &entry.path, problem);
            }
        }
        // A stable sort: of one name, the winner stays first.
        listing.abilities.sort_by(|one, other| one.name.cmp(&other.name));
        self.check(&mut listing);
        listing
    }

    /// Returns everything whose change could change what the last scan found, what does not exist yet included.
    pub fn sources(&self, listing: &Listing) -> Vec<PathBuf> {
        let mut sources: Vec<PathBuf> = Configuration::candidates(&self.place).collect();
        sources.extend(self.place.project_folders().into_iter().map(|folder| folder.join(".git")));
        sources.extend(listing.folders.iter().map(|folder| folder.path.clone()));
        sources.extend(self.cache.looked_at().map(Path::to_path_buf));
        for (folder, _) in agents::folders(&self.place) {
            sources.extend(agents::looked_at(&folder));
            sources.push(folder);
        }
        for (folder, _) in bundles::folders(&self.place) {
            sources.extend(bundles::looked_at(&folder));
            sources.push(folder);
        }
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// Reads one ability in full, for showing it or running it.
    pub fn load(&self, entry: &Entry) -> Result<(String, Option<Ability>), Unreadable> {
        let source = read_text(&entry.path)?;
        let Reading { ability, .. } = ability::read(&source, &entry.name);
        Ok((source, ability))
    }

    /// Adds what is wrong between files.
    fn check(&mut self, listing: &mut Listing) {
        let world = self.world(listing);
        let mut calls = Vec::new();
        for entry in listing.abilities.iter_mut().filter(|entry| entry.shadowed_by.is_none()) {
            let Some(summary) = entry.summary.clone() else { continue };
            entry.problems.extend(summary.references.check(&world));
            for step in &summary.references.workflows {
                calls.push(Call {
                    file: Arc::clone(&entry.shown),
                    from: Arc::clone(&entry.name),
                    to: step.workflow.as_str().into(),
                    span: step.workflow.span,
                });
            }
        }
        if !calls.is_empty() {
            for (file, problem) in check::workflows(&calls) {
                if let Some(entry) = listing.abilities.iter_mut().find(|entry| entry.shown == file) {
                    entry.problems.push(problem);
                }
            }
        }
        for entry in &mut listing.abilities {
            entry.problems.sort_by_key(|problem| problem.at.map_or(0, |at| at.start));
        }
    }

    /// Collects what exists; agents and skills are looked for only if some ability names one.
    fn world(&mut self, listing: &mut Listing) -> World {
        let secrets =
            self.configuration.config.secrets.iter().map(|(name, _)| name.as_str().into()).collect();
        let mut world = World { secrets, ..World::default() };
        let mut names_agents = false;
        let mut names_skills = false;
        for entry in listing.abilities.iter().filter(|entry| entry.shadowed_by.is_none()) {
            let signature = match &entry.summary {
                Some(summary) if !entry.problems.iter().any(Diagnostic::is_error) => {
                    Some(summary.signature.clone())
                }
                _ => None,
            };
            if let Some(summary) = &entry.summary {
                names_agents |=
                    !summary.references.agents.is_empty() || !summary.references.attached.is_empty();
                names_skills |= !summary.references.skills.is_empty();
            }
            world.abilities.insert(Arc::clone(&entry.name), signature);
        }
        if names_agents {
            for agent in self.agents() {
                if let Some(path) = agent.path {
                    for problem in agent.problems {
                        listing.report(&self.place, &path, problem);
                    }
                }
                world.agents.insert(agent.name);
            }
        }
        if names_skills {
            world.skills = self.skills().winners().map(|(entry, _)| Arc::clone(&entry.name)).collect();
        }
        world
    }
}

/// The file that a name stands for.
struct Winner {
    shown: Arc<str>,
    rank: usize,
    position: usize,
}

fn duplicate(name: &str, other: &str) -> Diagnostic {
    Diagnostic::whole_file(Code::DuplicateAbility, format!("the ability `{name}` is also defined by {other}"))
        .help("give one of them another name: in one folder, neither wins for a reason")
}
