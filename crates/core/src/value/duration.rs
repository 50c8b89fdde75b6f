//! Durations as people write them: `500ms`, `30s`, `5m`, `1h30m`, `2d`, and nothing ambiguous.

use crate::diagnostic::excerpt;
use std::fmt;
use std::time::Duration as Time;

/// A length of time that was written with units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(Time);

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDuration {
    /// A number stands without a unit, so that it could mean anything.
    #[error("`{0}` has no unit")]
    NoUnit(String),
    /// A unit that is not `ms`, `s`, `m`, `h` or `d`.
    #[error("`{0}` is not a unit of time")]
    UnknownUnit(String),
    /// Units must go from large to small, each at most once.
    #[error("`{0}` does not go from large units to small ones")]
    Order(String),
    /// Not of the form number, unit, number, unit…
    #[error("`{0}` is not a duration")]
    Form(String),
    /// Longer than a hundred years.
    #[error("`{0}` is longer than abide can count")]
    TooLong(String),
}

const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
const LONGEST_MILLIS: u64 = 100 * 365 * 86_400_000;

impl Duration {
    /// Reads a duration; the units are `d`, `h`, `m`, `s`, `ms`, large ones first.
    pub fn parse(text: &str) -> Result<Self, BadDuration> {
        let shown = || excerpt(text).into_owned();
        let mut rest = text;
        let mut total: u64 = 0;
        let mut next_unit = 0;
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 {
                return Err(BadDuration::Form(shown()));
            }
            let (number, tail) = rest.split_at(digits);
            let letters = tail.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (unit, tail) = tail.split_at(letters);
            if unit.is_empty() {
                return Err(if tail.is_empty() {
                    BadDuration::NoUnit(shown())
                } else {
                    BadDuration::Form(shown())
                });
            }
            let Some(position) = UNITS.iter().position(|(name, _)| *name == unit) else {
                return Err(BadDuration::UnknownUnit(excerpt(unit).into_owned()));
            };
            if position < next_unit {
                return Err(BadDuration::Order(shown()));
            }
            next_unit = position + 1;
            let amount: u64 = number.parse().map_err(|_| BadDuration::TooLong(shown()))?;
            total = amount
                .checked_mul(UNITS[position].1)
                .and_then(|millis| total.checked_add(millis))
                .filter(|total| *total <= LONGEST_MILLIS)
                .ok_or_else(|| BadDuration::TooLong(shown()))?;
            rest = tail;
        }
        if text.is_empty() { Err(BadDuration::Form(shown())) } else { Ok(Self(Time::from_millis(total))) }
    }

    /// Builds a duration from milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(Time::from_millis(millis))
    }

    /// Returns the length as the standard library's type.
    pub const fn time(self) -> Time {
        self.0
    }
}

/// Writes the shortest text that reads back as the same duration.
impl fmt::Display for Duration {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut millis = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        if millis == 0 {
            return out.write_str("0s");
        }
        for (unit, size) in UNITS {
            if millis >= size {
                write!(out, "{}{unit}", millis / size)?;
                millis %= size;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_and_print() {
        for (text, millis) in [
            ("500ms", 500),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("2d", 172_800_000),
            ("0s", 0),
            ("1d2h3m4s5ms", 93_784_005),
        ] {
            let duration = Duration::parse(text).unwrap();
            assert_eq!(duration, Duration::from_millis(millis), "{text}");
            assert_eq!(duration.to_string(), text);
        }
        assert_eq!(Duration::parse("90m").unwrap().to_string(), "1h30m");
    }

    #[test]
    fn ambiguous_durations_are_refused() {
        for (text, why) in [
            ("5", "`5` has no unit"),
            ("1h30", "`1h30` has no unit"),
            ("5M", "`M` is not a unit of time"),
            ("5 m", "`5 m` is not a duration"),
            ("1.5h", "`1.5h` is not a duration"),
            ("30s1m", "`30s1m` does not go from large units to small ones"),
            ("1m1m", "`1m1m` does not go from large units to small ones"),
            ("", "`` is not a duration"),
            ("-5m", "`-5m` is not a duration"),
            ("99999999999999999999d", "`99999999999999999999d` is longer than abide can count"),
            ("40000d", "`40000d` is longer than abide can count"),
        ] {
            assert_eq!(Duration::parse(text).unwrap_err().to_string(), why);
        }
    }
}
