//! Where skills lie, and whose win.
//!
//! The nearest folder of the project first, up to the repository's root, then the user's own, then those that the
//! configuration names; within one folder abide's, OpenCode's, the standard's, Codex's, Claude's.

use crate::{Configuration, Origin, Place};
use std::path::{Path, PathBuf};

/// A folder with skills in it.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    pub(crate) path: PathBuf,
    pub(crate) origin: Origin,
}

const PROJECT: [&str; 6] = [
    ".abide/skills",
    ".opencode/skill",
    ".opencode/skills",
    ".agents/skills",
    ".codex/skills",
    ".claude/skills",
];
const CONFIG_HOME: [&str; 3] = ["abide/skills", "opencode/skill", "opencode/skills"];
/// The home twins of the project's folders.
const HOME: [&str; 6] = PROJECT;

/// Returns the folders that skills are looked for in, existing or not, in order of precedence.
pub(crate) fn paths(place: &Place, configuration: &Configuration) -> Vec<PathBuf> {
    folders(place, configuration).into_iter().map(|root| root.path).collect()
}

/// Returns the same, each with whose it is.
pub(super) fn folders(place: &Place, configuration: &Configuration) -> Vec<Root> {
    let settings = &configuration.config.skills;
    let elsewhere = &configuration.elsewhere;
    let on = |flag: &Option<abide_core::source::Spanned<bool>>| flag.as_ref().is_none_or(|flag| flag.value);
    let (claude, external) = (on(&settings.claude), on(&settings.external));
    let wanted = |name: &&&str| {
        let is_external = [".claude", ".agents", ".codex"].iter().any(|client| name.starts_with(client));
        (external || !is_external) && (claude || !name.starts_with(".claude"))
    };
    let below = |folder: &Path, names: &[&str], origin: Origin| -> Vec<Root> {
        names.iter().filter(wanted).map(|name| Root { path: folder.join(name), origin }).collect()
    };
    let mut roots: Vec<Root> = Vec::new();
    let home = place.home.as_deref();
    for folder in place.project_folders().iter().filter(|folder| home != Some(folder)) {
        let named = below(folder, &PROJECT, Origin::Project);
        let left_out =
            |root: &Root| elsewhere.without_project && root.path.starts_with(folder.join(".opencode"));
        roots.extend(named.into_iter().filter(|root| !left_out(root)));
    }
    if let Some(config_home) = &place.config_home {
        roots.extend(below(config_home, &CONFIG_HOME, Origin::Global));
    }
    if let Some(home) = home {
        roots.extend(below(home, &HOME, Origin::Global));
    }
    if let Some(folder) = &elsewhere.opencode {
        roots.extend(below(folder, &["skill", "skills"], Origin::Global));
    }
    for (folder, wanted) in [(&elsewhere.codex, external), (&elsewhere.claude, external && claude)] {
        let folder = folder.iter().filter(|_| wanted);
        roots.extend(folder.map(|folder| Root { path: folder.join("skills"), origin: Origin::Global }));
    }
    let project = place.root();
    let configured = settings.directories.iter().map(|folder| place.resolve(folder));
    for path in configured.chain(elsewhere.paths.iter().cloned()) {
        // What lies in the project came with it, whoever names it.
        let origin = if path.starts_with(&project) { Origin::Project } else { Origin::Configured };
        roots.push(Root { path, origin });
    }
    // A folder that is named twice counts where it comes first.
    let mut known = std::collections::HashSet::new();
    roots.retain(|root| known.insert(root.path.clone()));
    roots
}
