//! The texts of files that a step gives to an agent: a path, a folder or a glob of the project, within bounds.

use abide_core::view::context::FileText;
use globset::{GlobBuilder, GlobMatcher};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// How many files one path or glob may name.
const MOST_FILES: usize = 100;
/// How many bytes of texts are read for one path or glob; a prompt has room for far less.
const MOST_BYTES: usize = 1 << 20;
/// How many bytes of each end of a file are read.
const END: u64 = 160 * 1024;
/// How many entries of folders are looked at, and how deep.
const MOST_ENTRIES: usize = 20_000;
const DEEPEST: usize = 16;

/// What a path or a glob names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Texts {
    /// Files with their texts, in the order of their paths.
    pub files: Vec<FileText>,
    /// How many more there are: too many, or no text.
    pub left_out: usize,
}

/// Reads what a path or a glob names below a folder; the error says why that may not be read.
///
/// A path to a folder names every file in it. Names that begin with a dot, and `node_modules`, are only found by a
/// pattern that writes them out. Nothing outside `root` is read, whatever the pattern or a link says.
pub fn texts(root: &Path, pattern: &str) -> Result<Texts, String> {
    let pattern = pattern.trim();
    let outside = || format!("`{pattern}` leads out of {}", root.display());
    if pattern.starts_with(['/', '~', '\\']) || pattern.split('/').any(|part| part == "..") {
        return Err(outside());
    }
    let Ok(inside) = root.canonicalize() else { return Ok(Texts::default()) };
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    // What lies before the first wildcard is a path; a name that exists is itself, whatever characters it has.
    let plain = if root.join(parts.join("/")).exists() {
        parts.len()
    } else {
        parts.iter().position(|part| part.contains(['*', '?', '[', '{'])).unwrap_or(parts.len())
    };
    let start = root.join(parts[..plain].join("/"));
    match start.canonicalize() {
        Err(_) => return Ok(Texts::default()),
        Ok(start) if !start.starts_with(&inside) => return Err(outside()),
        Ok(_) => {}
    }
    let matcher = match parts[plain..].join("/").as_str() {
        "" => None,
        glob => Some(matcher(glob).map_err(|error| format!("`{pattern}` is not a glob: {error}"))?),
    };
    let hidden = parts[plain..].iter().any(|part| part.starts_with('.'));
    let mut found = if start.is_dir() { files_below(&start, hidden) } else { vec![start.clone()] };
    if let Some(matcher) = &matcher {
        found.retain(|file| file.strip_prefix(&start).is_ok_and(|below| matcher.is_match(below)));
    }
    let mut texts = Texts::default();
    let mut bytes = 0;
    for file in found {
        let is_inside = || file.canonicalize().is_ok_and(|real| real.starts_with(&inside));
        let text = if texts.files.len() < MOST_FILES && bytes < MOST_BYTES && is_inside() {
            read(&file)
        } else {
            None
        };
        match text {
            Some((text, cut)) => {
                bytes += text.len();
                let path = file.strip_prefix(root).unwrap_or(&file).display().to_string();
                texts.files.push(FileText { path, text, cut });
            }
            None => texts.left_out += 1,
        }
    }
    Ok(texts)
}

/// Compiles a glob in which `*` stays within a folder and `**` does not.
fn matcher(glob: &str) -> Result<GlobMatcher, globset::Error> {
    GlobBuilder::new(glob).literal_separator(true).build().map(|glob| glob.compile_matcher())
}

/// Returns the files of a folder and of the folders in it, sorted; links to folders are not followed.
fn files_below(folder: &Path, hidden: bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut entries = 0;
    let mut folders = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            entries += 1;
            if entries > MOST_ENTRIES {
                break;
            }
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name == "node_modules" || (name.starts_with('.') && !hidden) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEEPEST => folders.push((entry.path(), depth + 1)),
                Ok(kind) if kind.is_file() || kind.is_symlink() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort_unstable();
    files
}

