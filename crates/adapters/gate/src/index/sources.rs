//! What an index was compiled from, and whether it is still the same.
//!
//! A file is told by when anything about it last changed (which, unlike the time that `touch` sets, nobody can set back),
//! its size, its number and its disk. Files are asked for by name in their folder, so that the way to a thousand of them
//! is walked once.

use super::packed::{Packer, Unpacker};
use rustix::fs::{AtFlags, Mode, OFlags, Stat, open, stat, statat};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the file begins with.
const FORM: &[u8] = b"abide sources 4\n";
/// What says where a repository begins.
const GIT: &[u8] = b".git";
/// How coarse the times of files are at most, in nanoseconds.
const COARSE: i128 = 20_000_000;

/// How a folder is opened to ask for what is in it; where a system can, without the right to list it.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Which version of a file or folder was seen.
type Stamp = [u8; 40];
/// There was none.
const ABSENT: Stamp = [0; 40];
/// There was one, and nothing else counts: every command of git changes the folder that says where a repository begins.
const PRESENT: Stamp = [1; 40];
/// One that could have changed again while it was read, which no clock would tell; no file has such a stamp.
const DOUBTFUL: Stamp = [0xff; 40];

/// Writes what an index was compiled from; `read_since` is a moment before anything of it was read.
pub(super) fn pack(written: &str, sources: &[PathBuf], read_since: SystemTime) -> Vec<u8> {
    let mut folders: BTreeMap<&Path, Vec<(&[u8], Stamp)>> = BTreeMap::new();
    for path in sources {
        // What has no name in a folder is asked for by its whole path, from anywhere.
        let (folder, name) = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => (folder, name.as_bytes()),
            _ => (Path::new("/"), path.as_os_str().as_bytes()),
        };
        let seen = stat(path.as_path()).map_or(ABSENT, |found| first_stamp(name, &found, read_since));
        folders.entry(folder).or_default().push((name, seen));
    }
    let mut out = Packer(FORM.to_vec());
    out.bytes(written.as_bytes());
    for (folder, files) in &folders {
        out.bytes(folder.as_os_str().as_bytes());
        out.list(files, |out, (name, seen)| {
            out.0.extend(seen);
            out.bytes(name);
        });
    }
    out.0
}

/// Returns whether nothing that a writing of an index was compiled from has changed.
pub(super) fn are_unchanged(bytes: &[u8], written: &str) -> bool {
    unchanged(bytes, written).unwrap_or(false)
}

/// The same; nothing if the bytes are damaged.
fn unchanged(bytes: &[u8], written: &str) -> Option<bool> {
    let folder = |known: &str, folder: &[u8]| {
        // Of another writing, nothing is said.
        (known == written).then(|| open(folder, FOLDER, Mode::empty()).ok())
    };
    walk(bytes, folder, |folder, name, seen| {
        let found = folder.as_ref().and_then(|folder| statat(folder, name, AtFlags::empty()).ok());
        found.map_or(ABSENT, |found| stamp(name, &found)) == *seen
    })
}

/// Shows each folder and each file until one is not as it should be; nothing if the bytes are damaged.
fn walk<F>(
    bytes: &[u8],
    mut folder: impl FnMut(&str, &[u8]) -> Option<F>,
    mut file: impl FnMut(&F, &[u8], &Stamp) -> bool,
) -> Option<bool> {
    let mut unpacker = Unpacker::of(bytes, FORM)?;
    let written = unpacker.text()?;
    while !unpacker.is_empty() {
        let Some(opened) = folder(written, unpacker.bytes()?) else { return Some(false) };
        for _ in 0..unpacker.number()? {
            let seen = unpacker.take()?;
            if !file(&opened, unpacker.bytes()?, &seen) {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// Returns the stamp of something that was just read, unless it may have changed meanwhile.
fn first_stamp(name: &[u8], found: &Stat, read_since: SystemTime) -> Stamp {
    let changed = i128::from(found.st_ctime) * 1_000_000_000 + i128::from(found.st_ctime_nsec);
    let since = read_since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    // A clock that stands before 1970 tells nothing, and everything is doubted.
    let settled = i128::try_from(since).is_ok_and(|since| changed + COARSE < since);
    if settled || name == GIT { stamp(name, found) } else { DOUBTFUL }
}

fn stamp(name: &[u8], found: &Stat) -> Stamp {
    if name == GIT {
        return PRESENT;
    }
    let mut stamp = [0; 40];
    // Systems have them in several sizes, none of which is larger than eight bytes.
    let fields = [
        i128::from(found.st_ctime),
        i128::from(found.st_ctime_nsec),
        i128::from(found.st_size),
        i128::from(found.st_ino),
        i128::from(found.st_dev),
    ];
    for (place, field) in stamp.chunks_exact_mut(8).zip(fields) {
        place.copy_from_slice(&field.to_le_bytes()[..8]);
    }
    stamp
}
