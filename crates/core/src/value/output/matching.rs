//! A regular expression looked for in a text that comes in pieces, in memory that does not grow with it.
//!
//! The answer is that of `regex` on the whole text, wherever it was cut. A table of states that is made as it is needed
//! answers for most patterns; those that ask for word boundaries, which such a table cannot see beyond ASCII, are walked
//! state by state. Start at [`Matching::push`].

use crate::definition::Pattern;
use regex_automata::Input;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{NFA, State, WhichCaptures};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;

/// The memory that a compiled pattern may take.
const LARGEST: usize = 1 << 20;
/// The memory that its table of states may take.
const TABLE: usize = 2 << 20;

/// A pattern cannot be looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{0}` is too large to be looked for")]
pub struct TooLarge(pub String);

/// Looks for a pattern in text that comes in pieces.
pub struct Matching {
    pattern: Pattern,
    engine: Engine,
    outcome: Option<bool>,
}

enum Engine {
    Table(Box<Table>),
    Walk(Box<Walk>),
}

impl Matching {
    /// Makes one that has seen nothing.
    pub fn new(pattern: &Pattern) -> Result<Self, TooLarge> {
        let too_large = || TooLarge(pattern.as_str().to_owned());
        let configuration =
            NFA::config().utf8(true).which_captures(WhichCaptures::None).nfa_size_limit(Some(LARGEST));
        let nfa =
            NFA::compiler().configure(configuration).build(pattern.as_str()).map_err(|_| too_large())?;
        let looks = nfa.look_set_any();
        let engine = if looks.contains_word() {
            Engine::Walk(Box::new(Walk::new(nfa)))
        } else {
            Engine::Table(Box::new(Table::new(nfa).ok_or_else(too_large)?))
        };
        Ok(Self { pattern: pattern.clone(), engine, outcome: None })
    }

    /// Returns what is looked for.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Looks at the next piece.
    pub fn push(&mut self, text: &str) {
        if self.outcome.is_none() {
            self.outcome = match &mut self.engine {
                Engine::Table(table) => table.push(text),
                Engine::Walk(walk) => walk.push(text).then_some(true),
            };
        }
    }

    /// Says that nothing more comes; returns whether the text matches.
    pub fn finish(&mut self) -> bool {
        let end = |engine: &mut Engine| match engine {
            Engine::Table(table) => table.finish(),
            Engine::Walk(walk) => walk.finish(),
        };
        *self.outcome.get_or_insert_with(|| end(&mut self.engine))
    }
}

impl std::fmt::Debug for Matching {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Matching({:?}, {:?})", self.pattern, self.outcome)
    }
}

/// A table of states that is made as it is needed, and made anew when it is full.
struct Table {
    dfa: DFA,
    cache: Cache,
    state: LazyStateID,
}

impl Table {
    fn new(nfa: NFA) -> Option<Self> {
        // A pattern that needs more for its smallest table gets that; it is bounded by the pattern's own size.
        let configuration = DFA::config().cache_capacity(TABLE).skip_cache_capacity_check(true);
        let dfa = DFA::builder().configure(configuration).build_from_nfa(nfa).ok()?;
        let mut cache = dfa.create_cache();
        let state = dfa.start_state_forward(&mut cache, &Input::new("")).ok()?;
        Some(Self { dfa, cache, state })
    }

    /// Returns whether the text matches, as soon as that is known.
    fn push(&mut self, text: &str) -> Option<bool> {
        for byte in text.bytes() {
            // Only a table that may give up refuses, and ours is made anew instead; what is not known is no match.
            let Ok(state) = self.dfa.next_state(&mut self.cache, self.state, byte) else {
                return Some(false);
            };
            self.state = state;
            if self.state.is_tagged() {
                if self.state.is_match() {
                    return Some(true);
                }
                if self.state.is_dead() || self.state.is_quit() {
                    return Some(false);
                }
            }
        }
        None
    }

    fn finish(&mut self) -> bool {
        self.dfa.next_eoi_state(&mut self.cache, self.state).is_ok_and(|state| state.is_match())
    }
}

