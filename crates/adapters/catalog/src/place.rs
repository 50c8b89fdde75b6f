//! Where a command was started, and which folders that makes it look at.

use std::path::{Path, PathBuf};

/// Where a command was started, and whose settings apply.
#[derive(Debug, Clone)]
pub struct Place {
    /// The folder in which the command was started.
    pub start: PathBuf,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The user's configuration folder (`$XDG_CONFIG_HOME`, else `~/.config`).
    pub config_home: Option<PathBuf>,
}

/// Whose folder a definition was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The project's.
    Project,
    /// The user's.
    Global,
    /// Named in the configuration.
    Configured,
}

impl Origin {
    /// Returns the word that listings use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Global => "global",
            Self::Configured => "configured",
        }
    }
}

/// How many folders are walked up; deeper ones do not occur outside of attacks.
const MOST_ANCESTORS: usize = 64;

/// What a folder of a project has that says something to abide or to a client.
const HOLDERS: [&str; 5] = [".abide", ".opencode", ".claude", ".codex", ".agents"];

impl Place {
    /// Returns the folders from the start up to the repository's root, nearest first.
    ///
    /// Outside a repository only the start itself counts: a folder further up, such as a shared temporary
    /// one, may belong to somebody else.
    pub fn project_folders(&self) -> Vec<PathBuf> {
        let folders: Vec<PathBuf> =
            self.start.ancestors().take(MOST_ANCESTORS).map(Path::to_path_buf).collect();
        match folders.iter().position(|folder| folder.join(".git").exists()) {
            Some(root) => folders[..=root].to_vec(),
            None => vec![self.start.clone()],
        }
    }

    /// Returns the project's root: the repository's, else where the command was started.
    pub fn root(&self) -> PathBuf {
        self.project_folders().pop().unwrap_or_else(|| self.start.clone())
    }

    /// Returns the folder from which on the same definitions and settings apply as from the start: the nearest one that has
    /// some or `was_holder`, else the root.
    pub fn anchor(&self, was_holder: impl Fn(&Path) -> bool) -> PathBuf {
        let mut folders = self.project_folders();
        let is_holder =
            |folder: &PathBuf| HOLDERS.iter().any(|name| folder.join(name).exists()) || was_holder(folder);
        match folders.iter().position(is_holder) {
            Some(nearest) => folders.swap_remove(nearest),
            None => folders.pop().unwrap_or_else(|| self.start.clone()),
        }
    }

    /// Resolves a folder that the configuration names: `~/` is the home folder, the rest is relative to the
    /// project's root.
    pub fn resolve(&self, folder: &str) -> PathBuf {
        match (folder.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.root().join(folder),
        }
    }

    /// Returns a path as messages show it: short where it can be.
    pub fn shown(&self, path: &Path) -> String {
        if let Ok(short) = path.strip_prefix(&self.start) {
            return short.display().to_string();
        }
        if let Some(home) = &self.home
            && let Ok(short) = path.strip_prefix(home)
        {
            return format!("~/{}", short.display());
        }
        path.display().to_string()
    }
}
