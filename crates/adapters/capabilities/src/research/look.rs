//! Looking for words in texts: bounded, in time that grows with the texts and not with what is in them.

use abide_core::capability::FilePath;
use abide_engine::port::ToolError;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// How many words of a query count.
const WORDS: usize = 16;
/// How many matches are told.
const BEST: usize = 20;
/// How much of a line is told, in characters.
const LINE: usize = 300;
/// How many bytes are looked through, and for how long.
const BYTES: usize = 64 << 20;
const LONGEST: Duration = Duration::from_secs(5);

/// A line that has some of the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: FilePath,
    pub(super) line_number: usize,
    pub(super) line: String,
    /// How many of the words stand in it.
    pub(super) words: usize,
}

/// A search that goes through texts, one after the other.
pub(super) struct Look {
    words: Vec<String>,
    found: Vec<Found>,
    bytes: usize,
    until: Instant,
    over: bool,
}

impl Look {
    /// Makes a search for the words of a query, if it has one.
    pub(super) fn new(query: &str) -> Option<Self> {
        let words: BTreeSet<String> = query
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .take(WORDS)
            .collect();
        let words: Vec<String> = words.into_iter().collect();
        let until = Instant::now() + LONGEST;
        (!words.is_empty()).then_some(Self { words, found: Vec::new(), bytes: 0, until, over: false })
    }

    /// Looks through a text, on a thread where a long one holds nobody up.
    pub(super) async fn through(mut self, path: FilePath, bytes: Vec<u8>) -> Result<Self, ToolError> {
        let looked = tokio::task::spawn_blocking(move || {
            self.look(&path, &bytes);
            self
        });
        looked.await.map_err(|error| ToolError::Internal(error.to_string()))
    }

    fn look(&mut self, path: &FilePath, bytes: &[u8]) {
        self.bytes += bytes.len();
        // A text with a NUL in it is none.
        if bytes.contains(&0) {
            return;
        }
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if index % 1024 == 0 && (Instant::now() > self.until || self.bytes > BYTES) {
                self.over = true;
                return;
            }
            let line = String::from_utf8_lossy(line);
            let folded = line.to_lowercase();
            let words = self.words.iter().filter(|word| folded.contains(word.as_str())).count();
            if words > 0 {
                let line = line.trim().chars().take(LINE).collect();
                self.found.push(Found { path: path.clone(), line_number: index + 1, line, words });
            }
            // The best so far are kept, so that memory stays small.
            if self.found.len() >= 50 * BEST {
                self.keep_best();
            }
        }
        self.keep_best();
    }

    /// A stable sort: of lines as good as each other, the first stays first.
    fn keep_best(&mut self) {
        self.found.sort_by_key(|found| std::cmp::Reverse(found.words));
        self.found.truncate(BEST);
    }

    /// Tells whether the search ended before everything was looked at.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Returns the best matches, best first.
    pub(super) fn best(mut self) -> Vec<Found> {
        self.keep_best();
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(query: &str, text: &str) -> Vec<String> {
        let mut look = Look::new(query).unwrap();
        look.look(&FilePath::parse("/a").unwrap(), text.as_bytes());
        look.best().into_iter().map(|found| format!("{} {}", found.line_number, found.line)).collect()
    }

    #[test]
    fn lines_with_more_of_the_words_come_first() {
        let text = "the date\nnothing\nthe Release date is May\nrelease notes\n";
        assert_eq!(
            looked("release DATE", text),
            ["3 the Release date is May", "1 the date", "4 release notes"]
        );
        assert_eq!(looked("été", "l'ÉTÉ dernier"), ["1 l'ÉTÉ dernier"]);
        assert!(Look::new(" .*+?( ").is_none());
        assert_eq!(looked("(a+)+$", "aaaa"), ["1 aaaa"]);
    }

    #[test]
    fn a_search_is_bounded_in_what_it_tells_and_keeps() {
        let text = "word ".repeat(1000) + "\n" + &"word\n".repeat(100_000);
        let found = looked("word", &text);
        assert_eq!(found.len(), BEST);
        assert!(found[0].chars().count() <= LINE + 10);
        assert_eq!(looked("x", "x\0x"), Vec::<String>::new());
    }
}
