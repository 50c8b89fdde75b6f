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

/// Returns what a message says about abilities, each given by its name and its triggers.
pub fn detect<'a>(message: &str, abilities: impl IntoIterator<Item = (&'a str, &'a Triggers)>) -> Detection {
    let end = message.char_indices().nth(LONGEST).map_or(message.len(), |(end, _)| end);
    let sentences = sentences(&message[..end]);
    let mut found = Detection::default();
    let mut ranked = Vec::new();
    for (ability, triggers) in abilities {
        let mut best: Option<(Rank, Reason)> = None;
        let mut mention = None;
        for (rank, reason, hit) in hits(triggers, &sentences) {
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
                ranked.push((Reverse(rank), Suggestion { ability: ability.to_owned(), reason }));
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

/// How good a match is: a pattern before a phrase, a longer phrase before a shorter one, an earlier before a later.
type Rank = (bool, usize, usize, Reverse<usize>);

fn hits(triggers: &Triggers, sentences: &[Sentence]) -> Vec<(Rank, Reason, Option<Mention>)> {
    let mut hits = Vec::new();
    for (at, sentence) in sentences.iter().enumerate() {
        for pattern in &triggers.patterns {
            let matches = |text: &str| pattern.matches(text) == Some(true);
            if matches(&sentence.text) || matches(&sentence.text.to_lowercase()) {
                let rank = (true, usize::MAX, pattern.as_str().len(), Reverse(at));
                let mention = sentence.mention(sentence.words.len(), None);
                hits.push((rank, Reason::Pattern(pattern.as_str().to_owned()), mention));
            }
        }
        for keyword in &triggers.keywords {
            let wanted: Vec<String> = keyword.split_whitespace().map(str::to_lowercase).collect();
            for start in sentence.places(&wanted) {
                let rank = (false, wanted.len(), keyword.chars().count(), Reverse(at));
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
