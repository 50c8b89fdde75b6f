//! Searching the lines of files, within bounds that hold for any pattern.
//!
//! The engine takes time linear in the text, but a pattern can make each byte cost thousands of steps. So patterns are
//! small, lines are searched in windows, and between two windows it is looked whether time is up.

use abide_core::capability::FilePath;
use abide_engine::port::{Stop, ToolError};
use globset::{GlobBuilder, GlobMatcher};
use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use std::time::Duration;
use tokio::time::Instant;

/// How many lines are told at most, and how many characters of each.
const FINDINGS: usize = 1000;
const LINE_CHARACTERS: usize = 300;
/// How many bytes of text are told at most: what is left of an answer of usual length for the rest of it.
const FOUND_BYTES: usize = 128 * 1024;
/// How large a compiled pattern may be.
const PATTERN_BYTES: usize = 256 * 1024;
/// How much of a line is searched between two looks at the clock, and by how much windows overlap.
const WINDOW: usize = 16 * 1024;
const OVERLAP: usize = 1024;
/// How long a search may take.
const LONGEST: Duration = Duration::from_secs(5);

/// A line that matches.
pub(crate) struct Finding {
    pub(crate) path: FilePath,
    /// Counted from 1.
    pub(crate) line_number: usize,
    pub(crate) line: String,
}

/// A search on its way through files.
pub(crate) struct Search {
    pattern: Regex,
    paths: Option<Paths>,
    until: Instant,
    bytes: usize,
    over: bool,
    pub(crate) found: Vec<Finding>,
}

enum Paths {
    /// A glob without a slash: names, wherever they are.
    Names(GlobMatcher),
    /// A glob with one: whole paths.
    Whole(GlobMatcher),
}

impl Search {
    pub(crate) fn new(pattern: &str, path_pattern: Option<&str>) -> Result<Self, String> {
        let pattern = Regex::builder()
            .configure(Regex::config().nfa_size_limit(Some(PATTERN_BYTES)))
            .syntax(syntax::Config::new().nest_limit(50))
            .build(pattern)
            .map_err(|error| match error.size_limit() {
                Some(_) => "the pattern is too large: it repeats too much".to_owned(),
                None => match error.syntax_error() {
                    Some(reason) => format!("the pattern is no regular expression: {reason}"),
                    None => format!("the pattern is no regular expression: {error}"),
                },
            })?;
        let paths = path_pattern.map(paths).transpose()?;
        Ok(Self { pattern, paths, until: Instant::now() + LONGEST, bytes: 0, over: false, found: Vec::new() })
    }

    /// Tells whether a file is to be searched.
    pub(crate) fn wants(&self, path: &FilePath) -> bool {
        match &self.paths {
            None => true,
            Some(Paths::Names(glob)) => glob.is_match(path.name()),
            Some(Paths::Whole(glob)) => glob.is_match(path.as_str()),
        }
    }

    /// Tells whether it ended before everything was searched.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Searches one file, on a thread where it holds nobody up.
    pub(crate) async fn through(
        mut self,
        path: FilePath,
        bytes: Vec<u8>,
        stop: Stop,
    ) -> Result<Self, ToolError> {
        let work = move || {
            self.search(&path, &bytes, &stop);
            self
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| ToolError::Internal(error.to_string()))
    }

    pub(crate) fn search(&mut self, path: &FilePath, bytes: &[u8], stop: &Stop) {
        // What has a NUL byte near its start is no text.
        if bytes[..bytes.len().min(8192)].contains(&0) {
            return;
        }
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            // The last line end ends a line and begins none.
            if line.is_empty() && index > 0 && line.as_ptr() == bytes.as_ptr_range().end {
                return;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            match self.matches(line, stop) {
                None => {
                    self.over = true;
                    return;
                }
                Some(false) => {}
                Some(true) => {
                    if self.found.len() == FINDINGS || self.bytes > FOUND_BYTES {
                        self.over = true;
                        return;
                    }
                    let text: String = String::from_utf8_lossy(line).chars().take(LINE_CHARACTERS).collect();
                    self.bytes += text.len() + path.as_str().len();
                    self.found.push(Finding { path: path.clone(), line_number: index + 1, line: text });
                }
            }
        }
    }

    /// Tells whether a line matches, or nothing if time is up.
    fn matches(&self, line: &[u8], stop: &Stop) -> Option<bool> {
        let mut start = 0;
        loop {
            if Instant::now() > self.until || stop.happened() {
                return None;
            }
            let end = line.len().min(start + WINDOW);
            // A range of the line, and not a piece of it: `^`, `$` and `\b` see what is around.
            if self.pattern.is_match(Input::new(line).range(start..end)) {
                return Some(true);
            }
            if end == line.len() {
                return Some(false);
            }
            start = end - OVERLAP;
        }
    }
}

