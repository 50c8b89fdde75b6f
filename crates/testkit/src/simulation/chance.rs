//! Randomness that a seed repeats: `splitmix64`.

use std::ops::Range;

/// A sequence of numbers that is the same for the same seed.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// Begins the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        let mut chance = Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(0x1234_5678));
        chance.number();
        chance
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number of a range that is not empty.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.number() % (range.end - range.start)
    }

    /// Returns a position in something that has so many places; 0 when it has none.
    pub fn position(&mut self, places: usize) -> usize {
        usize::try_from(self.number() % (places.max(1) as u64)).unwrap_or(0)
    }

    /// Returns true in so many of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.number() % 100 < percent
    }

    /// Returns one of several.
    ///
    /// # Panics
    /// Without any.
    pub fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.position(of.len())].clone()
    }
}
