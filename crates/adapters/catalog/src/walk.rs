//! Walking a folder of definitions: bounded, in a fixed order, and safe from links that lead in circles.

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
    /// The candidates, folder by folder, each in the order of its names.
    pub(crate) files: Vec<PathBuf>,
    /// The folders that were read, in which more could appear.
    pub(crate) folders: Vec<PathBuf>,
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
    let mut links = Links::default();
    let mut entries = 0_usize;
    let mut folders = vec![(root.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let listed = match fs::read_dir(&folder) {
            Ok(listed) => listed,
            Err(error) => {
                walked.unreadable.push((folder, error.to_string()));
                continue;
            }
        };
        // A name that is not UTF-8 cannot name a definition.
        let text_and_kind =
            |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?));
        let mut names: Vec<(String, FileType)> = listed
            .take(MOST_NAMES)
            .filter_map(|entry| text_and_kind(entry.ok()?))
            .filter(|(name, kind)| (!kind.is_dir() && wanted(name)) || (!kind.is_file() && entered(name)))
            .collect();
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let mut below = Vec::new();
        for (name, found) in names {
            let path = folder.join(&name);
            match if found.is_symlink() { behind_link(&path) } else { Kind::of(found) } {
                Kind::Folder if entered(&name) => {
                    if found.is_symlink() && !links.lead_to_new(root, &path) {
                        continue;
                    }
                    entries += 1;
                    if depth < DEEPEST {
                        below.push((path, depth + 1));
                    } else {
                        walked.stopped.get_or_insert(Stopped::Depth);
                    }
                }
                Kind::File if wanted(&name) => {
                    entries += 1;
                    walked.files.push(path);
                }
                _ => {}
            }
        }
        walked.folders.push(folder);
        if entries > MOST_ENTRIES {
            walked.stopped = Some(Stopped::Entries);
            break;
        }
        folders.extend(below.into_iter().rev());
    }
    walked.files.truncate(MOST_ENTRIES);
    walked
}

enum Kind {
    Folder,
    File,
    /// A socket, a pipe, a device, a link to nowhere: opening one could block or worse.
    Other,
}

impl Kind {
    fn of(found: FileType) -> Self {
        if found.is_dir() {
            Self::Folder
        } else if found.is_file() {
            Self::File
        } else {
            Self::Other
        }
    }
}

fn behind_link(path: &Path) -> Kind {
    fs::metadata(path).map_or(Kind::Other, |target| Kind::of(target.file_type()))
}

/// The folders that links led to; without links no folder is met twice.
#[derive(Default)]
struct Links {
    root: Option<PathBuf>,
    followed: Vec<PathBuf>,
}

impl Links {
    /// Tells whether a link leads where the walk has not been, and will not come without it.
    fn lead_to_new(&mut self, root: &Path, link: &Path) -> bool {
        let Ok(target) = link.canonicalize() else { return false };
        let root =
            self.root.get_or_insert_with(|| root.canonicalize().unwrap_or_else(|_| root.to_path_buf()));
        // What lies in the walked folder has a name of its own, and what holds it would lead in a circle.
        let known = target.starts_with(&*root)
            || root.starts_with(&target)
            || self.followed.iter().any(|followed| target.starts_with(followed));
        if !known {
            self.followed.push(target);
        }
        !known
    }
}
