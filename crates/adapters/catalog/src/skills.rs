//! The names of the skills that can be found; loading them is another matter.

use crate::file::read_text;
use crate::walk::walk;
use crate::{Configuration, Place};
use abide_formats::agent::skill_name;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROJECT: [&str; 5] =
    [".claude/skills", ".agents/skills", ".opencode/skill", ".opencode/skills", ".abide/skills"];
const HOME: [&str; 2] = [".claude/skills", ".agents/skills"];
const CONFIG_HOME: [&str; 3] = ["opencode/skill", "opencode/skills", "abide/skills"];

/// Returns the folders that skills are looked for in.
pub(crate) fn folders(place: &Place, configuration: &Configuration) -> Vec<PathBuf> {
    let with_claude = configuration.config.skills.claude.as_ref().is_none_or(|flag| flag.value);
    let below = |folder: &Path, names: &[&str]| -> Vec<PathBuf> {
        let wanted = names.iter().filter(|name| with_claude || !name.starts_with(".claude"));
        wanted.map(|name| folder.join(name)).collect()
    };
    let mut folders = Vec::new();
    for folder in place.project_folders() {
        folders.extend(below(&folder, &PROJECT));
    }
    if let Some(home) = &place.home {
        folders.extend(below(home, &HOME));
    }
    if let Some(config_home) = &place.config_home {
        folders.extend(below(config_home, &CONFIG_HOME));
    }
    folders.extend(configuration.config.skills.directories.iter().map(|folder| place.resolve(folder)));
    folders
}

/// Returns the names of all skills.
pub(crate) fn names(place: &Place, configuration: &Configuration) -> BTreeSet<Arc<str>> {
    let mut names = BTreeSet::new();
    for folder in folders(place, configuration).into_iter().filter(|folder| folder.is_dir()) {
        let entered = |name: &str| name != "node_modules" && name != ".git";
        for path in walk(&folder, |name| name == "SKILL.md", entered).files {
            let folder_name =
                path.parent().and_then(|parent| parent.file_name()).and_then(|name| name.to_str());
            if let Ok(text) = read_text(&path)
                && let Some(name) = skill_name(&text).or_else(|| folder_name.map(str::to_owned))
            {
                names.insert(name.into());
            }
        }
    }
    names
}
