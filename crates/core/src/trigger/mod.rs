//! Which abilities a message suggests.
//!
//! A keyword counts as a whole word or phrase, a pattern anywhere in a sentence. A trigger suggests; it must not
//! take over a message that only mentions a word, so these do not count: code, quotations, sentences with a negation
//! before the word ("don't deploy"), questions about something ("how does deploy work?", while "can you deploy?" is a
//! request), and single keywords used as nouns ("the deploy failed", while "run the deploy" is a request). The rules know
//! English; in other languages a keyword simply counts. Start at [`detect`].

mod sentence;
#[cfg(test)]
mod tests;

use crate::definition::Triggers;
use crate::event::Timestamp;
use sentence::{Sentence, sentences};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

/// How long an ability is not suggested again.
pub const PAUSE: Duration = Duration::from_secs(10);

/// How much of a message is looked at.
const LONGEST: usize = 20_000;

/// What a message says about abilities.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Detection {
    /// The abilities that it suggests, the best first; each once.
    pub suggestions: Vec<Suggestion>,
    /// The triggers that stand in it without suggesting anything.
    pub passed_over: Vec<PassedOver>,
}

/// An ability that a message suggests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The ability.
    pub ability: String,
    /// What in the message suggests it.
    pub reason: Reason,
    /// How well it fits: more is better, and of equals the one that stands earlier counts.
    pub score: usize,
}

/// What in a message suggests an ability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A word or phrase.
    Keyword(String),
    /// A regular expression.
    Pattern(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyword(keyword) => write!(out, "the message says `{keyword}`"),
            Self::Pattern(pattern) => write!(out, "the message matches `{pattern}`"),
        }
    }
}

/// A trigger that stands in a message without suggesting its ability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedOver {
    /// The ability.
    pub ability: String,
    /// The trigger.
    pub reason: Reason,
    /// Why it does not count.
    pub mention: Mention,
}

/// Why a word is only mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mention {
    /// The sentence says not to.
    Negated,
    /// The sentence asks about it.
    Question,
    /// The word is a noun there.
    Noun,
}

impl fmt::Display for Mention {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Negated => "the sentence says not to",
            Self::Question => "the sentence asks about it",
            Self::Noun => "it is only mentioned",
        })
    }
}

impl Detection {
    /// Returns the ability that an agent is told about: the best of those that it may run.
    pub fn best(&self, may_run: impl Fn(&str) -> bool) -> Option<&Suggestion> {
        self.suggestions.iter().find(|suggestion| may_run(&suggestion.ability))
    }
}

/// Returns what a message says about abilities, each given by its name and its triggers.
pub fn detect<'a>(message: &str, abilities: impl IntoIterator<Item = (&'a str, &'a Triggers)>) -> Detection {
    let end = message.char_indices().nth(LONGEST).map_or(message.len(), |(end, _)| end);
    let message = Message::read(&message[..end]);
    let mut found = Detection::default();
    let mut ranked = Vec::new();
    for (ability, triggers) in abilities {
        let mut best: Option<(Rank, Reason)> = None;
        let mut mention = None;
        for (rank, reason, hit) in hits(triggers, &message) {
            match hit {
                None => {
                    if best.as_ref().is_none_or(|(known, _)| rank > *known) {
                        best = Some((rank, reason));
                    }
                }
                Some(why) => {
                    mention.get_or_insert((reason, why));
                }
            }
        }
        match (best, mention) {
            (Some((rank, reason)), _) => {
                let suggestion = Suggestion { ability: ability.to_owned(), reason, score: rank.0 };
                ranked.push((Reverse(rank), suggestion));
            }
            (None, Some((reason, mention))) => {
                found.passed_over.push(PassedOver { ability: ability.to_owned(), reason, mention });
            }
            (None, None) => {}
        }
    }
    ranked
        .sort_by(|(left, one), (right, other)| left.cmp(right).then_with(|| one.ability.cmp(&other.ability)));
    found.suggestions = ranked.into_iter().map(|(_, suggestion)| suggestion).collect();
    found
}

/// A message, read once for all triggers.
struct Message {
    sentences: Vec<Sentence>,
    /// Every word of it, so that a keyword of which none is there costs nothing.
    words: HashSet<String>,
}

impl Message {
    fn read(text: &str) -> Self {
        let sentences = sentences(text);
        let words = sentences.iter().flat_map(|sentence| sentence.words.iter().cloned()).collect();
        Self { sentences, words }
    }
}

/// How good a match is: its score, and an earlier one before a later.
type Rank = (usize, Reverse<usize>);

/// A pattern goes before any phrase, a phrase of more words before one of fewer, a longer one before a shorter.
fn score_of(pattern: bool, words: usize, length: usize) -> usize {
    if pattern { 10_000 + length.min(9_999) } else { words.min(99) * 100 + length.min(99) }
}

/// Each pattern is compiled once for the whole message, which may have thousands of sentences.
fn hits(triggers: &Triggers, message: &Message) -> Vec<(Rank, Reason, Option<Mention>)> {
    let mut hits = Vec::new();
    for pattern in &triggers.patterns {
        for (at, sentence) in message.sentences.iter().enumerate() {
            let matches = |text: &str| pattern.matches(text) == Some(true);
            if matches(&sentence.text) || matches(&sentence.lower) {
                let rank = (score_of(true, 0, pattern.as_str().len()), Reverse(at));
                let mention = sentence.mention(sentence.words.len(), None);
                hits.push((rank, Reason::Pattern(pattern.as_str().to_owned()), mention));
            }
        }
    }
    for keyword in &triggers.keywords {
        let wanted: Vec<String> = keyword.split_whitespace().map(str::to_lowercase).collect();
        if !wanted.iter().all(|word| message.words.contains(word)) {
            continue;
        }
        for (at, sentence) in message.sentences.iter().enumerate() {
            for start in sentence.places(&wanted) {
                let rank = (score_of(false, wanted.len(), keyword.chars().count()), Reverse(at));
                let mention = sentence.mention(start, Some(wanted.len()));
                hits.push((rank, Reason::Keyword(keyword.value.clone()), mention));
            }
        }
    }
    hits
}

/// Returns whether an ability may be suggested again, by when it last was.
pub fn may_suggest(last: Option<Timestamp>, now: Timestamp) -> bool {
    // A clock that went back must not silence an ability for good.
    last.is_none_or(|last| now >= last.after(PAUSE) || now < last)
}
