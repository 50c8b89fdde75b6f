//! The path of a file in a session: one spelling for each, and no way out.

use std::fmt;
use unicode_normalization::UnicodeNormalization as _;

/// A path inside a session's own file system: absolute, normalised, without `.` and `..`.
///
/// Parsing is the only way to one, so that two spellings of a name are one file and nothing leads elsewhere, whatever
/// the files are kept in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(String);

/// Why a text is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// It does not start at the root.
    #[error("a path is absolute: it starts with `/`")]
    Relative,
    /// It goes up.
    #[error("a path has no `..`")]
    Parent,
    /// It has characters that deceive or break.
    #[error("a path has no backslash and no control or direction characters")]
    Character,
    /// It is too long, as a whole or in one part, or too deep.
    #[error("a path has at most 1024 bytes, 32 parts, and 255 bytes in each part")]
    Long,
}

impl FilePath {
    /// Returns `/`.
    pub fn root() -> Self {
        Self("/".to_owned())
    }

    /// Takes a path as somebody wrote it.
    pub fn parse(text: &str) -> Result<Self, BadPath> {
        // Before anything else: composing characters costs time for each byte.
        if text.len() > 4096 {
            return Err(BadPath::Long);
        }
        // Two ways to write `é` are one name, as on every system that people move files between.
        let text: String = text.nfc().collect();
        if !text.starts_with('/') {
            return Err(BadPath::Relative);
        }
        if text.contains(is_refused) {
            return Err(BadPath::Character);
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => return Err(BadPath::Parent),
                part => parts.push(part),
            }
        }
        let path = format!("/{}", parts.join("/"));
        if path.len() > 1024 || parts.len() > 32 || parts.iter().any(|part| part.len() > 255) {
            return Err(BadPath::Long);
        }
        Ok(Self(path))
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether it is `/`.
    pub fn is_root(&self) -> bool {
        self.0 == "/"
    }

    /// Returns the last part, and `/` for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("/")
    }

    /// Returns the folder that it is in; the root is in none.
    pub fn parent(&self) -> Option<Self> {
        match self.0.rfind('/')? {
            _ if self.is_root() => None,
            0 => Some(Self::root()),
            end => Some(Self(self.0[..end].to_owned())),
        }
    }

    /// Returns the folders above it, the root first.
    pub fn ancestors(&self) -> Vec<Self> {
        let mut all: Vec<Self> = std::iter::successors(self.parent(), Self::parent).collect();
        all.reverse();
        all
    }

    /// Returns whether it lies somewhere below a folder.
    pub fn is_below(&self, folder: &Self) -> bool {
        !self.is_root()
            && (folder.is_root() || self.0.strip_prefix(&folder.0).is_some_and(|rest| rest.starts_with('/')))
    }
}

/// Characters that end a name early, read like a separator, or show another name than the one there is.
fn is_refused(character: char) -> bool {
    character.is_control()
        || character == '\\'
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

impl fmt::Display for FilePath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_path_has_one_spelling() {
        for (written, path) in [
            ("/", "/"),
            ("//", "/"),
            ("/./", "/"),
            ("/a", "/a"),
            ("/a/", "/a"),
            ("//a//./b/", "/a/b"),
            ("/...", "/..."),
            ("/..a/b..", "/..a/b.."),
            ("/ä ö/%2e%2e", "/ä ö/%2e%2e"),
            ("/cafe\u{301}", "/caf\u{e9}"),
        ] {
            assert_eq!(FilePath::parse(written).as_ref().map(FilePath::as_str), Ok(path), "{written:?}");
        }
    }

    #[test]
    fn nothing_that_leads_out_or_deceives_is_a_path() {
        for (written, why) in [
            ("", BadPath::Relative),
            ("a", BadPath::Relative),
            ("../a", BadPath::Relative),
            ("~/a", BadPath::Relative),
            ("C:\\a", BadPath::Relative),
            ("/..", BadPath::Parent),
            ("/a/../../b", BadPath::Parent),
            ("/a/..", BadPath::Parent),
            ("/a\0b", BadPath::Character),
            ("/a\nb", BadPath::Character),
            ("/..\\..\\a", BadPath::Character),
            ("/a\u{202e}txt.exe", BadPath::Character),
            ("/\u{feff}a", BadPath::Character),
        ] {
            assert_eq!(FilePath::parse(written), Err(why), "{written:?}");
        }
        assert_eq!(FilePath::parse(&format!("/{}", "a".repeat(256))), Err(BadPath::Long));
        assert_eq!(FilePath::parse(&"/a".repeat(33)), Err(BadPath::Long));
        assert_eq!(FilePath::parse(&"/".repeat(5000)), Err(BadPath::Long));
        assert!(FilePath::parse(&"/a".repeat(32)).is_ok());
    }

    #[test]
    fn a_path_knows_what_is_above_it() {
        let path = FilePath::parse("/a/b/c.txt").unwrap();
        let above: Vec<String> = path.ancestors().iter().map(ToString::to_string).collect();
        assert_eq!(above, ["/", "/a", "/a/b"]);
        assert_eq!((path.name(), FilePath::root().name()), ("c.txt", "/"));
        assert_eq!(FilePath::root().parent(), None);
        let below = |path: &str, folder: &str| {
            FilePath::parse(path).unwrap().is_below(&FilePath::parse(folder).unwrap())
        };
        assert!(below("/a/b", "/a") && below("/a", "/"));
        assert!(!below("/ab", "/a") && !below("/a", "/a") && !below("/", "/"));
    }

    proptest! {
        #[test]
        fn whatever_is_parsed_stays_inside_and_parses_to_itself(written in "/(\\PC|\\.|/|\\.\\./){0,40}") {
            if let Ok(path) = FilePath::parse(&written) {
                prop_assert!(path.as_str().split('/').all(|part| part != ".."));
                prop_assert_eq!(FilePath::parse(path.as_str()), Ok(path));
            }
        }
    }
}
