//! The twin of a workspace: abilities, files and secrets as texts.

use abide_core::event::HookKey;
use abide_engine::port::{Definition, FoundTexts, Workspace, WorkspaceError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A project in memory; its root is `/project`.
#[derive(Debug, Default)]
pub struct MemoryWorkspace {
    abilities: BTreeMap<String, (String, Vec<HookKey>)>,
    secrets: BTreeMap<String, String>,
    files: Mutex<BTreeSet<PathBuf>>,
}

impl MemoryWorkspace {
    /// Adds an ability with its hooks.
    #[must_use]
    pub fn with(mut self, name: &str, source: String, hooks: Vec<HookKey>) -> Self {
        self.abilities.insert(name.to_owned(), (source, hooks));
        self
    }

    /// Adds a secret.
    #[must_use]
    pub fn with_secret(mut self, name: &str, value: &str) -> Self {
        self.secrets.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Makes a file.
    pub fn touch(&self, path: &Path) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf());
    }
}

impl Workspace for MemoryWorkspace {
    fn ability(&self, name: &str) -> Result<Definition, WorkspaceError> {
        let found = self.abilities.get(name);
        let (source, hooks) = found.ok_or_else(|| WorkspaceError {
            message: format!("no ability is called `{name}`"),
            help: None,
        })?;
        Ok(Definition {
            name: name.to_owned(),
            source: source.clone(),
            folder: Some(Path::new("/project/.abide/abilities").join(name)),
            root: PathBuf::from("/project"),
            files: Vec::new(),
            hooks: hooks.clone(),
        })
    }

    async fn secret(&self, name: &str) -> Result<String, WorkspaceError> {
        self.secrets.get(name).cloned().ok_or_else(|| WorkspaceError {
            message: format!("the secret `{name}` has no source"),
            help: None,
        })
    }

    fn secret_at_hand(&self, name: &str) -> Option<String> {
        self.secrets.get(name).cloned()
    }

    fn secret_variables(&self) -> Vec<String> {
        Vec::new()
    }

    fn exists(&self, root: &Path, path: &str) -> bool {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).contains(&root.join(path))
    }

    fn texts(&self, _root: &Path, _pattern: &str) -> Result<FoundTexts, WorkspaceError> {
        Ok(FoundTexts { files: Vec::new(), left_out: 0 })
    }

    fn digest(&self, path: &Path) -> Option<String> {
        self.exists(Path::new("/"), &path.display().to_string()).then(|| "unchanged".to_owned())
    }
}
