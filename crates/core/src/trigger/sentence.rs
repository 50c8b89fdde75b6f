//! A message as sentences and words, without what it only quotes.

use super::Mention;

/// A sentence of a message.
#[derive(Debug)]
pub(super) struct Sentence {
    /// Its text.
    pub(super) text: String,
    /// The same in lower case.
    pub(super) lower: String,
    /// Its words, in lower case.
    pub(super) words: Vec<String>,
    /// Whether it ends with a question mark.
    asks: bool,
}

/// Returns the sentences of a message; code and quotations are left out.
pub(super) fn sentences(message: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in message.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced || trimmed.starts_with('>') {
            continue;
        }
        split(&unquoted(line), &mut found);
    }
    found
}

/// Takes `code` and "quotations" out of a line; a mark without its partner stays.
fn unquoted(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '"', '“', '«']) {
        let open = rest[at..].chars().next().unwrap_or('`');
        let close = match open {
            '“' => '”',
            '«' => '»',
            other => other,
        };
        let inner = at + open.len_utf8();
        match rest[inner..].find(close) {
            Some(length) => {
                text.push_str(&rest[..at]);
                // Something stands there, so that the words around it are no phrase.
                text.push_str(" … ");
                rest = &rest[inner + length + close.len_utf8()..];
            }
            None => {
                text.push_str(&rest[..inner]);
                rest = &rest[inner..];
            }
        }
    }
    text.push_str(rest);
    text
}

fn split(line: &str, found: &mut Vec<Sentence>) {
    let mut start = 0;
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let ends = match character {
            '!' | '?' | '.' => next.is_none_or(|next| next.is_whitespace() || "!?.)".contains(next)),
            ';' | '。' | '？' | '！' => true,
            _ => false,
        };
        if ends {
            add(&line[start..at], matches!(character, '?' | '？'), found);
            start = at + character.len_utf8();
        }
    }
    add(&line[start..], false, found);
}

fn add(text: &str, asks: bool, found: &mut Vec<Sentence>) {
    let words: Vec<String> = text.split_whitespace().flat_map(words_of).collect();
    if !words.is_empty() {
        let text = text.trim().to_owned();
        let lower = text.to_lowercase();
        found.push(Sentence { text, lower, words, asks });
    }
}

/// Returns a word without the punctuation around it; `deploy.sh` and `pre-deploy` stay one word.
fn words_of(word: &str) -> Vec<String> {
    let word = word.to_lowercase().replace('’', "'");
    let trimmed = word.trim_matches(|edge: char| "()[],:;!?'*…".contains(edge)).trim_end_matches('.');
    // A comma is a border that no phrase goes across.
    let comma = word.ends_with([',', ':', ')']);
    let mut words: Vec<String> = (!trimmed.is_empty()).then(|| trimmed.to_owned()).into_iter().collect();
    if trimmed.is_empty() && word.contains('…') {
        words.push("…".to_owned());
    }
    if comma {
        words.push(",".to_owned());
    }
    words
}

const NEGATIONS: &[&str] = &[
    "not",
    "don't",
    "dont",
    "doesn't",
    "didn't",
    "never",
    "no",
    "without",
    "avoid",
    "stop",
    "skip",
    "won't",
    "can't",
    "cannot",
    "shouldn't",
    "mustn't",
    "wouldn't",
    "isn't",
    "instead",
    "nothing",
    "neither",
    "nor",
    "rather",
];

const QUESTIONS: &[&str] = &[
    "how", "what", "why", "when", "where", "who", "which", "did", "does", "do", "was", "were", "has", "have",
    "had", "is", "are", "explain", "describe", "what's", "how's", "why's", "show", "tell",
];

const NOUN_MARKS: &[&str] = &[
    "the", "a", "an", "this", "that", "last", "previous", "next", "our", "my", "your", "its", "their",
    "each", "every", "of", "after", "before", "during", "since", "about", "latest", "first", "old", "new",
    "failed", "broken", "any",
];

const STARTS: &[&str] = &[
    "run", "start", "do", "begin", "trigger", "execute", "launch", "perform", "use", "make", "kick", "off",
    "redo",
];

impl Sentence {
    /// Returns where a phrase stands, word for word.
    pub(super) fn places(&self, phrase: &[String]) -> Vec<usize> {
        if phrase.is_empty() || phrase.len() > self.words.len() {
            return Vec::new();
        }
        let starts = 0..=self.words.len() - phrase.len();
        starts.filter(|start| self.words[*start..].starts_with(phrase)).collect()
    }

    /// Returns why what stands at a word only mentions something; `phrase` is its length, if it is a keyword.
    pub(super) fn mention(&self, at: usize, phrase: Option<usize>) -> Option<Mention> {
        let clause =
            self.words[..at].iter().rposition(|word| word == "," || word == "but").map_or(0, |at| at + 1);
        let before = &self.words[clause..at];
        if before.iter().any(|word| NEGATIONS.contains(&word.as_str())) {
            return Some(Mention::Negated);
        }
        let first = self.words[clause..].first().map_or("", String::as_str);
        let whole = self.words.first().map_or("", String::as_str);
        let about = |word: &str| QUESTIONS.contains(&word);
        // "do the deploy" is no question, and neither is a keyword that begins the sentence.
        let asked =
            at > 0 && (about(first) || about(whole)) && (self.asks || !matches!(whole, "do" | "have"));
        if asked {
            return Some(Mention::Question);
        }
        if phrase == Some(1)
            && let Some(mark) = at.checked_sub(1).map(|mark| self.words[mark].as_str())
            && NOUN_MARKS.contains(&mark)
        {
            let started = before.iter().any(|word| STARTS.contains(&word.as_str()));
            return (!started).then_some(Mention::Noun);
        }
        None
    }
}
