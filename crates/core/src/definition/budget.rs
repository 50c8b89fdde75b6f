//! What an agent may use at most, as people write it down.

use crate::model::Cost;
use crate::turn::{Envelope, Exhausted, Spent};
use crate::value::Duration;

/// Limits for one turn of an agent and everybody that it calls; what is not set has a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// How often its model may answer.
    pub turns: Option<u32>,
    /// Tokens, in both directions.
    pub tokens: Option<u64>,
    /// Money, where the prices of the model are configured.
    pub cost: Option<Cost>,
    /// Time.
    pub time: Option<Duration>,
    /// How many levels of agents there may be below it.
    pub depth: Option<u32>,
}

impl Budget {
    /// The most turns that can be set.
    pub const MOST_TURNS: u32 = 100_000;
    /// The most tokens that can be set.
    pub const MOST_TOKENS: i64 = 1_000_000_000_000;
    /// The most money that can be set, in dollars.
    pub const MOST_COST: f64 = 1_000_000.0;
    /// The most levels that can be set.
    pub const MOST_DEPTH: u32 = 16;

    const TURNS: u32 = 200;
    const TOKENS: u64 = 20_000_000;
    const TIME: std::time::Duration = std::time::Duration::from_hours(4);
    const DEPTH: u32 = 4;

    /// Returns both limits as one: of two, the smaller holds, so that nobody gets more by being limited twice.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }
        }
        Self {
            turns: least(self.turns, other.turns),
            tokens: least(self.tokens, other.tokens),
            cost: least(self.cost, other.cost),
            time: least(self.time, other.time),
            depth: least(self.depth, other.depth),
        }
    }

    /// Returns what is left of it once something was used, or what has run out.
    pub fn left(self, spent: &Spent) -> Result<Self, Exhausted> {
        let envelope =
            Envelope { turns: self.turns, tokens: self.tokens, cost: self.cost, ..Envelope::default() };
        if let Some(exhausted) = envelope.exhausted(spent, std::time::Duration::ZERO) {
            return Err(exhausted);
        }
        Ok(Self {
            turns: self.turns.map(|turns| turns.saturating_sub(spent.turns)),
            tokens: envelope.tokens_left(spent),
            cost: self.cost.map(|cost| Cost(cost.0.saturating_sub(spent.cost.0))),
            ..self
        })
    }

    /// Returns what a turn may use; what nobody limits is enough for long work, and an end to what runs wild.
    pub fn envelope(self) -> Envelope {
        Envelope {
            turns: Some(self.turns.unwrap_or(Self::TURNS)),
            tokens: Some(self.tokens.unwrap_or(Self::TOKENS)),
            cost: self.cost,
            time: Some(self.time.map_or(Self::TIME, Duration::time)),
            depth: self.depth.unwrap_or(Self::DEPTH),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_limits_the_smaller_holds_and_what_nobody_sets_has_a_default() {
        let user = Budget { turns: Some(50), cost: Some(Cost(7)), ..Budget::default() };
        let project = Budget { turns: Some(900), tokens: Some(1_000), depth: Some(0), ..Budget::default() };
        let both =
            Budget { turns: Some(50), tokens: Some(1_000), cost: Some(Cost(7)), time: None, depth: Some(0) };
        assert_eq!(user.and(project), both);
        assert_eq!(project.and(user), both, "whoever says it first");
        let envelope = both.envelope();
        assert_eq!((envelope.turns, envelope.tokens, envelope.cost), (Some(50), Some(1_000), Some(Cost(7))));
        assert_eq!((envelope.time, envelope.depth), (Some(Budget::TIME), 0));
        let spent = Spent { turns: 20, cost: Cost(5), ..Spent::default() };
        let left = Budget { turns: Some(30), cost: Some(Cost(2)), ..both };
        assert_eq!(both.left(&spent), Ok(left), "what is left is as much as was not used");
        assert_eq!(left.left(&spent), Err(Exhausted::Cost { limit: Cost(2) }));
        let nothing = Budget::default().envelope();
        assert_eq!((nothing.turns, nothing.cost, nothing.depth), (Some(200), None, 4));
    }
}
