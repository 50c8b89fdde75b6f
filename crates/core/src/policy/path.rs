//! Paths as text: one spelling for every way to write the same path.
//!
//! Nothing here looks at a disk. What only a disk knows (where links lead) is asked of [`Files`].

use std::borrow::Cow;
use std::cell::RefCell;

/// Where a session works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The project's root, absolute.
    pub root: String,
    /// Where the client's shell is, absolute.
    pub cwd: String,
    /// The user's home, when it is known.
    pub home: Option<String>,
}

/// What only a disk knows about a path.
pub trait Files {
    /// Returns where an absolute path really leads, or `None` when it leads nowhere.
    ///
    /// The path is passed as it was written, so that `..` behind a link is followed as the system follows it. For
    /// a path that does not exist yet, an implementor resolves the part that does.
    fn real(&self, path: &str) -> Option<String>;
}

/// A disk without links.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLinks;

impl Files for NoLinks {
    fn real(&self, _: &str) -> Option<String> {
        None
    }
}

/// A disk that is asked once about each path: whatever is worked out from it is about one state of the disk.
pub struct Remembered<'a> {
    files: &'a dyn Files,
    known: RefCell<Vec<(String, Option<String>)>>,
}

impl<'a> Remembered<'a> {
    /// Remembers what a disk says.
    pub fn new(files: &'a dyn Files) -> Self {
        Self { files, known: RefCell::default() }
    }
}

impl Files for Remembered<'_> {
    fn real(&self, path: &str) -> Option<String> {
        if let Some((_, real)) = self.known.borrow().iter().find(|(known, _)| known == path) {
            return real.clone();
        }
        let real = self.files.real(path);
        self.known.borrow_mut().push((path.to_owned(), real.clone()));
        real
    }
}

/// Returns the absolute path that a text means in a folder, as written otherwise.
pub(super) fn absolute(text: &str, cwd: &str, home: Option<&str>) -> String {
    let text = text.trim_matches('\0');
    let decoded;
    let text = match text.strip_prefix("file://") {
        Some(path) => {
            decoded = percent_decoded(path);
            decoded.as_str()
        }
        None => text,
    };
    let in_home = ["~", "$HOME", "${HOME}"].into_iter().find_map(|word| {
        let rest = text.strip_prefix(word)?;
        (rest.is_empty() || rest.starts_with(['/', '\\'])).then_some(rest)
    });
    match (in_home, home) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ if text.starts_with(['/', '\\']) => text.to_owned(),
        // `C:\…` stays what it is.
        _ if text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic() => {
            format!("/{text}")
        }
        _ => format!("{cwd}/{text}"),
    }
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(escaped.unwrap_or(bytes[at]));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the one spelling of an absolute path: no `.`, `..`, doubled slashes or trailing dots, in lower case.
///
/// File systems that ignore case or trailing dots would otherwise know the same file by names that we do not.
pub(super) fn normal(path: &str, cwd: &str) -> String {
    if is_plain(path) {
        return path.to_ascii_lowercase();
    }
    let mut parts: Vec<String> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => {
                // `a.`, `a ` and `a::$DATA` are `a` to some systems.
                let part = part.split("::$").next().unwrap_or(part);
                let trimmed = part.trim_end_matches(['.', ' ']);
                let kept = if trimmed.is_empty() { part } else { trimmed };
                parts.push(kept.to_lowercase());
                // The system's own names for the working folder and the root of a process.
                let linked = match parts.as_slice() {
                    [proc, _, name] if proc == "proc" && name == "cwd" => Some(cwd),
                    [proc, _, name] if proc == "proc" && name == "root" => Some("/"),
                    _ => None,
                };
                if let Some(folder) = linked {
                    let folder = if folder.starts_with("/proc/") { "/" } else { folder };
                    parts = normal(folder, "/")
                        .split('/')
                        .filter(|part| !part.is_empty())
                        .map(Into::into)
                        .collect();
                }
            }
        }
    }
    format!("/{}", parts.join("/"))
}

