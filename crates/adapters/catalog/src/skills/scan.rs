//! Walking one folder of skills, level by level, and reading what is found on the way.
//!
//! Several threads share the folders of a level: most of the time goes into the system's calls. What comes back is put
//! in order afterwards, so that the answer does not depend on who was faster. A folder is reached from the one that it
//! lies in, which stays open for that: the system takes longer to find the way from the root than to open it.

use super::SkillSummary;
use super::cache::{Read, SkillCache};
use super::folders::Root;
use super::links::{Allowed, Refused};
use crate::Origin;
use crate::file::{Stamp, Unreadable, read_bytes, read_bytes_at, stamp};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_formats::skill;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, open, openat, statat};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr, OsString};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The file that makes a folder a skill.
const SKILL: &CStr = c"SKILL.md";
/// How deep below its root a folder is walked.
const DEEPEST: usize = 8;
/// How many folders and links of one root are looked at.
const MOST_FOLDERS: usize = 100_000;
/// How many names of one folder are read at all.
const MOST_NAMES: usize = 200_000;
/// How many folders are worth a thread.
const FOLDERS_PER_THREAD: usize = 64;
const MOST_THREADS: usize = 8;
/// How many folders in a folder are worth keeping it open, and how many are kept open at once.
const FOLDERS_PER_OPEN: usize = 8;
const MOST_OPEN: usize = 64;
/// How many bytes of names are asked for at once.
const NAMES: usize = 32 * 1024;

/// What a root holds.
#[derive(Default)]
pub(super) struct Scanned {
    pub(super) files: Vec<File>,
    pub(super) problems: Vec<(PathBuf, Diagnostic)>,
}

/// One `SKILL.md`.
pub(super) struct File {
    pub(super) path: Arc<Path>,
    stamp: Option<Stamp>,
    pub(super) read: Read,
}

/// What one folder holds.
#[derive(Default)]
struct Level {
    files: Vec<File>,
    folders: Vec<Folder>,
    links: Vec<Arc<Path>>,
    problems: Vec<(PathBuf, Diagnostic)>,
}

/// A folder that is to be looked at.
enum Folder {
    /// By its path: a root, or what a link leads to.
    At(PathBuf),
    /// By its name in another one; it must be no link.
    In(Arc<Parent>, OsString),
}

/// A folder that others lie in, open if that is worth it.
struct Parent {
    path: PathBuf,
    opened: Option<OwnedFd>,
}

impl Folder {
    fn path(&self) -> PathBuf {
        match self {
            Self::At(path) => path.clone(),
            Self::In(parent, name) => parent.path.join(name),
        }
    }

    /// Returns the path of something in it.
    fn holding(&self, name: &CStr, path: &mut Vec<u8>) -> Arc<Path> {
        path.clear();
        let (folder, below) = match self {
            Self::At(folder) => (folder, None),
            Self::In(parent, name) => (&parent.path, Some(name.as_bytes())),
        };
        path.extend(folder.as_os_str().as_bytes());
        for name in below.into_iter().chain([name.to_bytes()]) {
            if !path.ends_with(b"/") {
                path.push(b'/');
            }
            path.extend(name);
        }
        Path::new(OsStr::from_bytes(path)).into()
    }

    fn open(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match self {
            Self::At(path) => open(path, flags, Mode::empty()),
            Self::In(parent, name) => match &parent.opened {
                Some(parent) => openat(parent, name, flags | OFlags::NOFOLLOW, Mode::empty()),
                None => open(self.path(), flags | OFlags::NOFOLLOW, Mode::empty()),
            },
        }
    }
}

