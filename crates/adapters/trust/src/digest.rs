//! One number for every file of a folder: names, contents, links, and what may be executed.

use crate::TrustError;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
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

/// What a digest is taken of, beside the folder itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scope<'a> {
    /// The folders that links may lead into: what lies there counts as a part of the folder.
    pub within: &'a [PathBuf],
    /// A file that was read already: what was read counts, not what lies there by now.
    pub read: Option<(&'a Path, &'a [u8])>,
}

/// Returns the digest of a folder: of every file in it, and of every file that a link in it leads to.
///
/// A link that leads out of the folder and of [`Scope::within`] is refused: what lies there could change unseen.
pub fn digest(folder: &Path, scope: Scope<'_>) -> Result<Digest, TrustError> {
    let real = |path: &Path| path.canonicalize().map_err(TrustError::io("find", path));
    let base = real(folder)?;
    // What a link to the same file says is read as well; a folder that is gone holds nothing.
    let within: Vec<PathBuf> = scope.within.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let known = match scope.read {
        Some((path, bytes)) => Some((real(path)?, Sha256::digest(bytes))),
        None => None,
    };
    let mut walk =
        Walk { base: &base, within: &within, parts: Vec::new(), known: BTreeSet::new(), left: Vec::new() };
    walk.known.insert(base.clone());
    walk.list(&base, 0)?;
    while let Some(target) = walk.left.pop() {
        walk.beyond(&target)?;
    }
    let mut parts = walk.parts;
    parts.sort();
    let mut whole = Sha256::new();
    let mut left = MOST_BYTES;
    for Part { name, kind, at } in parts {
        let (mark, content) = match kind {
            Kind::Link(target) => (b'l', Sha256::digest(target)),
            Kind::File => {
                let as_read = known.as_ref().filter(|(path, _)| *path == at).map(|(_, hash)| hash);
                let (content, is_program) = content(&at, &mut left, folder)?;
                (if is_program { b'x' } else { b'f' }, as_read.copied().unwrap_or(content))
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

/// One thing that counts.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    /// What it is called, wherever the project lies: a lock is for everybody who works on it.
    name: Vec<u8>,
    kind: Kind,
    /// Where it really lies.
    at: PathBuf,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    File,
    /// A link, and what it says.
    Link(Vec<u8>),
    /// A pipe or a device: that it is there counts, and it is not opened.
    Other,
}

/// A walk through a folder and what its links lead to. Each real folder and file is looked at once, so circles end.
struct Walk<'a> {
    base: &'a Path,
    within: &'a [PathBuf],
    parts: Vec<Part>,
    /// The real folders that are listed already, and the real files that links led to.
    known: BTreeSet<PathBuf>,
    /// What links lead to and what was not looked at yet.
    left: Vec<PathBuf>,
}

impl Walk<'_> {
    fn too_much(&self, what: &'static str) -> TrustError {
        TrustError::TooMuch { path: self.base.to_path_buf(), what }
    }

    /// Returns how a real path is called: below the folder itself, else below what links may lead into.
    fn name(&self, at: &Path) -> Vec<u8> {
        let below = |root: &Path, mark: &[u8]| {
            let rest = at.strip_prefix(root).ok()?;
            Some([mark, rest.as_os_str().as_bytes()].concat())
        };
        let own = below(self.base, b"");
        // No file of the folder has a name that begins so.
        let name = own.or_else(|| self.within.iter().find_map(|root| below(root, b"//")));
        name.unwrap_or_else(|| at.as_os_str().as_bytes().to_vec())
    }

    fn part(&mut self, at: PathBuf, kind: Kind) -> Result<(), TrustError> {
        self.parts.push(Part { name: self.name(&at), kind, at });
        if self.parts.len() > MOST_FILES { Err(self.too_much("10,000 files")) } else { Ok(()) }
    }

    /// Lists a real folder.
    fn list(&mut self, folder: &Path, depth: usize) -> Result<(), TrustError> {
        if depth > DEEPEST {
            return Err(self.too_much("32 levels of folders"));
        }
        for entry in fs::read_dir(folder).map_err(TrustError::io("read", folder))? {
            let entry = entry.map_err(TrustError::io("read", folder))?;
            let kind = entry.file_type().map_err(TrustError::io("read", folder))?;
            let at = entry.path();
            if kind.is_dir() {
                if self.known.insert(at.clone()) {
                    if self.known.len() > MOST_FILES {
                        return Err(self.too_much("10,000 folders"));
                    }
                    self.list(&at, depth + 1)?;
                }
            } else if kind.is_symlink() {
                self.link(at)?;
            } else if kind.is_file() {
                if self.known.insert(at.clone()) {
                    self.part(at, Kind::File)?;
                }
            } else {
                self.part(at, Kind::Other)?;
            }
        }
        Ok(())
    }

    fn link(&mut self, at: PathBuf) -> Result<(), TrustError> {
        let says = fs::read_link(&at).map_err(TrustError::io("read", &at))?;
        // What leads nowhere holds nothing that could be run; once it leads somewhere, the digest is another one.
        if let Ok(target) = at.canonicalize() {
            let inside =
                target.starts_with(self.base) || self.within.iter().any(|root| target.starts_with(root));
            if !inside {
                return Err(TrustError::LeadsOut { link: at, target });
            }
            if !self.known.contains(&target) {
                self.left.push(target);
            }
        }
        self.part(at, Kind::Link(says.as_os_str().as_bytes().to_vec()))
    }

    /// Looks at what a link leads to.
    fn beyond(&mut self, target: &Path) -> Result<(), TrustError> {
        let found = fs::metadata(target).map_err(TrustError::io("read", target))?;
        if !self.known.insert(target.to_path_buf()) {
            return Ok(());
        }
        if found.is_dir() {
            self.list(target, 0)
        } else if found.is_file() {
            self.part(target.to_path_buf(), Kind::File)
        } else {
            self.part(target.to_path_buf(), Kind::Other)
        }
    }
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
    use std::os::unix::fs::symlink;

    /// A project with a skill that links lead out of.
    struct Project(tempfile::TempDir);

    impl Project {
        fn new() -> Self {
            let project = Self(tempfile::tempdir().unwrap());
            project.write("skills/x/SKILL.md", "a");
            project
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.path().join("project").join(path)
        }

        fn write(&self, path: &str, text: &str) {
            fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
            fs::write(self.at(path), text).unwrap();
        }

        fn link(&self, from: &str, to: &str) {
            let _ = fs::remove_file(self.at(from));
            symlink(to, self.at(from)).unwrap();
        }

        fn digest(&self) -> Result<Digest, TrustError> {
            digest(&self.at("skills/x"), Scope { within: &[self.at("")], read: None })
        }
    }

    #[test]
    fn every_change_of_a_folder_changes_its_digest() {
        let project = Project::new();
        let mut seen = vec![project.digest().unwrap()];
        assert_eq!(project.digest().unwrap(), seen[0]);
        let changes: [&dyn Fn(); 8] = [
            &|| project.write("skills/x/SKILL.md", "b"),
            &|| project.write("skills/x/other", ""),
            &|| fs::rename(project.at("skills/x/other"), project.at("skills/x/another")).unwrap(),
            &|| {
                let may_run = fs::Permissions::from_mode(0o755);
                fs::set_permissions(project.at("skills/x/another"), may_run).unwrap();
            },
            &|| project.link("skills/x/link", "../nowhere"),
            &|| project.link("skills/x/link", "../../nowhere"),
            &|| project.write("nowhere", "it is there now"),
            &|| project.write("nowhere", "it is another one now"),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            change();
            let digest = project.digest().unwrap();
            assert!(!seen.contains(&digest), "change {index}");
            seen.push(digest);
        }
    }

    #[test]
    fn what_links_lead_to_counts_wherever_it_lies_in_the_project() {
        let project = Project::new();
        project.write("shared/body.md", "good");
        project.write("shared/scripts/deep/run.sh", "good");
        fs::remove_file(project.at("skills/x/SKILL.md")).unwrap();
        project.link("skills/x/SKILL.md", "../../shared/body.md");
        project.link("skills/x/scripts", "../../shared/scripts");
        let first = project.digest().unwrap();
        project.write("shared/body.md", "evil");
        let second = project.digest().unwrap();
        assert_ne!(first, second);
        project.write("shared/scripts/deep/run.sh", "evil");
        let third = project.digest().unwrap();
        assert_ne!(second, third);
        // A link behind a link counts, too.
        project.write("far", "good");
        project.link("shared/scripts/further", "../../far");
        let fourth = project.digest().unwrap();
        assert_ne!(third, fourth);
        project.write("far", "evil");
        assert_ne!(project.digest().unwrap(), fourth);
        project.write("elsewhere", "nothing leads here");
        let last = project.digest().unwrap();
        project.write("elsewhere", "still nothing");
        assert_eq!(project.digest().unwrap(), last);
    }

    #[test]
    fn a_digest_does_not_tell_where_the_project_lies() {
        let make = || {
            let project = Project::new();
            project.write("shared/run.sh", "good");
            project.link("skills/x/run.sh", "../../shared/run.sh");
            project
        };
        assert_eq!(make().digest().unwrap(), make().digest().unwrap());
    }

    #[test]
    fn links_in_circles_come_to_an_end() {
        let project = Project::new();
        project.link("skills/x/itself", ".");
        project.link("skills/x/above", "../..");
        project.link("skills/x/one", "two");
        project.link("skills/x/two", "one");
        for number in 0..20 {
            project.write(&format!("net/{number}/file"), "x");
            for other in 0..20 {
                project.link(&format!("net/{number}/to-{other}"), &format!("../{other}"));
            }
        }
        let before = project.digest().unwrap();
        project.write("net/19/file", "y");
        assert_ne!(project.digest().unwrap(), before);
    }

    #[test]
    fn what_leads_out_of_the_project_has_no_digest() {
        let project = Project::new();
        fs::write(project.0.path().join("secret"), "x").unwrap();
        for target in ["../../../secret", "/etc/passwd", "/"] {
            project.link("skills/x/link", target);
            let error = project.digest().unwrap_err();
            assert!(matches!(error, TrustError::LeadsOut { .. }), "{target}: {error}");
        }
        fs::remove_file(project.at("skills/x/link")).unwrap();
        project.write("shared/x", "x");
        project.link("skills/x/link", "../../shared");
        project.digest().unwrap();
        project.link("shared/out", "/etc");
        assert!(matches!(project.digest().unwrap_err(), TrustError::LeadsOut { .. }), "behind another link");
    }

    #[test]
    fn what_was_read_counts_and_not_what_lies_there_by_now() {
        let project = Project::new();
        let good = project.digest().unwrap();
        let file = project.at("skills/x/SKILL.md");
        let within = [project.at("")];
        let read = |bytes: &[u8]| {
            let scope = Scope { within: &within, read: Some((&file, bytes)) };
            digest(&project.at("skills/x"), scope).unwrap()
        };
        assert_eq!(read(b"a"), good);
        assert_ne!(read(b"evil"), good, "it was swapped back meanwhile");
        fs::write(&file, "evil").unwrap();
        assert_eq!(read(b"a"), good, "it was swapped after it was read");
        project.write("shared/body.md", "a");
        project.link("skills/x/SKILL.md", "../../shared/body.md");
        let linked = project.digest().unwrap();
        assert_eq!(read(b"a"), linked);
        assert_ne!(read(b"evil"), linked);
    }
}