/// All states that a pattern can be in, walked one character at a time.
///
/// What holds between two characters is decided when the second is known, so one step is always left to do.
struct Walk {
    nfa: NFA,
    before: Option<char>,
    /// The states that the last character led to.
    reached: Vec<StateID>,
    /// The states that can take a byte.
    waiting: Vec<StateID>,
    /// States whose successors are still to be looked at.
    open: Vec<StateID>,
    /// In which round each state was met last.
    met: Vec<u64>,
    round: u64,
}

impl Walk {
    fn new(nfa: NFA) -> Self {
        let met = vec![0; nfa.states().len()];
        let (reached, waiting, open) = (Vec::new(), Vec::new(), Vec::new());
        Self { nfa, before: None, reached, waiting, open, met, round: 0 }
    }

    fn push(&mut self, text: &str) -> bool {
        text.chars().any(|character| self.step(character))
    }

    fn step(&mut self, character: char) -> bool {
        if self.settle(Some(character)) {
            return true;
        }
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).as_bytes();
        for (index, byte) in bytes.iter().enumerate() {
            if index > 0 {
                // Inside a character nothing ends and nothing is looked around at.
                self.close(|_| false);
            }
            self.reached.clear();
            for state in self.waiting.drain(..) {
                let next = match self.nfa.state(state) {
                    State::ByteRange { trans } => trans.matches_byte(*byte).then_some(trans.next),
                    State::Sparse(sparse) => sparse.matches_byte(*byte),
                    State::Dense(dense) => dense.matches_byte(*byte),
                    _ => None,
                };
                self.reached.extend(next);
            }
        }
        self.before = Some(character);
        false
    }

    fn finish(&mut self) -> bool {
        self.settle(None)
    }

    /// Looks at the place between two characters, where a match may begin and end; returns whether one ends.
    fn settle(&mut self, after: Option<char>) -> bool {
        // All that anything can look at: the character before and the one after.
        let mut around = [0; 8];
        let at = self.before.map_or(0, |before| before.encode_utf8(&mut around).len());
        let end = at + after.map_or(0, |after| after.encode_utf8(&mut around[at..]).len());
        self.reached.push(self.nfa.start_anchored());
        let matcher = self.nfa.look_matcher().clone();
        self.close(|look| matcher.matches(look, &around[..end], at))
    }

    /// Follows everything that takes no byte; returns whether a match ends here.
    fn close(&mut self, holds: impl Fn(Look) -> bool) -> bool {
        self.round += 1;
        let mut ends = false;
        self.waiting.clear();
        self.open.append(&mut self.reached);
        while let Some(state) = self.open.pop() {
            if std::mem::replace(&mut self.met[state], self.round) == self.round {
                continue;
            }
            match self.nfa.state(state) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => self.waiting.push(state),
                State::Look { look, next } if holds(*look) => self.open.push(*next),
                State::Look { .. } | State::Fail => {}
                State::Union { alternates } => self.open.extend(alternates.iter().copied()),
                State::BinaryUnion { alt1, alt2 } => self.open.extend([*alt1, *alt2]),
                State::Capture { next, .. } => self.open.push(*next),
                State::Match { .. } => ends = true,
            }
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    fn found<'a>(pattern: &str, pieces: impl IntoIterator<Item = &'a str>) -> bool {
        let mut matching = Matching::new(&Pattern::parse(pattern).unwrap()).unwrap();
        for piece in pieces {
            matching.push(piece);
        }
        matching.finish()
    }

    /// Cuts a text between its characters.
    fn pieces<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(*cut)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect()
    }

    #[test]
    fn what_spans_pieces_is_found_and_anchors_mean_the_whole_text() {
        assert!(found(r"\d+ passed, 0 failed", ["12", "4 pas", "sed, 0 ", "failed"]));
        assert!(!found(r"^0 failed", ["124 passed, ", "0 failed"]), "a piece does not begin the text");
        assert!(!found(r"passed$", ["124 passed", ", 0 failed"]), "a piece does not end it");
        assert!(found(r"(?m)^0 failed$", ["124 passed\n", "0 failed", "\nbye"]));
        assert!(found(r"(?m)^0 failed$", ["124 passed\n", "0 failed"]));
        assert!(found("^$", [""; 0]));
    }

    #[test]
    fn word_boundaries_are_those_of_every_language() {
        assert!(found(r"\bcafé\b", ["un caf", "é!"]));
        assert!(!found(r"\bcafé\b", ["un caf", "é", "s"]));
        assert!(!found(r"\bcaf\b", ["un caf", "é"]));
        assert!(found(r"\bcaf\b", ["un caf"]));
    }

    #[test]
    fn a_pattern_that_is_too_large_says_so() {
        let pattern = Pattern::parse(r"(\pL{1000}){1000}").unwrap();
        let error = Matching::new(&pattern).unwrap_err();
        assert_eq!(error.to_string(), r"the pattern `(\pL{1000}){1000}` is too large to be looked for");
    }

    #[test]
    fn what_lies_in_the_middle_of_megabytes_is_found() {
        let line = "nothing to see here, and nothing there\n";
        let mut text = line.repeat(60_000);
        let middle = text.len() / 2;
        text.insert_str(middle, "ERROR 42 é");
        for (pattern, there) in [
            (r"ERROR \d+", true),
            (r"\bERROR \d+ é", true),
            (r"ERROR \d{3}", false),
            (r"\bERROR \d{3}\b", false),
        ] {
            assert_eq!(
                found(pattern, pieces(&text, &(0..40).map(|cut| cut * 65_536).collect::<Vec<_>>())),
                there,
                "{pattern}"
            );
        }
    }

    /// A pattern of everything that can be written, over a small alphabet so that it matches now and then.
    fn patterns() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "a",
            "b",
            "ä",
            "😀",
            r"\n",
            r"\r",
            " ",
            ".",
            "(?s:.)",
            "[^a]",
            r"\w",
            r"\W",
            r"\d",
            r"\s",
            "[a-zä]",
            r"\pL",
            "^",
            "$",
            r"\A",
            r"\z",
            r"\b",
            r"\B",
            "(?m:^)",
            "(?m:$)",
            "(?mR:^)",
            "(?mR:$)",
            r"(?-u:\b)",
            r"\b{start}",
            r"\b{end}",
            r"\b{start-half}",
            r"\b{end-half}",
            "(?i:A)",
            "(?i:Ä)",
            "",
        ])
        .prop_map(str::to_owned);
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
                proptest::collection::vec(inner.clone(), 2..4)
                    .prop_map(|parts| format!("(?:{})", parts.join("|"))),
                (inner.clone(), prop::sample::select(vec!["*", "+", "?", "*?", "{2}", "{1,3}"]))
                    .prop_map(|(part, times)| format!("(?:{part}){times}")),
                inner.prop_map(|part| format!("({part})")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(800))]

        #[test]
        fn any_pattern_in_any_pieces_answers_as_for_the_whole(
            pattern in patterns(),
            text in "[abAäÄ😀 \n\r1]{0,12}",
            cuts in proptest::collection::vec(0_usize..40, 0..6),
        ) {
            let whole = Regex::new(&pattern).unwrap().is_match(&text);
            prop_assert_eq!(found(&pattern, pieces(&text, &cuts)), whole);
            prop_assert_eq!(found(&pattern, [text.as_str()]), whole);
        }

        #[test]
        fn both_ways_to_look_agree(
            pattern in patterns().prop_filter("a table sees no words", |pattern| !pattern.contains(r"\b") && !pattern.contains(r"\B")),
            text in "[abAäÄ😀 \n\r1]{0,12}",
        ) {
            let nfa = NFA::compiler().configure(NFA::config().utf8(true).which_captures(WhichCaptures::None)).build(&pattern).unwrap();
            let mut walk = Walk::new(nfa);
            prop_assert_eq!(walk.push(&text) || walk.finish(), Regex::new(&pattern).unwrap().is_match(&text));
        }
    }
}
