//! Which traces are told of, as `OTEL_TRACES_SAMPLER` says.

use abide_engine::trace::Place;

/// Decides about a trace by its id alone, so that all of it is told of or nothing, whoever asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// Whether a caller who has decided is followed.
    parent_based: bool,
    /// How many of 2^56 traces are told of.
    threshold: u64,
}

/// All of them.
const ALL: u64 = 1 << 56;

impl Default for Sampler {
    fn default() -> Self {
        Self { parent_based: true, threshold: ALL }
    }
}

impl Sampler {
    /// Reads the names of the standard, with the argument of those that take one; nothing if there is no such sampler.
    pub fn parse(name: &str, argument: Option<&str>) -> Option<Self> {
        let (parent_based, root) = match name.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (false, name),
        };
        let threshold = match root {
            "always_on" => ALL,
            "always_off" => 0,
            "traceidratio" => {
                let ratio: f64 = argument.map_or(Some(1.0), |text| text.trim().parse().ok())?;
                if !(0.0..=1.0).contains(&ratio) {
                    return None;
                }
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    clippy::cast_precision_loss,
                    reason = "a part of 2^56, and the last digits of a ratio do not matter"
                )]
                let threshold = (ratio * ALL as f64) as u64;
                threshold
            }
            _ => return None,
        };
        Some(Self { parent_based, threshold })
    }

    /// Returns whether a trace is told of.
    pub fn keeps(self, place: Place) -> bool {
        match place.sampled.filter(|_| self.parent_based) {
            Some(sampled) => sampled,
            None => place.trace.randomness() < self.threshold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::event::TraceParent;

    fn place(sampled: Option<bool>) -> Place {
        let trace = 0x0193_a5f0_1111_7222_8380_0000_0000_0000;
        Place::of(
            "0193a5f0-1111-7222-8380-000000000000",
            sampled.map(|sampled| TraceParent { trace, span: 1, sampled }),
        )
    }

    #[test]
    fn a_caller_who_has_decided_is_followed_and_a_ratio_decides_by_the_id() {
        let keeps = |name, argument, sampled| Sampler::parse(name, argument).unwrap().keeps(place(sampled));
        assert!(keeps("always_on", None, Some(false)));
        assert!(!keeps("always_off", None, Some(true)));
        assert!(keeps("parentbased_always_off", None, Some(true)));
        assert!(!keeps("parentbased_always_on", None, Some(false)));
        assert!(keeps("parentbased_always_on", None, None));
        // The last 56 bits of the id are a half of all that they could be.
        assert!(keeps("traceidratio", Some("0.51"), None));
        assert!(!keeps("traceidratio", Some("0.5"), None));
        assert!(keeps("parentbased_traceidratio", Some("0"), Some(true)));
        for (name, argument) in
            [("sometimes", None), ("traceidratio", Some("2")), ("traceidratio", Some("NaN"))]
        {
            assert_eq!(Sampler::parse(name, argument), None, "{name} {argument:?}");
        }
    }
}
