//! Agent profiles, wherever the clients keep them.

use crate::file::read_text;
use crate::walk::{Walked, walk};
use crate::{Configuration, Origin, Place};
use abide_core::definition::AgentProfile;
use abide_core::diagnostic::Diagnostic;
use abide_formats::agent;
use std::collections::HashSet;
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

/// Returns every agent; of one name the first wins.
pub(crate) fn agents(place: &Place, configuration: &Configuration) -> Vec<AgentEntry> {
    let mut agents: Vec<AgentEntry> = Vec::new();
    let mut known = HashSet::new();
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
            if known.insert(Arc::clone(&name)) {
                agents.push(AgentEntry { name, path: Some(path), origin, profile, problems });
            }
        }
    }
    for (name, _) in &configuration.config.agents {
        let name: Arc<str> = name.as_str().into();
        if known.insert(Arc::clone(&name)) {
            let origin = Origin::Configured;
            agents.push(AgentEntry { name, path: None, origin, profile: None, problems: Vec::new() });
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
