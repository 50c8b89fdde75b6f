//! A set of positions, small enough to be copied with every look at a run.

/// Positions from zero on, one bit each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places {
    words: Vec<u64>,
    /// Before this word there is nothing.
    from: usize,
    count: usize,
}

impl Places {
    /// Returns all positions before a number.
    pub(super) fn before(number: usize) -> Self {
        (0..number).collect()
    }

    pub(super) fn insert(&mut self, place: usize) {
        let word = place / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let bit = 1 << (place % 64);
        if self.words[word] & bit == 0 {
            self.words[word] |= bit;
            self.count += 1;
            self.from = if self.count == 1 { word } else { self.from.min(word) };
        }
    }

    pub(super) fn remove(&mut self, place: usize) {
        let bit = 1 << (place % 64);
        let Some(word) = self.words.get_mut(place / 64).filter(|word| **word & bit != 0) else { return };
        *word &= !bit;
        self.count -= 1;
        while self.words.get(self.from) == Some(&0) {
            self.from += 1;
        }
    }

    pub(super) fn first(&self) -> Option<usize> {
        let word = self.words.get(self.from).filter(|_| self.count > 0)?;
        Some(self.from * 64 + word.trailing_zeros() as usize)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl FromIterator<usize> for Places {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        let mut set = Self::default();
        places.into_iter().for_each(|place| set.insert(place));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set(changes in proptest::collection::vec((0_usize..300, any::<bool>()), 0..200)) {
            let (mut places, mut set) = (Places::default(), BTreeSet::new());
            for (place, insert) in changes {
                if insert {
                    places.insert(place);
                    set.insert(place);
                } else {
                    places.remove(place);
                    set.remove(&place);
                }
                prop_assert_eq!(places.first(), set.first().copied());
                prop_assert_eq!(places.is_empty(), set.is_empty());
            }
        }
    }
}
