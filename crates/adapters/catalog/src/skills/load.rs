//! Reading one skill in full, when it is needed.

use super::SkillEntry;
use super::links::{Allowed, Refused};
use super::{folders, scan};
use crate::file::read_bytes;
use crate::{Configuration, Place};
use abide_core::diagnostic::Diagnostic;
use abide_formats::skill::{self, Reading};
use std::fs;
use std::path::{Path, PathBuf};

/// How many files of a skill are looked at to list some.
const MOST_FILES: usize = 1_000;

/// A skill as it was read.
#[derive(Debug)]
pub struct LoadedSkill {
    /// What it says.
    pub reading: Reading,
    /// The bytes that say it: what is trusted is what was read, whatever lies there afterwards.
    pub bytes: Vec<u8>,
}

/// Returns the folders that links of a project's skills may lead into: the project, and the skills of the user.
pub(crate) fn within(place: &Place, configuration: &Configuration) -> Vec<PathBuf> {
    Allowed::of(place, &folders::folders(place, configuration)).folders()
}

/// Reads the skill of an entry as it is now. Links may have been changed since the scan, so they are looked at again.
pub(crate) fn load(place: &Place, configuration: &Configuration, entry: &SkillEntry) -> LoadedSkill {
    let refuse = |problem: Diagnostic| LoadedSkill {
        reading: Reading { skill: None, problems: vec![problem] },
        bytes: Vec::new(),
    };
    let roots = folders::folders(place, configuration);
    let root = folders::Root { path: entry.folder().to_path_buf(), origin: entry.origin };
    match Allowed::of(place, &roots).follow(&root, &entry.path) {
        Err(Refused::Outside(_)) => return refuse(scan::leads_out()),
        Err(Refused::Broken(why)) => return refuse(scan::unreadable(&why)),
        Ok(_) => {}
    }
    let mut buffer = Vec::new();
    match read_bytes(&entry.path, &mut buffer) {
        Ok(_) => LoadedSkill { reading: skill::read(&buffer), bytes: buffer },
        Err(error) => refuse(error.diagnostic()),
    }
}

/// Returns some files of a skill beside its `SKILL.md`, in order; links are not followed.
pub fn skill_files(folder: &Path, most: usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(listed) = fs::read_dir(&folder) else { continue };
        let mut entries: Vec<_> = listed.filter_map(Result::ok).take(MOST_FILES).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if kind.is_file() && name != "SKILL.md" {
                files.push(entry.path());
            } else if kind.is_dir() && name != ".git" && name != "node_modules" && folders.len() < MOST_FILES
            {
                folders.push(entry.path());
            }
        }
        if files.len() >= MOST_FILES {
            break;
        }
    }
    files.sort();
    files.truncate(most);
    files
}
