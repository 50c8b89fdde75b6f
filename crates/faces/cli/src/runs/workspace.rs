//! What lies around a run on this machine: the catalog, the disk, and the sources of secrets.
#![expect(clippy::disallowed_methods, reason = "files beside an ability are looked at here")]

use crate::session::Session;
use abide_catalog::{Catalog, Configuration, Found, Place, Status};
use abide_core::definition::SecretSource;
use abide_core::event::{HookKey, HookPhase};
use abide_engine::port::{
    Definition, Ending, FoundTexts, Line, Process as _, Signal, Spec, Stream, Workspace, WorkspaceError,
};
use abide_process::LocalProcess;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The largest file that is pinned by its digest.
const LARGEST: u64 = 64 << 20;
/// How long a command may take that yields a secret.
const SECRET_COMMAND: u64 = 30_000;

/// The workspace of this machine.
pub(crate) struct LocalWorkspace {
    place: Place,
    configuration: Configuration,
    variables: Vec<(String, String)>,
    process: Arc<LocalProcess>,
}

impl LocalWorkspace {
    pub(crate) fn new(session: &Session<'_>, process: Arc<LocalProcess>) -> Self {
        Self {
            place: session.place.clone(),
            configuration: session.configuration(),
            variables: session.surroundings.variables.clone(),
            process,
        }
    }

    /// Reads a secret from its source; `what` says in messages which one it is.
    pub(crate) async fn secret_from(
        &self,
        what: &str,
        source: &SecretSource,
    ) -> Result<String, WorkspaceError> {
        match source {
            SecretSource::Env(variable) => self.secret_of_variable(what, variable),
            SecretSource::File(file) => self.secret_of_file(what, file),
            SecretSource::Command(command) => self.secret_of_command(what, command).await,
        }
    }

    fn secret_of_variable(&self, what: &str, variable: &str) -> Result<String, WorkspaceError> {
        let found = self.variables.iter().find(|(known, _)| known == variable);
        found.map(|(_, value)| value.clone()).ok_or_else(|| {
            wrong(format!("{what} comes from the environment variable {variable}, which is not set"))
        })
    }

    fn secret_of_file(&self, what: &str, file: &str) -> Result<String, WorkspaceError> {
        let path = self.place.resolve(file);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| wrong(format!("{what} comes from {}: {error}", path.display())))?;
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }

    fn source_of(&self, name: &str) -> Option<&SecretSource> {
        let sources = &self.configuration.config.secrets;
        sources.iter().find(|(known, _)| known.as_str() == name).map(|(_, source)| &source.value)
    }

    async fn secret_of_command(&self, what: &str, command: &str) -> Result<String, WorkspaceError> {
        let output = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&output);
        let sink = move |line: Line| {
            if line.stream == Stream::Stdout
                && let Ok(mut kept) = kept.lock()
            {
                let room = 65_536_usize.saturating_sub(kept.len());
                kept.extend(line.bytes.iter().take(room));
            }
            std::future::ready(())
        };
        let spec = Spec {
            program: "sh".to_owned(),
            arguments: vec!["-c".to_owned(), command.to_owned()],
            folder: self.place.root(),
            variables: Vec::new(),
            without: Vec::new(),
            longest: Some(SECRET_COMMAND),
            mark: format!("secret/{}/{}", what.replace(' ', "-"), std::process::id()),
        };
        match self.process.run(spec, std::future::pending::<Signal>, sink).await {
            Ok(Ending::Exited(0)) => {
                let bytes = output.lock().map(|kept| kept.clone()).unwrap_or_default();
                let text = String::from_utf8(bytes)
                    .map_err(|_| wrong(format!("the command of {what} does not print text")))?;
                Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
            }
            // What it printed may be half of a secret: it is not shown.
            Ok(_) => Err(wrong(format!("the command of {what} failed"))),
            Err(error) => Err(wrong(format!("{what}: {error}"))),
        }
    }
}

fn wrong(message: String) -> WorkspaceError {
    WorkspaceError { message, help: None }
}

impl Workspace for LocalWorkspace {
    fn ability(&self, name: &str) -> Result<Definition, WorkspaceError> {
        let mut catalog = Catalog::open(self.place.clone(), self.configuration.clone());
        let listing = catalog.scan();
        let entry = match listing.find(name) {
            Found::Ability(entry) => entry,
            Found::Nothing { nearest } => {
                let help = match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => "`abide list` shows every ability by its name".to_owned(),
                };
                return Err(WorkspaceError {
                    message: format!("no ability is called `{name}`"),
                    help: Some(help),
                });
            }
        };
        if entry.status() != Status::Usable {
            return Err(WorkspaceError {
                message: format!("the ability `{name}` has errors"),
                help: Some(format!("`abide validate {name}` shows them")),
            });
        }
        let (source, _) = catalog.load(entry).map_err(|error| wrong(error.to_string()))?;
        let hooks = entry.hooks();
        let key = |phase, path: &Path| {
            let file = path.file_name()?.to_str()?;
            Some(HookKey { phase, file: file.into() })
        };
        let before = hooks.before.iter().filter_map(|path| key(HookPhase::Before, path));
        let after = hooks.after.iter().filter_map(|path| key(HookPhase::After, path));
        let keys: Vec<HookKey> = before.chain(after).collect();
        let beside = hooks.before.iter().chain(&hooks.context).chain(&hooks.after);
        let mut pinned: Vec<PathBuf> = beside.cloned().collect();
        if let Some(folder) = entry.folder() {
            pinned.extend(files_below(&folder.join("scripts")));
        }
        let files =
            pinned.iter().filter_map(|path| Some((path.display().to_string(), self.digest(path)?))).collect();
        Ok(Definition {
            name: entry.name.to_string(),
            source,
            folder: entry.folder().map(Path::to_path_buf),
            root: entry.root.clone(),
            files,
            hooks: keys,
        })
    }

    async fn secret(&self, name: &str) -> Result<String, WorkspaceError> {
        match self.source_of(name) {
            None => Err(wrong(format!("the secret `{name}` has no source"))),
            Some(source) => self.secret_from(&format!("the secret `{name}`"), source).await,
        }
    }

    fn secret_at_hand(&self, name: &str) -> Option<String> {
        match self.source_of(name)? {
            SecretSource::Env(variable) => self.secret_of_variable(name, variable).ok(),
            SecretSource::File(file) => self.secret_of_file(name, file).ok(),
            SecretSource::Command(_) => None,
        }
    }

    fn secret_variables(&self) -> Vec<String> {
        self.configuration.config.secret_variables().map(str::to_owned).collect()
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
        let metadata = std::fs::metadata(path)
            .ok()
            .filter(|metadata| metadata.is_file() && metadata.len() <= LARGEST)?;
        let bytes =
            std::fs::read(path).ok().filter(|bytes| bytes.len() as u64 <= metadata.len().max(1) * 2)?;
        Some(Sha256::digest(bytes).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}")))
    }
}

/// How many scripts beside an ability are pinned.
const MOST_FILES: usize = 1_000;

/// Returns the files of a folder and of the folders in it, sorted.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < 8 => folders.push((entry.path(), depth + 1)),
                Ok(kind) if kind.is_file() && files.len() < MOST_FILES => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort_unstable();
    files
}