fn paths(glob: &str) -> Result<Paths, String> {
    let whole = glob.contains('/');
    // A path begins at the root whether the glob says so or not.
    let spelt = if whole && !glob.starts_with('/') && !glob.starts_with("**") {
        format!("/{glob}")
    } else {
        glob.to_owned()
    };
    let glob = GlobBuilder::new(&spelt)
        .literal_separator(true)
        .build()
        .map_err(|error| format!("the path pattern is no glob: {error}"))?
        .compile_matcher();
    Ok(if whole { Paths::Whole(glob) } else { Paths::Names(glob) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pattern: &str, text: &str) -> Vec<usize> {
        let mut search = Search::new(pattern, None).unwrap();
        search.search(&FilePath::parse("/a").unwrap(), text.as_bytes(), &Stop::never());
        search.found.iter().map(|found| found.line_number).collect()
    }

    #[test]
    fn lines_are_searched_one_by_one() {
        assert_eq!(lines("^b", "a\nb\r\nbb\nab\n"), [2, 3]);
        assert_eq!(lines("b$", "ab\r\nb\nba"), [1, 2]);
        assert_eq!(lines("^$", "a\n\nb\n"), [2], "the end of a file is no empty line");
        assert_eq!(lines("(?i)STRASSE|straße", "Straße\nGasse"), [1]);
        assert_eq!(lines("a", "\0a"), Vec::<usize>::new(), "binary files are left out");
    }

    #[test]
    fn a_match_is_found_wherever_it_lies_in_a_long_line() {
        for at in [0, WINDOW - 3, WINDOW, WINDOW + 100, 3 * WINDOW - 2, 5 * WINDOW] {
            let line = format!("{}needle{}", "x".repeat(at), "y".repeat(WINDOW));
            assert_eq!(lines("needle", &line), [1], "at {at}");
            assert_eq!(lines("^needle", &line).len(), usize::from(at == 0), "at {at}: windows begin no line");
            assert_eq!(lines("needle$", &line).len(), 0, "at {at}: nor do they end one");
        }
    }

    #[test]
    fn a_glob_looks_at_names_or_at_whole_paths() {
        let wants = |glob: &str, path: &str| {
            Search::new("x", Some(glob)).unwrap().wants(&FilePath::parse(path).unwrap())
        };
        assert!(wants("*.txt", "/a.txt") && wants("*.txt", "/d/e/a.txt") && !wants("*.txt", "/a.txtx"));
        assert!(!wants("*.txt", "/atxt"), "it is no regular expression");
        assert!(wants("/d/*.txt", "/d/a.txt") && !wants("/d/*.txt", "/d/e/a.txt"));
        assert!(wants("d/**/*.{md,txt}", "/d/e/f/a.md") && wants("**/e/*", "/d/e/a"));
        assert!(Search::new("x", Some("[")).is_err());
    }

    #[test]
    fn a_pattern_that_blows_up_is_refused_or_ends_in_time() {
        for pattern in
            ["(((a{100}){100}){100}){100}", &"(".repeat(200), "a{0,99999}{0,99999}", "(", "(?=a)", "(a)\\1"]
        {
            assert!(Search::new(pattern, None).is_err(), "{pattern}");
        }
        let text = format!("{}!", "a".repeat(2_000_000));
        for pattern in ["^(a*)*$", "(a|aa)+$", "(.*a){12}b", "[a-z]{1,900}[0-9]"] {
            let started = Instant::now();
            assert_eq!(lines(pattern, &text), Vec::<usize>::new(), "{pattern}");
            assert!(
                started.elapsed() < LONGEST + Duration::from_secs(3),
                "{pattern}: {:?}",
                started.elapsed()
            );
        }
    }

    #[test]
    fn what_is_told_is_bounded() {
        let mut search = Search::new("x", None).unwrap();
        search.search(&FilePath::parse("/a").unwrap(), "x\n".repeat(5000).as_bytes(), &Stop::never());
        assert!(search.is_over() && search.found.len() == FINDINGS);
        let mut search = Search::new("x", None).unwrap();
        let long = format!("{}\n", "x".repeat(10_000)).repeat(5000);
        search.search(&FilePath::parse("/a").unwrap(), long.as_bytes(), &Stop::never());
        assert!(search.is_over() && search.bytes < FOUND_BYTES + 2000);
    }
}
