//! Files of the project that an agent reads and writes through abide: text, bounded, and inside of the project.
#![expect(clippy::disallowed_methods, reason = "an agent asks for files of the project")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

/// The largest file that is read or written, in bytes.
const LARGEST: u64 = 10 * 1024 * 1024;

/// Returns the text of a file, or some of its lines.
pub(super) fn read(root: &Path, path: &str, line: Option<u64>, limit: Option<u64>) -> Result<String, String> {
    let path = inside(root, path)?;
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let file = fs::File::open(&path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("{} is larger than {LARGEST} bytes", path.display()));
    }
    let text = String::from_utf8(bytes).map_err(|_| format!("{} is no text", path.display()))?;
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    if line.is_none() && limit.is_none() {
        return Ok(text);
    }
    let first = count(line.unwrap_or(1).max(1)) - 1;
    Ok(text.split_inclusive('\n').skip(first).take(limit.map_or(usize::MAX, count)).collect())
}

/// Writes a file, with the folders above it.
pub(super) fn write(root: &Path, path: &str, content: &str) -> Result<(), String> {
    if content.len() as u64 > LARGEST {
        return Err(format!("{path} would be larger than {LARGEST} bytes"));
    }
    let path = inside(root, path)?;
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        return Err(format!("{} is no file", path.display()));
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    // A file that is there keeps its rights, and its other names.
    let mut file = fs::File::create(&path).map_err(failed)?;
    file.write_all(content.as_bytes()).map_err(failed)
}

/// Returns where a path leads, if that is inside of the project.
fn inside(root: &Path, path: &str) -> Result<PathBuf, String> {
    let wanted = root.join(path);
    let outside = || format!("{path} is not in the project");
    if path.contains('\0') || wanted.components().any(|part| part == Component::ParentDir) {
        return Err(outside());
    }
    let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
    // Of a file that is to be made, the first folder that is there tells where it will be.
    let mut missing = Vec::new();
    for ancestor in wanted.ancestors() {
        // A link that leads nowhere would be made where it points to.
        if ancestor.is_symlink() && !ancestor.exists() {
            return Err(outside());
        }
        if let Ok(real) = ancestor.canonicalize() {
            let real = missing.iter().rev().fold(real, |real, name| real.join(name));
            return if real.starts_with(&root) { Ok(real) } else { Err(outside()) };
        }
        missing.push(ancestor.file_name().ok_or_else(outside)?);
    }
    Err(outside())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_project_are_read_by_lines_and_written_with_their_folders() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b.txt").display().to_string();
        write(root.path(), &path, "one\ntwo\nthree\n").unwrap();
        assert_eq!(read(root.path(), &path, None, None).unwrap(), "one\ntwo\nthree\n");
        assert_eq!(read(root.path(), "a/b.txt", Some(2), Some(1)).unwrap(), "two\n");
        assert_eq!(read(root.path(), "a/b.txt", Some(9), None).unwrap(), "");
    }

    #[test]
    fn nothing_leads_out_of_the_project() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("door")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("new"), root.path().join("dangling")).unwrap();
        let secret = outside.path().join("secret").display().to_string();
        for path in [secret.as_str(), "../secret", "door/secret", "a/../../secret", "x\0y", "/etc/passwd"] {
            assert!(read(root.path(), path, None, None).is_err(), "{path}");
        }
        for path in ["door/new", "dangling", "door/deep/new", "../new"] {
            assert!(write(root.path(), path, "x").is_err(), "{path}");
        }
        assert!(!outside.path().join("new").exists());
        assert!(read(root.path(), ".", None, None).unwrap_err().contains("no file"));
        fs::write(root.path().join("binary"), [0xff, 0xfe]).unwrap();
        assert!(read(root.path(), "binary", None, None).unwrap_err().contains("no text"));
        assert!(write(root.path(), "huge", &"x".repeat(11 << 20)).is_err());
    }
}