/// Finds and reads the skills below a root.
pub(super) fn scan(root: &Root, allowed: &Allowed, cache: &mut SkillCache) -> Scanned {
    let mut scanned = Scanned::default();
    if !root.path.is_dir() {
        if root.origin == Origin::Configured {
            let problem =
                Diagnostic::whole_file(Code::MissingFolder, "the folder with skills does not exist")
                    .help("create it, or take it out of `skills.directories`");
            scanned.problems.push((root.path.clone(), problem));
        }
        return scanned;
    }
    // A project may hand out its folder of skills as a link as well.
    let Ok(canonical) = allowed.follow(root, &root.path) else {
        scanned.problems.push((root.path.clone(), leads_out()));
        return scanned;
    };
    let mut frontier = vec![Folder::At(root.path.clone())];
    let mut followed: Vec<PathBuf> = Vec::new();
    let mut looked_at = 0;
    for depth in 0.. {
        let mut next = Level::default();
        for level in in_parallel(&frontier, cache) {
            next.files.extend(level.files);
            next.folders.extend(level.folders);
            next.links.extend(level.links);
            next.problems.extend(level.problems);
        }
        for link in std::mem::take(&mut next.links) {
            follow(root, allowed, &canonical, &link, depth, &mut followed, cache, &mut next);
        }
        scanned.files.extend(next.files);
        scanned.problems.extend(next.problems);
        looked_at += next.folders.len();
        let stopped = looked_at > MOST_FOLDERS || (depth == DEEPEST && !next.folders.is_empty());
        if stopped {
            let problem = Diagnostic::whole_file(
                Code::ScanStopped,
                format!(
                    "the folder holds more than {MOST_FOLDERS} folders, or some deeper than {DEEPEST} levels"
                ),
            )
            .help("keep skills near the top, and other files elsewhere");
            scanned.problems.push((root.path.clone(), problem));
        }
        if stopped || next.folders.is_empty() {
            break;
        }
        frontier = next.folders;
    }
    scanned.files.sort_by(|one, other| one.path.cmp(&other.path));
    for file in &scanned.files {
        if let Some(stamp) = file.stamp {
            cache.put(&file.path, stamp, &file.read);
        }
    }
    scanned
}

pub(super) fn leads_out() -> Diagnostic {
    Diagnostic::whole_file(Code::BadPath, "the link leads out of the project, so it was not followed").help(
        "name the folder in `skills.directories` of your own configuration, if you trust what lies there",
    )
}

/// Follows a link to a folder or to a `SKILL.md`.
#[expect(clippy::too_many_arguments, reason = "one place calls it, with everything that the walk knows")]
fn follow(
    root: &Root,
    allowed: &Allowed,
    canonical: &Path,
    link: &Path,
    depth: usize,
    followed: &mut Vec<PathBuf>,
    cache: &SkillCache,
    next: &mut Level,
) {
    let is_file_link = link.file_name() == Some(OsStr::new("SKILL.md"));
    let target = match allowed.follow(root, link) {
        Ok(target) => target,
        Err(Refused::Outside(target)) => {
            // A link to some other file was never a skill, wherever it leads.
            if is_file_link || target.is_dir() {
                next.files.push(refused(link, is_file_link, leads_out()));
            }
            return;
        }
        // Dangling links deep inside a skill are its own business.
        Err(Refused::Broken(why)) => {
            if is_file_link || depth == 0 {
                next.files.push(refused(
                    link,
                    is_file_link,
                    unreadable(&format!("the link leads nowhere: {why}")),
                ));
            }
            return;
        }
    };
    if is_file_link {
        let mut buffer = Vec::new();
        next.files.push(read(link.into(), cache, &mut buffer, read_bytes));
    } else if target.is_dir() {
        // What lies in the walked folder has a name of its own, and what holds it would lead in a circle.
        let known = target.starts_with(canonical)
            || canonical.starts_with(&target)
            || followed.iter().any(|followed| target.starts_with(followed) || followed.starts_with(&target));
        if !known {
            followed.push(target);
            next.folders.push(Folder::At(link.to_path_buf()));
        }
    }
}

fn refused(link: &Path, is_file: bool, problem: Diagnostic) -> File {
    let path = if is_file { link.into() } else { link.join("SKILL.md").into() };
    File { path, stamp: None, read: Read { summary: None, problems: vec![problem] } }
}

pub(super) fn unreadable(why: &str) -> Diagnostic {
    Diagnostic::whole_file(Code::Unreadable, format!("the file cannot be read: {why}"))
        .help("check what it is and its permissions, or remove it")
}

/// Looks at every folder of a level.
fn in_parallel(folders: &[Folder], cache: &SkillCache) -> Vec<Level> {
    let kept_open = AtomicUsize::new(0);
    let most = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let threads = (folders.len() / FOLDERS_PER_THREAD).clamp(1, most);
    if threads == 1 {
        return vec![look(folders, cache, &kept_open)];
    }
    // In small shares, so that one slow folder does not keep the others waiting.
    let share = folders.len().div_ceil(threads * 8);
    let next = AtomicUsize::new(0);
    let shares: Vec<&[Folder]> = folders.chunks(share).collect();
    let mut levels = std::thread::scope(|scope| {
        let worker = || {
            let mut levels = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(share) = shares.get(number) else { return levels };
                levels.push((number, look(share, cache, &kept_open)));
            }
        };
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut levels = worker();
        for other in others {
            // A thread that panicked has nothing to add; nothing here panics.
            levels.extend(other.join().unwrap_or_default());
        }
        levels
    });
    // In the order of the folders, which is the order of the paths already.
    levels.sort_unstable_by_key(|(number, _)| *number);
    levels.into_iter().map(|(_, level)| level).collect()
}

