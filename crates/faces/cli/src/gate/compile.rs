//! A project's definitions, as far as the gate must know them.

use abide_catalog::{Catalog, Configuration, Entry, Listing, Place, Status};
use abide_core::definition::Enforcement;
use abide_core::policy::Standing;
use abide_gate::index::{Compiled, GuardedPath, GuardedRole, Index, ReservedCall, Restricted};
use abide_gate::triggers::{Suggestible, TriggerIndex};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// What tells clients to ask the gate, below a project.
const PROJECT_SETTINGS: [&str; 8] = [
    ".claude",
    ".mcp.json",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".codex",
    ".abide/config.yaml",
    ".abide/agents",
];
/// The same, below the user's home.
const HOME_SETTINGS: [&str; 3] = [".claude", ".claude.json", ".codex"];

/// What becomes of a reservation that no definition makes any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// It holds: git, a shell or an edit can take a definition away, and with it what it protects.
    AsItWas,
    /// A human lets it go.
    LetGo,
}

/// Reads every definition of a place; `before` is what was compiled the last time, and what becomes of it.
pub(super) fn compile(
    place: &Place,
    configuration: Configuration,
    version: &str,
    (before, kept): (Option<&Index>, Kept),
) -> Compiled {
    let level = configuration.config.abilities.enforcement.as_ref().map(|level| level.value);
    let start = configuration.config.abilities.auto_trigger.as_ref().is_some_and(|flag| flag.value);
    let configured: Vec<(String, Vec<String>)> = configuration
        .config
        .agents
        .iter()
        .filter_map(|(name, settings)| {
            let abilities = settings.abilities.as_ref()?;
            Some((name.to_string(), abilities.iter().map(|ability| ability.to_string()).collect()))
        })
        .collect();
    let mut catalog = Catalog::open(place.clone(), configuration);
    let listing = catalog.scan();
    let mut index = Index {
        version: version.to_owned(),
        level: level.map(Enforcement::word).map(str::to_owned),
        agents: configured,
        ..Index::default()
    };
    // One that lost its name to another still protects what it did: that other one may be an agent's.
    for entry in &listing.abilities {
        let known = index.reserved.len();
        reserve(entry, before, &mut index.reserved);
        let reserves = index.reserved.len() > known;
        if let Some(summary) =
            entry.summary.as_ref().filter(|summary| entry.shadowed_by.is_none() && !summary.agents.is_empty())
        {
            let agents = summary.agents.iter().map(ToString::to_string).collect();
            index.restricted.push(Restricted { ability: entry.name.to_string(), agents });
        }
        // Scripts and hooks lie beside an `ability.yaml`.
        let path = entry.folder().map_or_else(|| entry.path.clone(), Path::to_path_buf);
        let role = if reserves { GuardedRole::Reservation } else { GuardedRole::Definition };
        index.guarded.push(GuardedPath { path, role });
    }
    if let (Some(before), Kept::AsItWas) = (before, kept) {
        keep(before, &mut index);
    }
    index.stopped = stopped(&listing);
    for agent in catalog.agents() {
        let known = index.agents.iter().any(|(name, _)| *name == *agent.name);
        let abilities = agent.profile.and_then(|profile| profile.abilities);
        if let Some(abilities) = abilities.filter(|_| !known) {
            let abilities = abilities.iter().map(|ability| ability.to_string()).collect();
            index.agents.push((agent.name.to_string(), abilities));
        }
    }
    index.guarded.extend(settings(place));
    let abilities = listing.abilities.iter().filter_map(suggestible).collect();
    Compiled { sources: catalog.sources(&listing), triggers: TriggerIndex { start, abilities }, index }
}

/// How much of a description is kept, in characters.
const LONGEST_DESCRIPTION: usize = 200;

/// Returns what suggests an ability: only one that could be started is suggested.
fn suggestible(entry: &Entry) -> Option<Suggestible> {
    let summary = entry.summary.as_ref().filter(|_| entry.status() == Status::Usable)?;
    let triggers = &summary.triggers;
    if triggers.keywords.is_empty() && triggers.patterns.is_empty() {
        return None;
    }
    let description = summary.description.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Suggestible {
        ability: entry.name.to_string(),
        description: description.chars().take(LONGEST_DESCRIPTION).collect(),
        keywords: triggers.keywords.iter().map(|keyword| keyword.value.clone()).collect(),
        patterns: triggers.patterns.iter().map(|pattern| pattern.as_str().to_owned()).collect(),
    })
}

/// Adds what an ability reserves. One that cannot be read now reserves what it did before: breaking a file must not
/// free what it protects.
fn reserve(entry: &Entry, before: Option<&Index>, reserved: &mut Vec<ReservedCall>) {
    match &entry.summary {
        Some(summary) => reserved.extend(summary.protects.iter().map(|protect| ReservedCall {
            ability: entry.name.to_string(),
            pattern: protect.to_string(),
            file: entry.path.clone(),
            root: entry.root.clone(),
            standing: if entry.shadowed_by.is_none() { Standing::Current } else { Standing::Replaced },
        })),
        None => {
            let before = before.into_iter().flat_map(|index| &index.reserved);
            reserved.extend(before.filter(|call| call.file == entry.path).cloned());
        }
    }
}

/// Keeps what was reserved before and is not any more.
fn keep(before: &Index, index: &mut Index) {
    let now: HashSet<(&Path, &str)> =
        index.reserved.iter().map(|call| (call.file.as_path(), call.pattern.as_str())).collect();
    let gone: Vec<ReservedCall> = before
        .reserved
        .iter()
        .filter(|call| !now.contains(&(call.file.as_path(), call.pattern.as_str())))
        .map(|call| ReservedCall { standing: Standing::Gone, ..call.clone() })
        .collect();
    // Nor may another definition be put in its place.
    let files: BTreeSet<&PathBuf> = gone.iter().map(|call| &call.file).collect();
    let guarded = |path: &PathBuf| GuardedPath { path: path.clone(), role: GuardedRole::Reservation };
    index.guarded.extend(files.into_iter().map(guarded));
    index.reserved.extend(gone);
}

/// Returns why not every definition was looked at, if so.
fn stopped(listing: &Listing) -> Option<String> {
    let found = listing.abilities_stopped.first()?;
    Some(format!("there are too many files to tell what is protected in {}", found.display()))
}

fn settings(place: &Place) -> Vec<GuardedPath> {
    let mut paths: Vec<(PathBuf, GuardedRole)> = Vec::new();
    for folder in place.project_folders() {
        paths.extend(PROJECT_SETTINGS.iter().map(|name| (folder.join(name), GuardedRole::Settings)));
        paths.push((folder.join(".abide/state"), GuardedRole::State));
        // Whoever could change the lock could change a skill unseen.
        paths.push((folder.join(".abide/skills.lock"), GuardedRole::State));
        // Those of other clients lie in the folders of their settings.
        let skills = [".abide/skills", ".agents/skills"];
        paths.extend(skills.iter().map(|name| (folder.join(name), GuardedRole::Skill)));
    }
    if let Some(home) = &place.home {
        paths.extend(HOME_SETTINGS.iter().map(|name| (home.join(name), GuardedRole::Settings)));
    }
    if let Some(config) = &place.config_home {
        paths.push((config.join("opencode"), GuardedRole::Settings));
        paths.push((config.join("abide"), GuardedRole::Settings));
        // Whoever trusts for the user runs what the user has not looked at, in every project.
        paths.push((config.join("abide/trust"), GuardedRole::State));
    }
    paths.into_iter().map(|(path, role)| GuardedPath { path, role }).collect()
}
