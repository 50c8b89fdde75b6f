//! Capabilities that users wrote, wherever they lie, and whether they may run.

use crate::file::read_text;
use crate::trust::{digest, place_of};
use crate::walk::walk;
use crate::{Origin, Place, Trust, TrustKind};
use abide_core::definition::{Bundle, ToolAction};
use abide_core::diagnostic::Diagnostic;
use abide_formats::bundle;
use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One capability file.
#[derive(Debug)]
pub struct BundleEntry {
    /// The id; for a file that could not be read, the one that its place gives it.
    pub id: Arc<str>,
    /// The file.
    pub path: PathBuf,
    /// The file as messages show it.
    pub shown: Arc<str>,
    /// Whose folder it was found in.
    pub origin: Origin,
    /// Where its tools run.
    pub root: PathBuf,
    /// The capability, if it could be read without an error.
    pub bundle: Option<Bundle>,
    /// Everything that is wrong with the file.
    pub problems: Vec<Diagnostic>,
    /// The file that wins over it.
    pub shadowed_by: Option<Arc<str>>,
    /// The digest of all that a user would trust; nothing when it cannot be told.
    pub digest: Option<String>,
}

impl BundleEntry {
    /// Returns how it is named in the user's trust.
    pub fn trusted_as(&self) -> String {
        place_of(&self.path)
    }

    /// Tells whether its tools may run: the user's own always, a project's when its content is trusted.
    pub fn may_run(&self, trust: Option<&Trust>) -> bool {
        self.origin == Origin::Global
            || matches!((trust, &self.digest), (Some(trust), Some(digest))
                if trust.holds(TrustKind::Capability, &self.trusted_as(), digest))
    }
}

/// Where capabilities lie, below each folder of the project and in the user's configuration.
const PROJECT: &str = ".abide/capabilities";
const CONFIG_HOME: &str = "abide/capabilities";

/// What a capability's folder may hold that is part of what is trusted.
const MOST_FILES: usize = 1_000;
const MOST_BYTES: u64 = 32 << 20;

/// Returns the folders that capabilities are looked for in, in order of precedence.
pub(crate) fn folders(place: &Place) -> Vec<(PathBuf, Origin)> {
    let project = place.project_folders().into_iter().map(|folder| (folder.join(PROJECT), Origin::Project));
    let own = place.config_home.as_ref().map(|folder| (folder.join(CONFIG_HOME), Origin::Global));
    project.chain(own).collect()
}

/// Returns every capability file, the one that wins first.
pub(crate) fn bundles(place: &Place) -> Vec<BundleEntry> {
    let mut found: Vec<BundleEntry> = Vec::new();
    let mut winners: HashMap<Arc<str>, Arc<str>> = HashMap::new();
    for (folder, origin) in folders(place).into_iter().filter(|(folder, _)| folder.is_dir()) {
        let root = match origin {
            Origin::Project => folder.ancestors().nth(2).map_or_else(|| place.root(), Path::to_path_buf),
            _ => place.root(),
        };
        for path in files(&folder) {
            let stem = stem(&path);
            let shown: Arc<str> = place.shown(&path).into();
            let (bundle, problems, digest) = match read_text(&path) {
                Ok(text) => {
                    let reading = bundle::read(&text, &stem);
                    let broken = reading.problems.iter().any(Diagnostic::is_error);
                    let bundle = reading.bundle.filter(|_| !broken);
                    let digest = bundle.as_ref().and_then(|bundle| digest_of(&text, bundle, &path, &root));
                    (bundle, reading.problems, digest)
                }
                Err(unreadable) => (None, vec![unreadable.diagnostic()], None),
            };
            let id: Arc<str> = bundle.as_ref().map_or(&*stem, |bundle| bundle.id.as_str()).into();
            let shadowed_by = winners.get(&id).cloned();
            winners.entry(Arc::clone(&id)).or_insert_with(|| Arc::clone(&shown));
            let root = root.clone();
            found.push(BundleEntry { id, path, shown, origin, root, bundle, problems, shadowed_by, digest });
        }
    }
    found
}

/// Returns what is looked at below a folder of capabilities.
pub(crate) fn looked_at(folder: &Path) -> Vec<PathBuf> {
    if folder.is_dir() { files(folder) } else { Vec::new() }
}

/// `NAME.yaml`, and `NAME/capability.yaml` for one with a folder of its own.
fn files(folder: &Path) -> Vec<PathBuf> {
    let wanted = |name: &str| {
        name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).is_some_and(|stem| !stem.is_empty())
    };
    let mut files = walk(folder, wanted, |name| !name.starts_with('.')).files;
    files.retain(|path| {
        let depth = path.strip_prefix(folder).map_or(0, |path| path.components().count());
        depth == 1 || (depth == 2 && path.file_stem().is_some_and(|stem| stem == "capability"))
    });
    files.sort();
    files
}

fn stem(path: &Path) -> String {
    let named = |path: &Path| path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    match own_folder(path) {
        Some(folder) => folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned(),
        None => named(path),
    }
}

/// Returns the folder that belongs to the capability alone.
fn own_folder(path: &Path) -> Option<&Path> {
    let own = path.file_stem().is_some_and(|stem| stem == "capability")
        && path.parent().and_then(Path::file_name).is_some_and(|name| name != "capabilities");
    path.parent().filter(|_| own)
}