/// What is used again for one folder after the other.
struct Room {
    names: Vec<u8>,
    path: Vec<u8>,
    text: Vec<u8>,
}

/// Looks at some folders, and reads the skills that lie directly in them.
fn look(folders: &[Folder], cache: &SkillCache, kept_open: &AtomicUsize) -> Level {
    let mut level = Level::default();
    let mut room = Room { names: Vec::with_capacity(NAMES), path: Vec::new(), text: Vec::new() };
    for folder in folders {
        if let Err(error) = look_at(folder, cache, kept_open, &mut room, &mut level) {
            let problem =
                Diagnostic::whole_file(Code::Unreadable, format!("the folder cannot be read: {error}"));
            level.problems.push((folder.path(), problem));
        }
    }
    level.links.sort_unstable();
    level
}

/// Looks at one folder. It is opened once, and what is in it is reached from there: most of a scan is finding the way.
fn look_at(
    folder: &Folder,
    cache: &SkillCache,
    kept_open: &AtomicUsize,
    room: &mut Room,
    level: &mut Level,
) -> Result<(), Errno> {
    let opened = folder.open()?;
    let Room { names, path: bytes, text } = room;
    let mut listed = RawDir::new(opened.as_fd(), names.spare_capacity_mut());
    let mut below: Vec<OsString> = Vec::new();
    let mut failed = None;
    for _ in 0..MOST_NAMES {
        let entry = match listed.next() {
            // A folder that was removed meanwhile holds nothing.
            None | Some(Err(Errno::NOENT)) => break,
            Some(Err(Errno::INTR)) => continue,
            Some(Ok(entry)) => entry,
            Some(Err(error)) => {
                failed = Some(error);
                break;
            }
        };
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let is_skill = name == SKILL;
        let kind = match entry.file_type() {
            // Not every file system tells.
            FileType::Unknown => match statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => FileType::from_raw_mode(found.st_mode),
                Err(_) => continue,
            },
            kind => kind,
        };
        match kind {
            FileType::Directory if is_skill => {
                level.files.push(refused(&folder.holding(name, bytes), true, unreadable("it is a folder")));
            }
            FileType::Directory if name != c"node_modules" && name != c".git" => {
                below.push(OsStr::from_bytes(name.to_bytes()).to_owned());
            }
            FileType::Symlink => level.links.push(folder.holding(name, bytes)),
            FileType::RegularFile if is_skill => {
                let path = folder.holding(name, bytes);
                level.files.push(read(path, cache, text, |path, text| {
                    read_bytes_at(opened.as_fd(), name, path, text)
                }));
            }
            _ if is_skill && kind != FileType::Directory => {
                let problem = unreadable("it is not a regular file");
                level.files.push(refused(&folder.holding(name, bytes), true, problem));
            }
            _ => {}
        }
    }
    if !below.is_empty() {
        // By their names alone: all of them lie in one folder.
        below.sort_unstable();
        let worth = below.len() >= FOLDERS_PER_OPEN && kept_open.fetch_add(1, Ordering::Relaxed) < MOST_OPEN;
        let parent = Arc::new(Parent { path: folder.path(), opened: worth.then_some(opened) });
        level.folders.extend(below.into_iter().map(|name| Folder::In(Arc::clone(&parent), name)));
    }
    failed.map_or(Ok(()), Err)
}

/// Reads one skill, unless it is known.
fn read(
    path: Arc<Path>,
    cache: &SkillCache,
    buffer: &mut Vec<u8>,
    bytes: impl FnOnce(&Path, &mut Vec<u8>) -> Result<Stamp, Unreadable>,
) -> File {
    if !cache.is_empty()
        && let Some(stamp) = stamp(&path)
        && let Some(read) = cache.get(&path, stamp)
    {
        return File { path, stamp: Some(stamp), read };
    }
    match bytes(&path, buffer) {
        Ok(stamp) => {
            let (reading, body) = skill::skim(buffer);
            let summary = reading.skill.map(|skill| Arc::new(SkillSummary::of(skill, &body)));
            File { path, stamp: Some(stamp), read: Read { summary, problems: reading.problems } }
        }
        Err(error) => {
            let read = Read { summary: None, problems: vec![error.diagnostic()] };
            File { path, stamp: None, read }
        }
    }
}
