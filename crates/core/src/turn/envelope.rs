//! What a call tree may use: tokens, money, time, turns, and how deep it may go.

use crate::model::{Cost, Usage};
use std::fmt;
use std::time::Duration;

/// What may be used. What is `None` is not limited here; whoever made the caller may have limited it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Envelope {
    /// Tokens, in both directions.
    pub tokens: Option<u64>,
    /// Money.
    pub cost: Option<Cost>,
    /// Time, counted from when it began or was taken up again.
    pub time: Option<Duration>,
    /// How often a model may answer.
    pub turns: Option<u32>,
    /// How many levels of children there may be.
    pub depth: u32,
}

/// What has been used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Of models.
    pub usage: Usage,
    /// Money.
    pub cost: Cost,
    /// How often a model answered.
    pub turns: u32,
}

impl Spent {
    /// Adds an answer.
    pub fn add(&mut self, usage: Usage, cost: Cost, turns: u32) {
        self.usage += usage;
        self.cost = self.cost.plus(cost);
        self.turns = self.turns.saturating_add(turns);
    }
}

/// What has run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// The tokens.
    Tokens {
        /// How many there were.
        limit: u64,
    },
    /// The money.
    Cost {
        /// How much there was.
        limit: Cost,
    },
    /// The time.
    Time,
    /// The turns.
    Turns {
        /// How many there were.
        limit: u32,
    },
    /// The levels.
    Depth {
        /// How many there were.
        limit: u32,
    },
}

impl fmt::Display for Exhausted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens { limit } => write!(out, "the budget of {limit} tokens is used up"),
            Self::Cost { limit } => write!(out, "the budget of {limit} is used up"),
            Self::Time => write!(out, "the time is over"),
            Self::Turns { limit: 1 } => write!(out, "there was 1 turn, and it ended without a final answer"),
            Self::Turns { limit } => {
                write!(out, "there were {limit} turns, and the last one ended without a final answer")
            }
            Self::Depth { limit } => {
                write!(out, "agents may call each other {limit} levels deep, and no deeper")
            }
        }
    }
}

impl Exhausted {
    /// Says it of a budget that several share, of whom nobody is in the middle of anything.
    pub fn used_up(&self) -> String {
        match self {
            Self::Turns { limit } => format!("the budget of {limit} turns is used up"),
            other => other.to_string(),
        }
    }
}

impl Envelope {
    /// Returns what has run out, if anything has.
    pub fn exhausted(&self, spent: &Spent, passed: Duration) -> Option<Exhausted> {
        let turns = self.turns.filter(|limit| spent.turns >= *limit);
        let tokens = self.tokens.filter(|limit| spent.usage.tokens() >= *limit);
        let cost = self.cost.filter(|limit| spent.cost >= *limit);
        let time = self.time.filter(|limit| passed >= *limit);
        time.map(|_| Exhausted::Time)
            .or(cost.map(|limit| Exhausted::Cost { limit }))
            .or(tokens.map(|limit| Exhausted::Tokens { limit }))
            .or(turns.map(|limit| Exhausted::Turns { limit }))
    }

    /// Returns the most tokens that an answer may still have.
    pub fn tokens_left(&self, spent: &Spent) -> Option<u64> {
        self.tokens.map(|limit| limit.saturating_sub(spent.usage.tokens()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_out_first_is_said() {
        let spent = Spent {
            usage: Usage { input_tokens: 90, output_tokens: 10, ..Usage::default() },
            cost: Cost(500),
            turns: 3,
        };
        let passed = Duration::from_secs(1);
        let open = Envelope { depth: 2, ..Envelope::default() };
        assert_eq!(open.exhausted(&spent, passed), None);
        for (envelope, exhausted) in [
            (Envelope { tokens: Some(101), ..open }, None),
            (Envelope { tokens: Some(100), ..open }, Some("the budget of 100 tokens is used up")),
            (Envelope { cost: Some(Cost(501)), ..open }, None),
            (Envelope { cost: Some(Cost(500)), ..open }, Some("the budget of $0.0000 is used up")),
            (Envelope { turns: Some(4), ..open }, None),
            (
                Envelope { turns: Some(3), ..open },
                Some("there were 3 turns, and the last one ended without a final answer"),
            ),
            (Envelope { time: Some(Duration::from_millis(1_001)), ..open }, None),
            (Envelope { time: Some(passed), tokens: Some(1), ..open }, Some("the time is over")),
        ] {
            let found = envelope.exhausted(&spent, passed).map(|what| what.to_string());
            assert_eq!(found.as_deref(), exhausted, "{envelope:?}");
        }
        assert_eq!(Envelope { tokens: Some(130), ..open }.tokens_left(&spent), Some(30));
    }
}
