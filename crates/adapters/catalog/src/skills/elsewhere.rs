//! Where else the clients keep skills: what the environment says, and OpenCode's own configuration.
//!
//! `skills.urls` of that configuration is not read: nothing is downloaded.

use crate::Place;
use crate::file::read_text;
use abide_formats::edit::jsonc;
use std::path::{Path, PathBuf};

/// The names of OpenCode's configuration, the later ones over the earlier.
const OPENCODE: [&str; 3] = ["config.json", "opencode.json", "opencode.jsonc"];
/// How many folders one such file may name.
const MOST_PATHS: usize = 100;

/// What the environment and OpenCode's configuration say about where skills lie.
#[derive(Debug, Clone, Default)]
pub(crate) struct Elsewhere {
    /// Claude Code's folder, where it is not `~/.claude`.
    pub(crate) claude: Option<PathBuf>,
    /// Codex's folder, where it is not `~/.codex`.
    pub(crate) codex: Option<PathBuf>,
    /// OpenCode's further configuration folder.
    pub(crate) opencode: Option<PathBuf>,
    /// Whether what the project says about OpenCode is left out.
    pub(crate) without_project: bool,
    /// The folders that OpenCode's configuration names.
    pub(crate) paths: Vec<PathBuf>,
}

impl Elsewhere {
    /// Looks at the environment and at OpenCode's configuration.
    pub(crate) fn of(place: &Place, variable: impl Fn(&str) -> Option<String>) -> Self {
        let folder = |name: &str| variable(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let is_set = |value: String| value == "1" || value.eq_ignore_ascii_case("true");
        let mut elsewhere = Self {
            claude: folder("CLAUDE_CONFIG_DIR"),
            codex: folder("CODEX_HOME"),
            opencode: folder("OPENCODE_CONFIG_DIR"),
            without_project: variable("OPENCODE_DISABLE_PROJECT_CONFIG").is_some_and(is_set),
            paths: Vec::new(),
        };
        let (own, projects) = elsewhere.files(place);
        for (file, origin) in own
            .iter()
            .map(|file| (file, Whose::Users))
            .chain(projects.iter().map(|file| (file, Whose::Projects)))
        {
            elsewhere.paths.extend(paths(place, file, origin));
        }
        elsewhere
    }

    /// Returns the files that could say something, the user's and the project's.
    pub(crate) fn files(&self, place: &Place) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let own = place.config_home.iter().map(|folder| folder.join("opencode")).chain(self.opencode.clone());
        let own = own.flat_map(|folder| OPENCODE.map(|name| folder.join(name))).collect();
        let folders = if self.without_project { Vec::new() } else { place.project_folders() };
        let of_projects = folders.into_iter().flat_map(|folder| [folder.join(".opencode"), folder]);
        let named = of_projects.flat_map(|folder| [folder.join(OPENCODE[1]), folder.join(OPENCODE[2])]);
        (own, named.collect())
    }
}

/// Whose file it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Users,
    /// It may be anybody's, and has no files read outside the project.
    Projects,
}

/// Reads the folders that a file names; a file that cannot be read is OpenCode's to complain about.
fn paths(place: &Place, file: &Path, whose: Whose) -> Vec<PathBuf> {
    if !file.is_file() {
        return Vec::new();
    }
    let Ok(text) = read_text(file) else { return Vec::new() };
    let Ok(Some(root)) = jsonc::parse(&text) else { return Vec::new() };
    let listed = root.at(&["skills", "paths"]).map_or(&[][..], jsonc::Node::items);
    let values = listed.iter().take(MOST_PATHS).map(|item| item.value.value(&text));
    let texts = values.filter_map(|value| value.as_str().map(str::to_owned));
    let leads_out = |path: &str| path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..");
    texts
        .filter(|path| !(path.is_empty() || whose == Whose::Projects && leads_out(path)))
        // As OpenCode has it: from where it was started.
        .map(|path| match (path.strip_prefix("~/"), &place.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => place.start.join(path),
        })
        .collect()
}
