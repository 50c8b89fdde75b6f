//! Ability files: which folders they lie in, what they are called, and reading them.

use crate::file::{Stamp, Unreadable, read_bytes, stamp};
use crate::listing::Summary;
use crate::walk::{Stopped, walk};
use crate::{Configuration, DEEPEST, Folder, MOST_ENTRIES, Origin, Place};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_formats::{ability, text};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROJECT: [&str; 2] = [".abide/abilities", ".opencode/abilities"];
const CONFIG_HOME: [&str; 2] = ["abide/abilities", "opencode/abilities"];

/// Returns the folders that abilities are looked for in, in order of precedence.
pub(crate) fn folders(place: &Place, configuration: &Configuration) -> Vec<Folder> {
    let mut folders = Vec::new();
    for folder in place.project_folders() {
        folders.extend(PROJECT.iter().map(|name| (folder.join(name), Origin::Project)));
    }
    if let Some(config_home) = &place.config_home {
        folders.extend(CONFIG_HOME.iter().map(|name| (config_home.join(name), Origin::Global)));
    }
    let configured = &configuration.config.abilities.directories;
    folders.extend(configured.iter().map(|folder| (place.resolve(folder), Origin::Configured)));
    // A folder that is named twice, or reached by a link, counts once, at its first place.
    let mut seen = HashSet::new();
    folders
        .into_iter()
        .filter(|(path, _)| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
        .map(|(path, origin)| Folder { exists: path.is_dir(), path, origin })
        .collect()
}

/// One file that is an ability, or should be one.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) name: Arc<str>,
    pub(crate) summary: Option<Arc<Summary>>,
    pub(crate) problems: Vec<Diagnostic>,
}

/// What is remembered of each folder, so that only changed files are read again.
#[derive(Debug, Default)]
pub(crate) struct Cache(HashMap<PathBuf, Remembered>);

/// What is remembered of one folder.
#[derive(Debug, Default)]
struct Remembered {
    files: Vec<(PathBuf, Known)>,
    /// The folders below it, itself included.
    folders: Vec<PathBuf>,
}

impl Cache {
    /// Returns every file and folder that was looked at, those that turned out to hold nothing included.
    pub(crate) fn looked_at(&self) -> impl Iterator<Item = &Path> {
        self.0.values().flat_map(|remembered| {
            let files = remembered.files.iter().map(|(path, _)| path.as_path());
            files.chain(remembered.folders.iter().map(PathBuf::as_path))
        })
    }
}

/// What is known of a file: an ability, or that it is none.
#[derive(Debug, Clone)]
struct Known {
    /// None for a file that could not be opened: it is tried again each time.
    stamp: Option<Stamp>,
    file: Option<File>,
}

/// What one folder holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) files: Vec<File>,
    pub(crate) problems: Vec<(PathBuf, Diagnostic)>,
    /// Whether there were too many files to look at all of them.
    pub(crate) too_many: bool,
}

