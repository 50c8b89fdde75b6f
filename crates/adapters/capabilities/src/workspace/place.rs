//! Paths of a project: what an agent writes, and where that really leads.
#![expect(clippy::disallowed_methods, reason = "where a path leads is asked of the disk")]

use abide_engine::port::ToolError;
use std::collections::VecDeque;
use std::path::{Component, Path, PathBuf};

/// The root of a project; no path that is made of it leads out of it.
#[derive(Debug, Clone)]
pub(super) struct Root(PathBuf);

/// How many entries a walk looks at, and how deep it goes.
const MOST_ENTRIES: usize = 50_000;
const DEEPEST: usize = 32;
/// The longest path.
const LONGEST: usize = 4_096;
/// Folders that no walk goes into: they are large, and nobody wrote what is in them.
const SKIPPED: [&str; 5] = [".git", "node_modules", "target", ".venv", "__pycache__"];

impl Root {
    pub(super) fn new(root: PathBuf) -> Self {
        Self(root.canonicalize().unwrap_or(root))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns where a path of an agent leads: inside the project, or it is refused.
    ///
    /// The last part need not exist; what exists of the path must not lead outside, wherever links point.
    pub(super) fn resolve(&self, text: &str) -> Result<PathBuf, ToolError> {
        let refused = |why: &str| Err(ToolError::Refused(format!("`{}`: {why}", shown(text))));
        if text.len() > LONGEST {
            return refused("the path is too long");
        }
        if text.contains('\0') {
            return refused("a path has no NUL byte");
        }
        let written = Path::new(text);
        let inner = match written.strip_prefix(&self.0) {
            Ok(inner) => inner,
            Err(_) if written.is_absolute() => return refused("it is outside the project"),
            Err(_) => written,
        };
        let mut path = self.0.clone();
        for part in inner.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => path.push(name),
                // `..` behind a link leads elsewhere than it looks; it is only taken back to what was written.
                Component::ParentDir if path != self.0 => {
                    path.pop();
                }
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return refused("it is outside the project");
                }
            }
        }
        let real =
            real(&path).ok_or_else(|| ToolError::Refused(format!("`{}`: it leads nowhere", shown(text))))?;
        if !real.starts_with(&self.0) {
            return refused("it is a link that leads out of the project");
        }
        Ok(real)
    }

    /// Returns a path as the agent knows it.
    pub(super) fn told(&self, path: &Path) -> String {
        path.strip_prefix(&self.0).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// Returns where an absolute path outside the project leads, if that is inside a folder that may be read.
pub(super) fn beyond(text: &str, reading: &dyn Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
    let written = Path::new(text);
    if text.len() > LONGEST || text.contains('\0') || !written.is_absolute() {
        return None;
    }
    let mut path = PathBuf::new();
    for part in written.components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    let folder = reading(&path)?.canonicalize().ok()?;
    path.canonicalize().ok().filter(|real| real.starts_with(&folder))
}

/// How far a walk came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walked {
    All,
    Partly,
}

/// Returns where a path really leads; of what does not exist yet, where it would be.
fn real(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    for ancestor in path.ancestors() {
        match ancestor.canonicalize() {
            Ok(real) => return Some(missing.iter().rev().fold(real, |real, name| real.join(name))),
            // A link to nothing is there all the same: what is written through it would be made elsewhere.
            Err(_) if ancestor.symlink_metadata().is_ok() => return None,
            Err(_) => missing.push(ancestor.file_name()?),
        }
    }
    None
}

fn shown(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Walks through the files below a folder, in the order of their names, and does not follow links.
pub(super) fn walk(from: &Path, mut take: impl FnMut(&Path) -> bool) -> Walked {
    let mut left = VecDeque::from([(from.to_path_buf(), 0)]);
    let mut seen = 0;
    while let Some((folder, depth)) = left.pop_front() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> = entries.flatten().take(MOST_ENTRIES).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            seen += 1;
            if seen > MOST_ENTRIES {
                return Walked::Partly;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                let skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
                if !skipped && depth < DEEPEST {
                    left.push_back((path, depth + 1));
                }
            } else if kind.is_file() && !take(&path) {
                return Walked::Partly;
            }
        }
    }
    Walked::All
}
