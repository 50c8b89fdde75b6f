//! Agent profiles, wherever the clients keep them.

use crate::file::read_text;
use crate::walk::{Walked, walk};
use crate::{Configuration, Origin, Place};
use abide_core::definition::{AgentProfile, Config};
use abide_core::diagnostic::Diagnostic;
use abide_formats::agent;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One agent, from a profile or from the configuration.
#[derive(Debug)]
pub struct AgentEntry {
    /// Its name.
    pub name: Arc<str>,
    /// The profile's file; none for an agent that only the configuration knows.
    pub path: Option<PathBuf>,
    /// Whose folder it was found in.
    pub origin: Origin,
    /// The profile, if it could be read.
    pub profile: Option<AgentProfile>,
    /// What is wrong with the file.
    pub problems: Vec<Diagnostic>,
    /// The file that wins over it.
    pub shadowed_by: Option<Arc<str>>,
}

impl AgentEntry {
    /// Returns the agent as it works: its profile, under what the configuration says about it.
    ///
    /// Nothing for a profile that could not be read: half an agent would have rights that nobody gave it.
    pub fn effective(&self, config: &Config) -> Option<AgentProfile> {
        let settings = config.agents.iter().find(|(name, _)| name.as_str() == &*self.name);
        let profile = match (&self.profile, &self.path) {
            (Some(profile), _) => profile.clone(),
            (None, Some(_)) => return None,
            (None, None) => AgentProfile::named(settings?.0.clone()),
        };
        let broken = self.problems.iter().any(Diagnostic::is_error);
        let profile = Some(profile).filter(|_| !broken)?;
        Some(settings.iter().fold(profile, |profile, (_, settings)| profile.configured(settings)))
    }
}

/// Where agent profiles lie, below each folder of the project and below the user's.
const PROJECT: [&str; 4] = [".abide/agents", ".opencode/agent", ".opencode/agents", ".claude/agents"];
const CONFIG_HOME: [&str; 3] = ["abide/agents", "opencode/agent", "opencode/agents"];
const HOME: [&str; 1] = [".claude/agents"];

/// Returns the folders that profiles are looked for in, in order of precedence.
pub(crate) fn folders(place: &Place) -> Vec<(PathBuf, Origin)> {
    let mut folders = Vec::new();
    for folder in place.project_folders() {
        folders.extend(PROJECT.iter().map(|name| (folder.join(name), Origin::Project)));
    }
    if let Some(config_home) = &place.config_home {
        folders.extend(CONFIG_HOME.iter().map(|name| (config_home.join(name), Origin::Global)));
    }
    if let Some(home) = &place.home {
        folders.extend(HOME.iter().map(|name| (home.join(name), Origin::Global)));
    }
    folders
}

/// Returns every agent; of one name the first wins, and the others say who it is.
pub(crate) fn agents(place: &Place, configuration: &Configuration) -> Vec<AgentEntry> {
    let mut agents: Vec<AgentEntry> = Vec::new();
    let mut known: HashMap<Arc<str>, Arc<str>> = HashMap::new();
    for (folder, origin) in folders(place).into_iter().filter(|(folder, _)| folder.is_dir()) {
        for path in profiles(&folder).files {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let (profile, problems) = match read_text(&path) {
                Ok(text) => {
                    let reading = agent::read(&text, stem);
                    (reading.agent, reading.problems)
                }
                Err(unreadable) => (None, vec![unreadable.diagnostic()]),
            };
            let name: Arc<str> = profile.as_ref().map_or(stem, |profile| profile.name.as_str()).into();
            let shadowed_by = known.get(&name).cloned();
            known.entry(Arc::clone(&name)).or_insert_with(|| place.shown(&path).into());
            agents.push(AgentEntry { name, path: Some(path), origin, profile, problems, shadowed_by });
        }
    }
    for (name, _) in &configuration.config.agents {
        let name: Arc<str> = name.as_str().into();
        if !known.contains_key(&name) {
            let (origin, problems) = (Origin::Configured, Vec::new());
            agents.push(AgentEntry { name, path: None, origin, profile: None, problems, shadowed_by: None });
        }
    }
    agents
}

/// Returns the files and folders that are looked at below a folder of profiles.
pub(crate) fn looked_at(folder: &Path) -> Vec<PathBuf> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let mut walked = profiles(folder);
    walked.files.append(&mut walked.folders);
    walked.files
}

fn profiles(folder: &Path) -> Walked {
    walk(folder, is_profile, |name| !name.starts_with('.'))
}

/// A Markdown file that is not about the folder itself.
fn is_profile(name: &str) -> bool {
    name.strip_suffix(".md").is_some_and(|stem| !stem.eq_ignore_ascii_case("readme"))
}