/// Returns the digest of a capability as it lies there now: of the file, and of the scripts that belong to it.
///
/// Nothing when it cannot be told, which is as good as a change.
pub fn bundle_digest(path: &Path, root: &Path) -> Option<String> {
    let text = read_text(path).ok()?;
    let bundle = bundle::read(&text, &stem(path)).bundle?;
    digest_of(&text, &bundle, path, root)
}

fn digest_of(text: &str, bundle: &Bundle, path: &Path, root: &Path) -> Option<String> {
    let mut files: Vec<PathBuf> = match own_folder(path) {
        Some(folder) => {
            let walked = walk(folder, |_| true, |_| true);
            if walked.stopped.is_some() || !walked.unreadable.is_empty() {
                return None;
            }
            walked.files
        }
        None => Vec::new(),
    };
    let folder = path.parent()?;
    for word in bundle.tools.iter().flat_map(|tool| words(&tool.action)) {
        for base in [folder, root] {
            let named = base.join(&word);
            if named.is_file() {
                files.push(named);
            }
        }
    }
    files.sort();
    files.dedup();
    if files.len() > MOST_FILES {
        return None;
    }
    let mut parts: Vec<Vec<u8>> = vec![text.as_bytes().to_vec()];
    let mut left = MOST_BYTES;
    for file in files {
        let mut bytes = Vec::new();
        let taken = std::fs::File::open(&file).ok()?.take(left + 1).read_to_end(&mut bytes).ok()?;
        left = left.checked_sub(taken as u64)?;
        parts.push(file.as_os_str().as_encoded_bytes().to_vec());
        parts.push(bytes);
    }
    Some(digest(parts.iter().map(Vec::as_slice)))
}

/// Returns the words of an action that could name a file.
fn words(action: &ToolAction) -> Vec<String> {
    let texts: Vec<&str> = match action {
        ToolAction::Command(words) => words.iter().map(|word| word.text()).collect(),
        ToolAction::Run { script, .. } => script
            .text()
            .split(|character: char| character.is_whitespace() || "\"'();|&<>`".contains(character))
            .collect(),
    };
    texts
        .into_iter()
        .map(|word| {
            let own = ["$ABIDE_CAPABILITY_DIR/", "${ABIDE_CAPABILITY_DIR}/"];
            own.iter().find_map(|prefix| word.strip_prefix(prefix)).unwrap_or(word).to_owned()
        })
        .filter(|word| !word.is_empty() && word.len() < 4096)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn place(folder: &Path) -> Place {
        Place { start: folder.into(), home: None, config_home: Some(folder.join("config")) }
    }

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    const TOOL: &str = "description: x\ntools:\n  - { name: t, description: t, command: [./t.sh] }\n";

    #[test]
    fn capabilities_are_found_and_the_projects_win() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), ".abide/capabilities/a.yaml", TOOL);
        write(folder.path(), ".abide/capabilities/b/capability.yaml", TOOL);
        write(folder.path(), ".abide/capabilities/b/data.yaml", "not one");
        write(folder.path(), "config/abide/capabilities/a.yml", TOOL);
        write(folder.path(), "config/abide/capabilities/broken.yaml", "tools: 3");
        let found = bundles(&place(folder.path()));
        let told: Vec<String> = found
            .iter()
            .map(|entry| {
                let state = match (&entry.shadowed_by, &entry.bundle) {
                    (Some(_), _) => "shadowed",
                    (None, Some(_)) => "usable",
                    (None, None) => "broken",
                };
                format!("{} {} {state} {}", entry.id, entry.origin.word(), entry.may_run(None))
            })
            .collect();
        assert_eq!(
            told,
            [
                "a project usable false",
                "b project usable false",
                "a global shadowed true",
                "broken global broken true"
            ]
        );
    }

    #[test]
    fn a_project_runs_nothing_until_it_is_trusted_and_asks_again_after_every_change() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), ".abide/capabilities/a.yaml", TOOL);
        write(folder.path(), ".abide/capabilities/t.sh", "echo 1\n");
        write(folder.path(), ".abide/capabilities/b/capability.yaml", TOOL);
        write(folder.path(), ".abide/capabilities/b/deep/data", "1");
        let place = place(folder.path());
        let trust = Trust::of(&place).unwrap();
        let look = || {
            let found = bundles(&place);
            (found[0].may_run(Some(&trust)), found[1].may_run(Some(&trust)))
        };
        assert_eq!(look(), (false, false));
        for entry in bundles(&place) {
            let digest = entry.digest.as_ref().unwrap();
            assert_eq!(bundle_digest(&entry.path, &entry.root).as_ref(), Some(digest));
            trust.trust(TrustKind::Capability, &entry.trusted_as(), digest).unwrap();
        }
        assert_eq!(look(), (true, true));
        // The script that a flat file names, and everything in a folder of its own, is part of it.
        write(folder.path(), ".abide/capabilities/t.sh", "echo 2\n");
        assert_eq!(look(), (false, true));
        write(folder.path(), ".abide/capabilities/t.sh", "echo 1\n");
        write(folder.path(), ".abide/capabilities/b/deep/new", "2");
        assert_eq!(look(), (true, false));
        // A file that did not exist where the tool would look counts too.
        write(folder.path(), "t.sh", "echo other\n");
        assert_eq!(look(), (false, false));
    }
}
