//! A project in a temporary folder, and the workspace that it is to a run.
#![expect(clippy::disallowed_methods, reason = "a case runs in a copy of its folder")]

use super::Case;
use abide_catalog::{Catalog, Configuration, Found, Place, Status};
use abide_core::event::{HookKey, HookPhase};
use abide_engine::port::{Definition, FoundTexts, Workspace, WorkspaceError};
use sha2::{Digest as _, Sha256};
use std::io;
use std::path::{Path, PathBuf};

/// A project of its own with the abilities of one case; it is gone when this is dropped.
#[derive(Debug)]
pub struct Project {
    folder: tempfile::TempDir,
    ability: PathBuf,
}

impl Project {
    /// Copies a case into a new project, as the ability `.abide/abilities/<rule>/`, and its `project/` as the project.
    pub fn of(case: &Case) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let ability = folder.path().join(".abide/abilities").join(case.ability());
        copy(&case.folder, &ability)?;
        std::fs::remove_file(ability.join("case.yaml"))?;
        let around = ability.join("project");
        if around.is_dir() {
            copy(&around, folder.path())?;
            std::fs::remove_dir_all(around)?;
        }
        if !case.secrets.is_empty() {
            // Where the values come from is the workspace's; that there is a source is checked before a run.
            let sources: Vec<String> =
                case.secrets.iter().map(|(name, _)| format!("  {name}: {{ env: CASE }}\n")).collect();
            let text = format!("secrets:\n{}", sources.concat());
            std::fs::write(folder.path().join(".abide/config.yaml"), text)?;
        }
        Ok(Self { folder, ability })
    }

    /// Returns its root, where scripts run.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Changes a file beside the ability.
    pub fn write(&self, file: &str, text: &str) -> io::Result<()> {
        std::fs::write(self.ability.join(file), text)
    }

    /// Returns the text of a file of the project, or nothing if it is not there.
    pub fn read(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.root().join(file)).ok()
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// What lies around a run in a [`Project`]: the real catalog, the disk, and secrets that the case gives.
#[derive(Debug)]
pub struct FolderWorkspace {
    place: Place,
    secrets: Vec<(String, String)>,
}

impl FolderWorkspace {
    /// Returns the workspace of a project; nobody's home is looked at.
    pub fn new(root: &Path, secrets: Vec<(String, String)>) -> Self {
        Self { place: Place { start: root.to_path_buf(), home: None, config_home: None }, secrets }
    }
}

impl Workspace for FolderWorkspace {
    fn ability(&self, name: &str) -> Result<Definition, WorkspaceError> {
        let wrong = |message: String| WorkspaceError { message, help: None };
        let mut catalog = Catalog::open(self.place.clone(), Configuration::load(&self.place, |_: &str| None));
        let listing = catalog.scan();
        let Found::Ability(entry) = listing.find(name) else {
            return Err(wrong(format!("no ability is called `{name}`")));
        };
        if entry.status() != Status::Usable {
            let problems: Vec<String> = entry
                .problems
                .iter()
                .filter(|problem| problem.is_error())
                .map(|problem| problem.message.clone())
                .collect();
            return Err(wrong(format!("the ability `{name}` has errors: {}", problems.join("; "))));
        }
        let (source, _) = catalog.load(entry).map_err(|error| wrong(error.to_string()))?;
        let hooks = entry.hooks();
        let key = |phase, path: &Path| {
            let file = path.file_name()?.to_str()?;
            Some(HookKey { phase, file: file.into() })
        };
        let before = hooks.before.iter().filter_map(|path| key(HookPhase::Before, path));
        let after = hooks.after.iter().filter_map(|path| key(HookPhase::After, path));
        let keys = before.chain(after).collect();
        let beside = hooks.before.iter().chain(&hooks.context).chain(&hooks.after);
        let mut pinned: Vec<PathBuf> = beside.cloned().collect();
        if let Some(folder) = entry.folder() {
            let scripts = std::fs::read_dir(folder.join("scripts")).into_iter().flatten();
            pinned.extend(scripts.filter_map(Result::ok).map(|entry| entry.path()));
        }
        let pin = |path: &PathBuf| Some((path.display().to_string(), self.digest(path)?));
        Ok(Definition {
            name: entry.name.to_string(),
            source,
            folder: entry.folder().map(Path::to_path_buf),
            root: entry.root.clone(),
            files: pinned.iter().filter_map(pin).collect(),
            hooks: keys,
        })
    }

    async fn secret(&self, name: &str) -> Result<String, WorkspaceError> {
        let found = self.secrets.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).ok_or_else(|| WorkspaceError {
            message: format!("the secret `{name}` has no source"),
            help: None,
        })
    }

    fn secret_at_hand(&self, name: &str) -> Option<String> {
        self.secrets.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn secret_variables(&self) -> Vec<String> {
        Vec::new()
    }

    fn exists(&self, root: &Path, path: &str) -> bool {
        let found = root.join(path);
        if path.ends_with('/') { found.is_dir() } else { found.exists() }
    }

    fn texts(&self, root: &Path, pattern: &str) -> Result<FoundTexts, WorkspaceError> {
        let found = abide_catalog::texts(root, pattern)
            .map_err(|problem| WorkspaceError { message: format!("`context`: {problem}"), help: None })?;
        Ok(FoundTexts { files: found.files, left_out: found.left_out })
    }

    fn digest(&self, path: &Path) -> Option<String> {
        let bytes = std::fs::read(path).ok()?;
        Some(Sha256::digest(bytes).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")))
    }
}
