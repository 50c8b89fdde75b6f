//! Whether a question to a model is asked again, and when.

use std::time::Duration;

/// What makes sense after an attempt that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Nothing: it would fail again.
    Never,
    /// Another attempt, after a while.
    Later,
    /// Another attempt, and the provider said after how long.
    After(Duration),
}

/// How long a question goes on being asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// How many attempts there are at most.
    pub attempts: u32,
    /// The wait after the first attempt; each further one is twice as long.
    pub first: Duration,
    /// The longest wait that is ours to choose.
    pub longest: Duration,
    /// The longest wait that a provider may ask for; if it asks for more, the attempt was the last.
    pub provider: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            attempts: 5,
            first: Duration::from_secs(1),
            longest: Duration::from_secs(30),
            provider: Duration::from_mins(2),
        }
    }
}

impl Patience {
    /// Returns how long to wait before the next attempt, or nothing if the last one was the last.
    ///
    /// `made` attempts have been made. `seed` is anything that others who wait for the same provider do not have: a wait
    /// of ours is between a half and the whole of its length, by a number that follows from the seed, so that they do
    /// not all come back at once. A provider's own wait is never made shorter.
    pub fn wait(&self, retry: Retry, made: u32, seed: &str) -> Option<Duration> {
        if made >= self.attempts {
            return None;
        }
        let chance = chance(seed, made);
        match retry {
            Retry::Never => None,
            Retry::After(wait) => (wait <= self.provider).then(|| wait + scaled(self.first, chance)),
            Retry::Later => {
                let doubled = 1_u32.checked_shl(made.saturating_sub(1)).unwrap_or(u32::MAX);
                let whole = self.first.saturating_mul(doubled).min(self.longest);
                Some(whole / 2 + scaled(whole / 2, chance))
            }
        }
    }
}

/// Returns a part of a time: `chance` of 65,535.
fn scaled(time: Duration, chance: u16) -> Duration {
    time.saturating_mul(u32::from(chance)) / u32::from(u16::MAX)
}

/// Returns a number that looks random and follows from its arguments (FNV-1a, folded).
fn chance(seed: &str, made: u32) -> u16 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in seed.bytes().chain(made.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let pairs = hash.to_le_bytes();
    let pairs = pairs.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
    pairs.fold(0, |folded, pair| folded ^ pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn waits_double_up_to_the_longest_and_then_it_is_over() {
        let patience = Patience { attempts: 8, ..Patience::default() };
        for (made, whole) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 30), (7, 30)] {
            let wait = patience.wait(Retry::Later, made, "session/1").unwrap();
            assert!(wait >= SECOND * whole / 2 && wait <= SECOND * whole, "{made}: {wait:?}");
        }
        assert_eq!(patience.wait(Retry::Later, 8, "session/1"), None);
        assert_eq!(patience.wait(Retry::Never, 1, "session/1"), None);
    }

    #[test]
    fn a_provider_is_not_asked_before_it_said_and_not_waited_for_without_end() {
        let patience = Patience::default();
        let wait = patience.wait(Retry::After(SECOND * 7), 1, "a").unwrap();
        assert!(wait >= SECOND * 7 && wait <= SECOND * 8, "{wait:?}");
        assert_eq!(patience.wait(Retry::After(SECOND * 121), 1, "a"), None);
    }

    #[test]
    fn many_who_wait_come_back_at_different_times() {
        let patience = Patience::default();
        let waits: std::collections::BTreeSet<u128> = (0..1000)
            .map(|number| patience.wait(Retry::Later, 3, &format!("s{number}")).unwrap().as_millis() / 100)
            .collect();
        assert!(waits.len() >= 19, "all tenths between two and four seconds: {waits:?}");
        assert_eq!(
            patience.wait(Retry::Later, 1, "s"),
            patience.wait(Retry::Later, 1, "s"),
            "the same seed waits alike, so that a run can be replayed"
        );
    }
}
