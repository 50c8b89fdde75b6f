//! One number for every file of a folder: names, contents, links, and what may be executed.

use crate::TrustError;
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Write as _};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 256 * 1024 * 1024;
const DEEPEST: usize = 32;

/// What a folder holds, as a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(String);

impl Digest {
    /// Takes a digest as it was stored.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("sha256:")?;
        (hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| Self(text.to_owned()))
    }

    /// Returns it as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Returns the digest of a folder. Links are not followed: where they lead is part of it, what lies there is not.
pub fn digest(folder: &Path) -> Result<Digest, TrustError> {
    let mut files = Vec::new();
    list(folder, Path::new(""), 0, &mut files)?;
    files.sort();
    let mut whole = Sha256::new();
    let mut left = MOST_BYTES;
    for (path, kind) in files {
        let at = folder.join(&path);
        let name = path.as_os_str().as_bytes();
        let (mark, content) = match kind {
            Kind::Link => {
                let target = fs::read_link(&at).map_err(TrustError::io("read", &at))?;
                (b'l', Sha256::digest(target.as_os_str().as_bytes()))
            }
            Kind::File => {
                let (content, is_program) = content(&at, &mut left, folder)?;
                (if is_program { b'x' } else { b'f' }, content)
            }
            Kind::Other => (b'o', Sha256::digest(b"")),
        };
        // The length before the name, so that no name can pass for another and its content.
        whole.update([mark]);
        whole.update((name.len() as u64).to_be_bytes());
        whole.update(name);
        whole.update(content);
    }
    let mut text = String::from("sha256:");
    for byte in whole.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(Digest(text))
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    File,
    Link,
    /// A pipe or a device: that it is there counts, and it is not opened.
    Other,
}

fn list(root: &Path, below: &Path, depth: usize, files: &mut Vec<(PathBuf, Kind)>) -> Result<(), TrustError> {
    let too_much = |what| TrustError::TooMuch { path: root.to_path_buf(), what };
    if depth > DEEPEST {
        return Err(too_much("32 levels of folders"));
    }
    let folder = root.join(below);
    for entry in fs::read_dir(&folder).map_err(TrustError::io("read", &folder))? {
        let entry = entry.map_err(TrustError::io("read", &folder))?;
        let kind = entry.file_type().map_err(TrustError::io("read", &folder))?;
        let path = below.join(entry.file_name());
        if kind.is_dir() {
            list(root, &path, depth + 1, files)?;
        } else {
            let kind = if kind.is_symlink() {
                Kind::Link
            } else if kind.is_file() {
                Kind::File
            } else {
                Kind::Other
            };
            files.push((path, kind));
        }
        if files.len() > MOST_FILES {
            return Err(too_much("10,000 files"));
        }
    }
    Ok(())
}

type Hash = sha2::digest::Output<Sha256>;

/// Returns the hash of a file, and whether it may be executed.
fn content(path: &Path, left: &mut u64, folder: &Path) -> Result<(Hash, bool), TrustError> {
    // Neither waits for a pipe that took the file's place, nor follows a link that did.
    let flags = libc::O_NONBLOCK | libc::O_NOFOLLOW;
    let failed = |error| TrustError::io("read", path)(error);
    let mut file = File::options().read(true).custom_flags(flags).open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            break;
        }
        *left = left
            .checked_sub(read as u64)
            .ok_or_else(|| TrustError::TooMuch { path: folder.to_path_buf(), what: "256 MB" })?;
        hash.update(&buffer[..read]);
    }
    Ok((hash.finalize(), metadata.permissions().mode() & 0o111 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_a_folder_changes_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("SKILL.md", "a");
        let mut seen = vec![digest(folder.path()).unwrap()];
        assert_eq!(digest(folder.path()).unwrap(), seen[0]);
        let changes: [&dyn Fn(); 6] = [
            &|| write("SKILL.md", "b"),
            &|| write("other", ""),
            &|| fs::rename(folder.path().join("other"), folder.path().join("another")).unwrap(),
            &|| {
                fs::set_permissions(folder.path().join("another"), fs::Permissions::from_mode(0o755))
                    .unwrap();
            },
            &|| std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap(),
            &|| {
                fs::remove_file(folder.path().join("link")).unwrap();
                std::os::unix::fs::symlink("/etc/shadow", folder.path().join("link")).unwrap();
            },
        ];
        for change in changes {
            change();
            let digest = digest(folder.path()).unwrap();
            assert!(!seen.contains(&digest));
            seen.push(digest);
        }
    }
}