/// Reads a text, or both ends of a long one; nothing for what is no file or no text.
fn read(path: &Path) -> Option<(String, bool)> {
    // A pipe would block, and a device never ends.
    let length = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.len();
    let mut file = File::open(path).ok()?;
    let mut head = Vec::new();
    file.by_ref().take(END * 2).read_to_end(&mut head).ok()?;
    if head.contains(&0) {
        return None;
    }
    if length <= END * 2 {
        return Some((String::from_utf8_lossy(&head).into_owned(), false));
    }
    head.truncate(usize::try_from(END).unwrap_or(usize::MAX));
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(length - END)).ok()?;
    file.take(END).read_to_end(&mut tail).ok()?;
    let (head, tail) = (String::from_utf8_lossy(&head), String::from_utf8_lossy(&tail));
    // A character that is torn at the cut is left out with the rest.
    let head = head.trim_end_matches(char::REPLACEMENT_CHARACTER);
    let tail = tail.trim_start_matches(char::REPLACEMENT_CHARACTER);
    Some((format!("{head}\n… the middle is left out …\n{tail}"), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn paths(root: &Path, pattern: &str) -> Vec<String> {
        texts(root, pattern).unwrap().files.into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn paths_folders_and_globs_name_files_of_the_project() {
        let files = [
            ("README.md", "r"),
            ("src/a.rs", "a"),
            ("src/deep/b.rs", "b"),
            ("src/.hidden", "h"),
            (".env", "e"),
        ];
        let project = project(&files);
        let root = project.path();
        assert_eq!(paths(root, "README.md"), ["README.md"]);
        assert_eq!(paths(root, "./src/"), ["src/a.rs", "src/deep/b.rs"]);
        assert_eq!(paths(root, "src/*.rs"), ["src/a.rs"]);
        assert_eq!(paths(root, "**/*.{rs,md}"), ["README.md", "src/a.rs", "src/deep/b.rs"]);
        assert_eq!(paths(root, "nothing/*.rs"), [""; 0]);
        assert_eq!(paths(root, ".env"), [".env"], "what is written out is meant");
        assert_eq!(texts(root, "src/a.rs").unwrap().files[0].text, "a");
    }

    #[test]
    fn a_name_that_looks_like_a_glob_is_itself() {
        let project = project(&[("app/[id].ts", "page"), ("app/i.ts", "other")]);
        assert_eq!(paths(project.path(), "app/[id].ts"), ["app/[id].ts"]);
    }

    #[test]
    fn nothing_outside_is_read_by_name_or_by_link() {
        let outside = project(&[("secret.txt", "s")]);
        let inside = project(&[("a/own.txt", "o")]);
        let root = inside.path();
        for pattern in ["../x", "a/../../x", "/etc/passwd", "~/x"] {
            assert!(texts(root, pattern).unwrap_err().contains("leads out of"), "{pattern}");
        }
        std::os::unix::fs::symlink(outside.path(), root.join("linked")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.txt"), root.join("a/link.txt")).unwrap();
        assert!(texts(root, "linked/secret.txt").unwrap_err().contains("leads out of"));
        let found = texts(root, "a/").unwrap();
        assert_eq!((found.files.len(), found.left_out), (1, 1), "{found:?}");
        assert!(texts(root, "a/link.txt").is_err());
    }

    #[test]
    fn what_is_no_text_or_too_much_is_counted() {
        let project = project(&[("bin/x", "a\0b"), ("bin/y", "y")]);
        let root = project.path();
        assert!(std::process::Command::new("mkfifo").arg(root.join("bin/pipe")).status().unwrap().success());
        let found = texts(root, "bin").unwrap();
        assert_eq!((found.files.len(), found.left_out), (1, 1), "{found:?}");
        for number in 0..150 {
            std::fs::write(root.join(format!("bin/{number:03}")), "n").unwrap();
        }
        let found = texts(root, "bin").unwrap();
        assert_eq!((found.files.len(), found.left_out), (100, 52));
    }

    #[test]
    fn a_long_file_is_read_at_both_ends_only() {
        let project = project(&[("long.txt", &format!("begin{}end", "ä".repeat(1 << 20)))]);
        let found = texts(project.path(), "long.txt").unwrap();
        let file = &found.files[0];
        assert!(file.cut && file.text.len() < 400_000);
        assert!(
            file.text.starts_with("beginä") && file.text.ends_with("äend") && !file.text.contains('\u{fffd}')
        );
    }
}
