//! The files that a body names: inside the skill, the project or an allowed folder, and nowhere else.
//!
//! What counts is where a path really leads, links resolved. A path that leads nowhere is text.

use crate::{Reads, Setting};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// How much of a file is put in.
const MOST_BYTES: u64 = 256 * 1024;
/// How many names of a folder are listed.
const MOST_NAMES: usize = 200;

/// What a path leads to.
pub(crate) enum Found {
    /// Nothing that could be read: it is text.
    Nothing,
    /// Something that may not be read, and why.
    Refused(String),
    File {
        text: String,
        cut: bool,
    },
    Folder(Vec<String>),
}

/// Finds what `@path` means: in the skill first, then in the project.
pub(crate) fn find(path: &str, setting: &Setting<'_>) -> Found {
    if path.contains('\0') {
        return Found::Nothing;
    }
    let bases: &[&Path] = match setting.reads {
        Reads::Skill => &[setting.folder],
        Reads::Project => &[setting.folder, setting.project],
    };
    let candidates: Vec<PathBuf> = match path.strip_prefix("~/") {
        Some(rest) => setting.home.iter().map(|home| home.join(rest)).collect(),
        None => bases.iter().map(|base| base.join(path)).collect(),
    };
    let further = match setting.reads {
        Reads::Skill => &[],
        Reads::Project => setting.allowed,
    };
    let allowed: Vec<PathBuf> = bases
        .iter()
        .copied()
        .chain(further.iter().map(PathBuf::as_path))
        .filter_map(|folder| folder.canonicalize().ok())
        .collect();
    let mut refused = false;
    for candidate in candidates {
        let Ok(real) = candidate.canonicalize() else { continue };
        if allowed.iter().any(|folder| real.starts_with(folder)) {
            return read(&real);
        }
        refused = true;
    }
    if refused {
        return Found::Refused(match setting.reads {
            Reads::Skill => "it lies outside the folder of the skill".to_owned(),
            Reads::Project => "it lies outside the skill and the project".to_owned(),
        });
    }
    let of_project = || setting.project.join(path).canonicalize().is_ok();
    if setting.reads == Reads::Skill && !path.is_empty() && of_project() {
        return Found::Refused("it lies outside the folder of the skill".to_owned());
    }
    Found::Nothing
}

fn read(real: &Path) -> Found {
    if real.is_dir() {
        let Ok(listed) = fs::read_dir(real) else { return Found::Nothing };
        let mut names: Vec<String> = listed
            .filter_map(Result::ok)
            .take(MOST_NAMES * 10)
            .map(|entry| {
                let mark = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
                format!("{}{mark}", entry.file_name().to_string_lossy())
            })
            .collect();
        names.sort();
        names.truncate(MOST_NAMES);
        return Found::Folder(names);
    }
    // Resolved already, so a link here is one that was put in between; a pipe must not be waited for.
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
    let Ok(file) = File::options().read(true).custom_flags(flags).open(real) else { return Found::Nothing };
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => {}
        _ => return Found::Refused("it is not a regular file".to_owned()),
    }
    let mut bytes = Vec::new();
    if file.take(MOST_BYTES + 1).read_to_end(&mut bytes).is_err() {
        return Found::Nothing;
    }
    let cut = bytes.len() as u64 > MOST_BYTES;
    bytes.truncate(usize::try_from(MOST_BYTES).unwrap_or(usize::MAX));
    if bytes.contains(&0) {
        return Found::Refused("it is not a text file".to_owned());
    }
    Found::File { text: String::from_utf8_lossy(&bytes).into_owned(), cut }
}