/// The same for a path in no folder, which is copied only if it has another spelling.
pub(super) fn in_normal_form(path: &str) -> Cow<'_, str> {
    let is_normal = is_plain(path) && !path.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_normal { Cow::Borrowed(path) } else { Cow::Owned(normal(path, "")) }
}

/// Returns whether a path is normal but for its case. Nearly all are, and there can be thousands to compare with.
fn is_plain(path: &str) -> bool {
    const PROC: &[u8] = b"/proc/";
    let bytes = path.as_bytes();
    let ends_part = |byte: u8| matches!(byte, b'/' | b'.' | b' ');
    let is_odd = |pair: &[u8]| {
        // What begins a part may be a dot; what ends one may not.
        pair[1] == b'/' && ends_part(pair[0]) || matches!(pair[1], b'\\' | b':') || !pair[1].is_ascii()
    };
    bytes.first() == Some(&b'/')
        && bytes.last().is_some_and(|last| !ends_part(*last))
        && !bytes.get(..PROC.len()).is_some_and(|start| start.eq_ignore_ascii_case(PROC))
        && !bytes.windows(2).any(is_odd)
}

/// Returns whether a normal path is a folder's or inside it.
pub(super) fn inside(path: &str, folder: &str) -> bool {
    path == folder || path.strip_prefix(folder).is_some_and(|rest| folder == "/" || rest.starts_with('/'))
}

/// Returns the last part of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_copied_is_normal() {
        let paths = [
            "/p/a.yaml",
            "/P/a",
            "/p/../a",
            "/p/./a",
            "/p//a",
            "/p/a.",
            "/p/é",
            "/proc/1/root/a",
            "/p/a/",
            "/",
            "p/a",
        ];
        let copied: Vec<bool> =
            paths.iter().map(|path| matches!(in_normal_form(path), Cow::Owned(_))).collect();
        assert_eq!(copied.iter().filter(|copied| !**copied).count(), 1, "{copied:?}");
        for path in paths {
            assert_eq!(in_normal_form(path), normal(path, ""), "{path}");
        }
    }

    #[test]
    fn what_counts_as_plain_is_normal() {
        let (mut plain, mut all) = (0, 0);
        let parts = [
            "a", "B.c", ".git", ".", "..", "", "a.", "a ", "a::$DATA", "x:y", "proc", "cwd", "self", "\\",
            "é", "...",
        ];
        let slow = |path: &str| normal(&format!("/.{path}"), "/cwd");
        for first in parts {
            for second in parts {
                for third in parts {
                    let path = format!("/{first}/{second}/{third}");
                    all += 1;
                    if is_plain(&path) {
                        plain += 1;
                        assert!(!is_plain(&format!("/.{path}")));
                        assert_eq!(normal(&path, "/cwd"), slow(&path), "{path}");
                    }
                }
            }
        }
        assert!(plain > 50 && plain < all / 2, "{plain} of {all}");
    }

    #[test]
    fn every_spelling_of_a_path_is_one() {
        let here = |text: &str| normal(&absolute(text, "/project/src", Some("/home/ada")), "/project/src");
        for spelling in [
            "/project/.abide/a.yaml",
            "../.abide/a.yaml",
            "./../.abide//a.yaml",
            "x/../../.abide/./a.yaml",
            "/PROJECT/.Abide/A.YAML",
            "/project/.abide/a.yaml.",
            "/project/.abide/a.yaml ",
            "/project/.abide/a.yaml/",
            "..\\.abide\\a.yaml",
            "file:///project/%2eabide/a.yaml",
            "/proc/self/cwd/../.abide/a.yaml",
            "/proc/123/root/project/.abide/a.yaml",
            "/../project/.abide/a.yaml",
            "/project/.abide/a.yaml\0",
        ] {
            assert_eq!(here(spelling), "/project/.abide/a.yaml", "{spelling}");
        }
        assert_eq!(here("~/x"), "/home/ada/x");
        assert_eq!(here("$HOME/x"), "/home/ada/x");
        assert_eq!(here("~x"), "/project/src/~x");
        assert!(inside("/a/b", "/a") && inside("/a", "/a") && inside("/a", "/") && !inside("/ab", "/a"));
    }
}
