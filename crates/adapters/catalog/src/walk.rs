//! Walking a folder of definitions: bounded, sorted, and safe from links that lead in circles.

use std::collections::HashSet;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

/// How deep below its root a folder is walked.
pub const DEEPEST: usize = 8;
/// How many folders and candidate files of one root are looked at; files with other names cost nothing.
pub const MOST_ENTRIES: usize = 20_000;
/// How many names of one folder are read at all.
const MOST_NAMES: usize = 1_000_000;

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// The candidates, in the order of their paths.
    pub(crate) files: Vec<PathBuf>,
    /// Folders that could not be read, with the reason.
    pub(crate) unreadable: Vec<(PathBuf, String)>,
    /// Why the walk ended early, if it did.
    pub(crate) stopped: Option<Stopped>,
}

/// A bound that ended a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// More than [`MOST_ENTRIES`].
    Entries,
    /// Deeper than [`DEEPEST`].
    Depth,
}

/// Returns the regular files below `root` whose name `wanted` accepts, entering folders that `entered` accepts.
pub(crate) fn walk(root: &Path, wanted: impl Fn(&str) -> bool, entered: impl Fn(&str) -> bool) -> Walked {
    let mut walked = Walked::default();
    let mut visited = HashSet::new();
    let mut entries = 0_usize;
    let mut folders = vec![(root.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        // A folder that was reached before, by a link or another way, is not walked again.
        match fs::metadata(&folder) {
            Ok(metadata) if visited.insert(identity(&metadata)) => {}
            Ok(_) => continue,
            Err(error) => {
                walked.unreadable.push((folder, error.to_string()));
                continue;
            }
        }
        let names = match fs::read_dir(&folder) {
            Ok(names) => names,
            Err(error) => {
                walked.unreadable.push((folder, error.to_string()));
                continue;
            }
        };
        let mut below = Vec::new();
        for entry in names.take(MOST_NAMES).filter_map(Result::ok) {
            let name = entry.file_name();
            // A name that is not UTF-8 cannot name a definition.
            let Some(name) = name.to_str() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            match kind_of(kind, &entry.path()) {
                Kind::Folder if entered(name) => {
                    entries += 1;
                    if depth < DEEPEST {
                        below.push(entry.path());
                    } else {
                        walked.stopped.get_or_insert(Stopped::Depth);
                    }
                }
                Kind::File if wanted(name) => {
                    entries += 1;
                    walked.files.push(entry.path());
                }
                _ => {}
            }
        }
        if entries > MOST_ENTRIES {
            walked.stopped = Some(Stopped::Entries);
            break;
        }
        below.sort_unstable_by(|one, other| other.cmp(one));
        folders.extend(below.into_iter().map(|path| (path, depth + 1)));
    }
    walked.files.sort_unstable();
    walked.files.truncate(MOST_ENTRIES);
    walked
}

enum Kind {
    Folder,
    File,
    /// A socket, a pipe, a device, a link to nowhere: opening one could block or worse.
    Other,
}

fn kind_of(kind: FileType, path: &Path) -> Kind {
    if kind.is_symlink() {
        match fs::metadata(path) {
            Ok(target) if target.is_dir() => Kind::Folder,
            Ok(target) if target.is_file() => Kind::File,
            _ => Kind::Other,
        }
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_file() {
        Kind::File
    } else {
        Kind::Other
    }
}

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}