/// Reads the abilities of one folder.
pub(crate) fn read_folder(folder: &Folder, cache: &mut Cache) -> Contents {
    let mut contents = Contents::default();
    if !folder.exists {
        if folder.origin == Origin::Configured {
            let problem =
                Diagnostic::whole_file(Code::MissingFolder, "this folder is configured and does not exist")
                    .help("create it, or take it out of `abilities.directories`");
            contents.problems.push((folder.path.clone(), problem));
        }
        return contents;
    }
    let walked = walk(&folder.path, is_candidate, is_entered);
    for (path, reason) in walked.unreadable {
        let problem =
            Diagnostic::whole_file(Code::Unreadable, format!("the folder cannot be read: {reason}"))
                .help("check its permissions: abilities in it are not found");
        contents.problems.push((path, problem));
    }
    contents.too_many = walked.stopped == Some(Stopped::Entries);
    if let Some(stopped) = walked.stopped {
        let message = match stopped {
            Stopped::Entries => {
                format!("more than {MOST_ENTRIES} files and folders; the rest is not looked at")
            }
            Stopped::Depth => format!("folders more than {DEEPEST} levels deep are not looked at"),
        };
        let problem = Diagnostic::whole_file(Code::ScanStopped, message)
            .help("keep only abilities in this folder, or name a smaller one in `abilities.directories`");
        contents.problems.push((folder.path.clone(), problem));
    }
    let before = cache.0.remove(&folder.path).unwrap_or_default();
    let before: HashMap<PathBuf, Known> = before.files.into_iter().collect();
    let unchanged = |path: &PathBuf| {
        let known = before.get(path)?;
        (known.stamp.is_some() && known.stamp == stamp(path)).then(|| known.clone())
    };
    let remembered: Vec<Option<Known>> = walked.files.iter().map(unchanged).collect();
    let both = walked.files.iter().zip(&remembered);
    let changed: Vec<&Path> =
        both.filter(|(_, known)| known.is_none()).map(|(path, _)| path.as_path()).collect();
    let mut fresh = read_files(&folder.path, &changed).into_iter();
    let mut now = Vec::with_capacity(walked.files.len());
    contents.files.reserve(walked.files.len());
    for (path, known) in walked.files.into_iter().zip(remembered) {
        if let Some(known) = known.or_else(|| fresh.next()) {
            contents.files.extend(known.file.clone());
            now.push((path, known));
        }
    }
    cache.0.insert(folder.path.clone(), Remembered { files: now, folders: walked.folders });
    contents
}

fn is_candidate(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

fn is_entered(name: &str) -> bool {
    !name.starts_with('.') && !matches!(name, "scripts" | "hooks" | "node_modules")
}

/// Below this many files a second thread costs more than it saves.
const FEW: usize = 64;

/// Reads files on as many threads as there are cores.
fn read_files(root: &Path, paths: &[&Path]) -> Vec<Known> {
    let read_all = |paths: &[&Path]| {
        let mut buffer = Vec::new();
        paths.iter().map(|path| read_file(root, path, &mut buffer)).collect::<Vec<Known>>()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    if paths.len() < FEW || threads == 1 {
        return read_all(paths);
    }
    std::thread::scope(|scope| {
        let share = paths.len().div_ceil(threads);
        let workers: Vec<_> = paths.chunks(share).map(|paths| scope.spawn(move || read_all(paths))).collect();
        // A worker that panicked has found a bug of ours: it must not pass as an empty folder.
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

fn read_file(root: &Path, path: &Path, buffer: &mut Vec<u8>) -> Known {
    let default_name = name_of(root, path);
    let broken = |problem: Diagnostic| {
        Some(File {
            path: path.to_path_buf(),
            name: default_name.as_str().into(),
            summary: None,
            problems: vec![problem],
        })
    };
    let stamp = match read_bytes(path, buffer) {
        Ok(stamp) => Some(stamp),
        Err(Unreadable::NotText(problem)) => {
            // Too large to be one: what it was meant as is told by its name, or by what it starts with.
            let start = buffer.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            let is_meant = is_named_ability(path) || ability::looks_like_one(start);
            let file = if is_meant { broken(*problem) } else { None };
            return Known { stamp: stamp(path), file };
        }
        Err(unreadable) => return Known { stamp: None, file: broken(unreadable.diagnostic()) },
    };
    let source = match text::decode(buffer) {
        Ok(source) => source,
        Err(problem) => return Known { stamp, file: broken(*problem) },
    };
    if !is_named_ability(path) && !ability::looks_like_one(source) {
        return Known { stamp, file: None };
    }
    let reading = ability::read(source, &default_name);
    let name = reading.ability.as_ref().map_or(default_name.as_str(), |ability| ability.name.as_str());
    let file = File {
        path: path.to_path_buf(),
        name: name.into(),
        summary: reading.ability.as_ref().map(|ability| Arc::new(Summary::of(ability))),
        problems: reading.problems,
    };
    Known { stamp, file: Some(file) }
}

fn is_named_ability(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "ability")
}

/// Returns the name that a file's place gives it: `deploy/production/ability.yaml` is `deploy/production`.
fn name_of(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let named = if is_named_ability(path) {
        relative.parent().unwrap_or(relative).to_path_buf()
    } else {
        relative.with_extension("")
    };
    named.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}
