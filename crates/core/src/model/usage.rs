//! How much of a model was used, and what that costs.

use std::fmt;
use std::ops::{Add, AddAssign};

/// How much of a model was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens that went in, those of the cache included.
    pub input_tokens: u64,
    /// Tokens that came out.
    pub output_tokens: u64,
    /// Tokens of those that went in that the provider had in its cache.
    pub cache_read_tokens: u64,
    /// Tokens of those that went in that the provider put into its cache.
    pub cache_write_tokens: u64,
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Usage {
    /// Returns the tokens of both directions.
    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// An amount of money, in billionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cost(pub u64);

impl Cost {
    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Writes dollars, with four places: most answers cost less than a cent.
impl fmt::Display for Cost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounded = self.0.saturating_add(50_000) / 100_000;
        write!(out, "${}.{:04}", rounded / 10_000, rounded % 10_000)
    }
}

impl Cost {
    /// Returns the amount in dollars, for what is written down.
    #[expect(clippy::cast_precision_loss, reason = "an amount that people write has few digits")]
    pub fn in_dollars(self) -> f64 {
        self.0 as f64 / 1_000_000_000.0
    }

    /// Converts dollars; nothing for what is no amount, or too much of one.
    pub fn dollars(dollars: f64) -> Option<Self> {
        let fits = (0.0..=1_000_000_000.0).contains(&dollars);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 10^18, and not negative"
        )]
        fits.then(|| Self((dollars * 1_000_000_000.0).round() as u64))
    }
}

/// What a model costs, each for one token, in billionths of a dollar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    /// What goes in.
    pub input: u64,
    /// What comes out.
    pub output: u64,
    /// What goes in and was in the cache.
    pub cache_read: u64,
    /// What goes in and is put into the cache.
    pub cache_write: u64,
}

impl Price {
    /// The highest price of a million tokens that makes sense, in dollars.
    pub const HIGHEST: f64 = 1_000_000.0;

    /// Converts dollars for a million tokens, which is how providers write prices.
    pub fn per_token(dollars_per_million: f64) -> Option<u64> {
        let fits = (0.0..=Self::HIGHEST).contains(&dollars_per_million);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 10^9, and not negative"
        )]
        fits.then(|| (dollars_per_million * 1_000.0).round() as u64)
    }

    /// Returns what a usage costs.
    pub fn cost(self, usage: Usage) -> Cost {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let parts = [
            (self.input, usage.input_tokens.saturating_sub(cached)),
            (self.output, usage.output_tokens),
            (self.cache_read, usage.cache_read_tokens),
            (self.cache_write, usage.cache_write_tokens),
        ];
        let sum = parts
            .iter()
            .fold(0_u64, |sum, (price, tokens)| sum.saturating_add(price.saturating_mul(*tokens)));
        Cost(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_costs_what_its_parts_cost() {
        let per = |dollars| Price::per_token(dollars).unwrap();
        let price =
            Price { input: per(3.0), output: per(15.0), cache_read: per(0.3), cache_write: per(3.75) };
        let usage = Usage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            cache_read_tokens: 500_000,
            cache_write_tokens: 100_000,
        };
        // 400,000 at 3, 100,000 at 15, 500,000 at 0.3, 100,000 at 3.75
        assert_eq!(price.cost(usage), Cost(3_225_000_000));
        assert_eq!(price.cost(usage).to_string(), "$3.2250");
        assert_eq!(price.cost(usage + usage), price.cost(usage).plus(price.cost(usage)));
    }

    #[test]
    fn nothing_overflows_and_no_price_is_negative() {
        let most = Usage {
            input_tokens: u64::MAX,
            output_tokens: u64::MAX,
            cache_read_tokens: 1,
            cache_write_tokens: u64::MAX,
        };
        assert_eq!((most + most).tokens(), u64::MAX);
        let price = Price { input: u64::MAX, output: 2, cache_read: 1, cache_write: 1 };
        assert_eq!(price.cost(most), Cost(u64::MAX));
        for bad in [-1.0, f64::NAN, f64::INFINITY, 2_000_000.0] {
            assert_eq!(Price::per_token(bad), None, "{bad}");
        }
        assert_eq!(Cost(0).to_string(), "$0.0000");
        assert_eq!(Cost(49_999).to_string(), "$0.0000");
        assert_eq!(Cost(50_000).to_string(), "$0.0001");
    }
}
