//! The files of sessions in memory: for tests, and for sessions that leave nothing behind.

use crate::Now;
use abide_core::capability::FilePath;
use abide_core::event::Timestamp;
use abide_engine::port::{
    Condition, Ends, FileInfo, FilesError, Later, NewFile, Quota, SessionFiles, SessionId, Transfer, Written,
};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps the files of sessions as long as it lives.
pub struct MemoryFiles {
    now: Now,
    sessions: Mutex<HashMap<SessionId, Tree>>,
}

type Tree = BTreeMap<FilePath, Entry>;

#[derive(Clone)]
struct Entry {
    /// Nothing for a folder.
    bytes: Option<Vec<u8>>,
    readonly: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl Entry {
    fn info(&self, path: &FilePath) -> FileInfo {
        FileInfo {
            path: path.clone(),
            is_directory: self.bytes.is_none(),
            is_readonly: self.readonly,
            size_bytes: size(self),
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

fn size(entry: &Entry) -> u64 {
    entry.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)
}

impl MemoryFiles {
    /// Makes one without files.
    pub fn new(now: Now) -> Self {
        Self { now, sessions: Mutex::default() }
    }

    // A change is one assignment or none, so that a panic in between leaves nothing half done.
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Tree>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look<T>(&self, session: &SessionId, with: impl FnOnce(&Tree) -> T) -> T {
        match self.lock().get(session) {
            Some(tree) => with(tree),
            None => with(&Tree::new()),
        }
    }
}

fn later<T: Send + 'static>(value: T) -> Later<T> {
    Box::pin(std::future::ready(value))
}

impl SessionFiles for MemoryFiles {
    fn read(&self, session: &SessionId, path: &FilePath) -> Later<Result<Vec<u8>, FilesError>> {
        later(self.look(session, |tree| match tree.get(path) {
            _ if path.is_root() => Err(FilesError::IsDirectory(path.clone())),
            None => Err(FilesError::Missing(path.clone())),
            Some(Entry { bytes: None, .. }) => Err(FilesError::IsDirectory(path.clone())),
            Some(Entry { bytes: Some(bytes), .. }) => Ok(bytes.clone()),
        }))
    }

    fn write_when(
        &self,
        session: &SessionId,
        file: NewFile,
        quota: Quota,
        condition: Condition,
    ) -> Later<Result<Written, FilesError>> {
        let now = (self.now)();
        let mut sessions = self.lock();
        later(write(sessions.entry(session.clone()).or_default(), file, (quota, condition), now))
    }

    fn transfer(&self, session: &SessionId, asked: Transfer, quota: Quota) -> Later<Result<u64, FilesError>> {
        let now = (self.now)();
        let mut sessions = self.lock();
        later(transfer(sessions.entry(session.clone()).or_default(), &asked, quota, now))
    }

    fn list(&self, session: &SessionId, path: &FilePath) -> Later<Result<Vec<FileInfo>, FilesError>> {
        later(self.look(session, |tree| {
            folder(tree, path)?;
            Ok(tree
                .iter()
                .filter(|(at, _)| at.parent().as_ref() == Some(path))
                .map(|(at, e)| e.info(at))
                .collect())
        }))
    }

    fn files(&self, session: &SessionId) -> Later<Result<Vec<FileInfo>, FilesError>> {
        later(self.look(session, |tree| {
            Ok(tree.iter().filter(|(_, entry)| entry.bytes.is_some()).map(|(path, e)| e.info(path)).collect())
        }))
    }

    fn stat(&self, session: &SessionId, path: &FilePath) -> Later<Result<Option<FileInfo>, FilesError>> {
        if path.is_root() {
            return later(Ok(Some(FileInfo::root())));
        }
        later(Ok(self.look(session, |tree| tree.get(path).map(|entry| entry.info(path)))))
    }

    fn delete_when(
        &self,
        session: &SessionId,
        path: &FilePath,
        recursive: bool,
        condition: Condition,
    ) -> Later<Result<u64, FilesError>> {
        later(match self.lock().get_mut(session) {
            _ if path.is_root() => Err(FilesError::Root),
            None => Err(FilesError::Missing(path.clone())),
            Some(tree) => delete(tree, path, recursive, condition),
        })
    }

    fn forget(&self, session: &SessionId) -> Later<Result<(), FilesError>> {
        self.lock().remove(session);
        later(Ok(()))
    }
}

fn folder(tree: &Tree, path: &FilePath) -> Result<(), FilesError> {
    match tree.get(path) {
        _ if path.is_root() => Ok(()),
        None => Err(FilesError::Missing(path.clone())),
        Some(Entry { bytes: Some(_), .. }) => Err(FilesError::NotDirectory(path.clone())),
        Some(_) => Ok(()),
    }
}

fn write(
    tree: &mut Tree,
    file: NewFile,
    (quota, condition): (Quota, Condition),
    now: Timestamp,
) -> Result<Written, FilesError> {
    if file.path.is_root() {
        return Err(FilesError::Root);
    }
    let before = tree.get(&file.path);
    match before {
        Some(Entry { bytes: None, .. }) => return Err(FilesError::IsDirectory(file.path)),
        Some(Entry { readonly: true, .. }) => return Err(FilesError::Readonly(file.path)),
        _ => {}
    }
    condition.holds(&file.path, before.map(|entry| entry.info(&file.path)).as_ref())?;
    let now = before.map_or(now, |entry| now.max(Timestamp(entry.updated_at.0 + 1)));
    let mut new_folders = Vec::new();
    for above in file.path.ancestors().into_iter().skip(1) {
        match tree.get(&above) {
            None => new_folders.push(above),
            Some(Entry { bytes: Some(_), .. }) => return Err(FilesError::NotDirectory(above)),
            Some(_) => {}
        }
    }
    let used: u64 = tree.values().map(size).sum::<u64>() - before.map_or(0, size);
    let entries = tree.len() + new_folders.len() + usize::from(before.is_none());
    quota.holds(file.bytes.len() as u64, used, entries as u64)?;
    let created_at = before.map_or(now, |entry| entry.created_at);
    let written = if before.is_some() { Written::Replaced } else { Written::Created };
    for path in new_folders {
        tree.insert(path, Entry { bytes: None, readonly: false, created_at: now, updated_at: now });
    }
    let entry = Entry { bytes: Some(file.bytes), readonly: file.readonly, created_at, updated_at: now };
    tree.insert(file.path, entry);
    Ok(written)
}

fn transfer(tree: &mut Tree, asked: &Transfer, quota: Quota, now: Timestamp) -> Result<u64, FilesError> {
    let of = |path: &FilePath| tree.get(path).map(|entry| entry.info(path));
    let moved = tree.iter().filter(|(at, _)| **at == asked.from || at.is_below(&asked.from));
    let moved: Vec<FileInfo> = moved.map(|(at, entry)| entry.info(at)).collect();
    let above = asked.to.ancestors().into_iter().skip(1);
    let above: Vec<(FilePath, Option<FileInfo>)> = above.map(|path| (path.clone(), of(&path))).collect();
    let (there, used) = (of(&asked.to), tree.values().map(size).sum());
    let entries = tree.len() as u64;
    let ends = Ends { moved: &moved, there: there.as_ref(), above: &above, used, entries };
    let steps = asked.steps(&ends, quota)?;
    for path in steps.folders {
        tree.insert(path, Entry { bytes: None, readonly: false, created_at: now, updated_at: now });
    }
    let count = steps.paths.len() as u64;
    for (old, new) in steps.paths {
        let entry = if asked.keep {
            let copied = tree.get(&old).cloned();
            copied.map(|entry| Entry { readonly: false, created_at: now, updated_at: now, ..entry })
        } else {
            tree.remove(&old).map(|entry| Entry { updated_at: entry.updated_at.max(now), ..entry })
        };
        tree.extend(entry.map(|entry| (new, entry)));
    }
    Ok(count)
}

fn delete(
    tree: &mut Tree,
    path: &FilePath,
    recursive: bool,
    condition: Condition,
) -> Result<u64, FilesError> {
    let Some(entry) = tree.get(path) else { return Err(FilesError::Missing(path.clone())) };
    condition.holds(path, Some(&entry.info(path)))?;
    let from = (Bound::Included(path.clone()), Bound::Unbounded);
    let gone: Vec<FilePath> =
        tree.range(from).map(|(at, _)| at).filter(|at| *at == path || at.is_below(path)).cloned().collect();
    if gone.len() > 1 && !recursive {
        return Err(FilesError::NotEmpty(path.clone()));
    }
    if let Some(readonly) = gone.iter().find(|path| tree[*path].readonly) {
        return Err(FilesError::Readonly(readonly.clone()));
    }
    for path in &gone {
        tree.remove(path);
    }
    Ok(gone.len() as u64)
}
