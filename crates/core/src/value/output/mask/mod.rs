//! Secrets in what a process writes, replaced wherever a piece ends and however they are written.
//!
//! Start at [`Masker::push`]. What counts as a way to write a secret is in `encodings.rs`.

mod encodings;

use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

/// What stands in the place of a secret.
pub const MASK: &str = "•••";

/// The shortest secret that can be told from ordinary text.
const SHORTEST: usize = 4;

/// A value that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

/// A secret is too short to be masked: masking it would mask ordinary text too, and so tell what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret of {length} bytes is too short to be masked; it needs at least {SHORTEST}")]
pub struct TooShort {
    /// How many bytes it has, without the space around it.
    pub length: usize,
}

impl Secret {
    /// Takes a value as a secret, without the white space around it: a file that holds one often ends in a line end.
    pub fn new(value: impl AsRef<[u8]>) -> Result<Self, TooShort> {
        let value = value.as_ref().trim_ascii();
        if value.len() < SHORTEST {
            return Err(TooShort { length: value.len() });
        }
        Ok(Self(value.to_vec()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(MASK)
    }
}

/// Replaces secrets in bytes that come in pieces.
///
/// Occurrences that share bytes become one [`MASK`]. Only what may be the start of a secret is held back, so text
/// without one is passed on at once. The result does not depend on how the bytes were cut. A clone is cheap and shares
/// what was made of the secrets; each stream needs one of its own.
#[derive(Clone)]
pub struct Masker {
    search: Option<Arc<Search>>,
    /// What may be the start of a secret.
    held: Vec<u8>,
    /// How much of `held` belongs to a secret for which the mask is already written.
    covered: usize,
}

struct Search {
    automaton: AhoCorasick,
    /// In order, so that those with a given start are together.
    patterns: Vec<Vec<u8>>,
    longest: usize,
    /// Which bytes start a pattern.
    starts: [bool; 256],
}

impl Masker {
    /// Makes one that knows these secrets and the usual ways to write them: base64 (both alphabets, at any position
    /// within other data), hexadecimal, percent encoding, JSON strings, and the quoting of shells. A secret of several
    /// lines is also known by each of them that has at least eight bytes.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut patterns: Vec<Vec<u8>> =
            secrets.into_iter().flat_map(|secret| encodings::of(&secret.0)).collect();
        patterns.sort_unstable();
        patterns.dedup();
        Self { search: Search::new(patterns).map(Arc::new), held: Vec::new(), covered: 0 }
    }

    /// Takes over what another one knows, for what comes from now on. It must know all that this one does.
    pub fn learn(&mut self, other: &Self) {
        self.search.clone_from(&other.search);
    }

    /// Adds the next piece without its secrets, up to where one may have begun.
    pub fn push(&mut self, bytes: &[u8], masked: &mut Vec<u8>) {
        let Some(search) = &self.search else { return masked.extend_from_slice(bytes) };
        self.held.extend_from_slice(bytes);
        let settled = search.first_possible_start(&self.held);
        self.settle(settled, masked);
    }

    /// Adds what was held back, when nothing more comes.
    pub fn finish(&mut self, masked: &mut Vec<u8>) {
        self.settle(self.held.len(), masked);
    }

    /// Writes what is held before `settled`: every secret that starts there has ended, and none is still to be seen.
    fn settle(&mut self, settled: usize, masked: &mut Vec<u8>) {
        let mut covered = self.covered;
        if let Some(search) = &self.search {
            let mut from = 0;
            while let Some((start, end)) = search.occurrence(&self.held, from).filter(|at| at.0 < settled) {
                if start >= covered {
                    masked.extend_from_slice(&self.held[covered..start]);
                    masked.extend_from_slice(MASK.as_bytes());
                }
                covered = covered.max(end);
                from = start + 1;
            }
        }
        if covered < settled {
            masked.extend_from_slice(&self.held[covered..settled]);
        }
        self.covered = covered.saturating_sub(settled);
        self.held.drain(..settled);
    }
}

impl Search {
    fn new(patterns: Vec<Vec<u8>>) -> Option<Self> {
        let longest = patterns.iter().map(Vec::len).max()?;
        let mut starts = [false; 256];
        for pattern in &patterns {
            starts[usize::from(pattern[0])] = true;
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // A key of some kilobytes has a hundred kilobytes of patterns: any table of states would be too large.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&patterns)
            .expect("secrets are far shorter than what an automaton can hold");
        Some(Self { automaton, patterns, longest, starts })
    }

    /// Returns the first occurrence that starts at or after a place, and the longest of those.
    fn occurrence(&self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = self.automaton.find(Input::new(bytes).range(from.min(bytes.len())..))?;
        Some((found.start(), found.end()))
    }

    /// Returns the first place from which all bytes are the start of a pattern and not all of it.
    fn first_possible_start(&self, bytes: &[u8]) -> usize {
        let last = bytes.len().saturating_sub(self.longest - 1);
        (last..bytes.len())
            .find(|&place| {
                self.starts[usize::from(bytes[place])] && {
                    let begun = &bytes[place..];
                    let after = self.patterns.partition_point(|pattern| pattern.as_slice() <= begun);
                    self.patterns.get(after).is_some_and(|pattern| pattern.starts_with(begun))
                }
            })
            .unwrap_or(bytes.len())
    }
}

impl std::fmt::Debug for Masker {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Masker")
    }
}

#[cfg(test)]
mod tests;
